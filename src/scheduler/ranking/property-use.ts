import type { Cluster } from '../cluster/cluster.js';
import { resolveTarget } from '../feasibility/constraint-operators.js';

/** How many allocations of a job, or of one of its groups, run on nodes with each value of an attribute. */
export class PropertyUse {
  readonly attribute: string;
  /** Undefined: allocations of all groups count. */
  readonly group: string | undefined;
  readonly #cluster: Cluster;
  readonly #values: (string | null | undefined)[] = [];
  readonly #counts = new Map<string, number>();
  #extremes: { readonly least: number; readonly most: number } | undefined;

  constructor(cluster: Cluster, attribute: string, group: string | undefined) {
    this.#cluster = cluster;
    this.attribute = attribute;
    this.group = group;
  }

  /** Undefined when the node lacks the attribute. */
  valueAt(slot: number): string | undefined {
    let value = this.#values[slot];
    if (value === undefined) {
      value = this.#resolve(slot);
      this.#values[slot] = value;
    }
    return value ?? undefined;
  }

  countOf(value: string): number {
    return this.#counts.get(value) ?? 0;
  }

  /** The values with at least one allocation, with their counts. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** The smallest and the greatest of these counts; both 0 when there are none. */
  get extremes(): { readonly least: number; readonly most: number } {
    this.#extremes ??= extremesOf(this.#counts.values());
    return this.#extremes;
  }

  change(slot: number, group: string, by: 1 | -1): void {
    const value = this.group === undefined || this.group === group ? this.valueAt(slot) : undefined;
    if (value === undefined) return;
    const count = this.countOf(value) + by;
    if (count > 0) this.#counts.set(value, count);
    else this.#counts.delete(value);
    this.#extremes = undefined;
  }

  #resolve(slot: number): string | null {
    const node = this.#cluster.nodeStates[slot]?.node;
    if (node === undefined) return null;
    const { found, value } = resolveTarget(this.attribute, node);
    return found ? value : null;
  }
}

function extremesOf(counts: Iterable<number>): { readonly least: number; readonly most: number } {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const count of counts) {
    least = Math.min(least, count);
    most = Math.max(most, count);
  }
  return most === 0 ? { least: 0, most: 0 } : { least, most };
}
