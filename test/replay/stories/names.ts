import type { Allocation } from '../../../src/scheduler/allocation.js';
import { computedClassOf } from '../../../src/scheduler/cluster/node-class.js';
import type { Deployment } from '../../../src/scheduler/deployment/deployment.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import type { Node } from '../../../src/scheduler/node.js';

/** The names that a story gives to records, both ways. */
export class StoryNames {
  readonly #idOf = new Map<string, string>();
  readonly #nameOf = new Map<string, string>();
  readonly #made = new Map<string, number>();

  nameOf(id: string): string {
    return this.#nameOf.get(id) ?? id;
  }

  idOf(name: string): string {
    return this.#idOf.get(name) ?? name;
  }

  /** Service and batch: `job.group[i]#k`; the others `job.group[i]@node#k`. */
  nameAllocations(allocations: readonly Allocation[]): void {
    for (const allocation of allocations) {
      if (this.#nameOf.has(allocation.ID)) continue;
      const perNode = allocation.JobType === 'system' || allocation.JobType === 'sysbatch';
      const base = perNode ? `${allocation.Name}@${allocation.NodeName}` : allocation.Name;
      this.#give(allocation.ID, `${base}#${this.#next(base)}`);
    }
  }

  /** Several of one step are ordered by status, trigger, waiting time, node and description. */
  nameEvaluations(evaluations: readonly Evaluation[], prefix: string, words: (text: string) => string): void {
    const key = (evaluation: Evaluation): string =>
      [
        evaluation.Status,
        evaluation.TriggeredBy,
        evaluation.WaitUntil ?? '',
        evaluation.NodeID ?? '',
        words(evaluation.StatusDescription ?? ''),
      ].join('\u0000');
    const sorted = [...evaluations].sort((left, right) => (key(left) < key(right) ? -1 : 1));
    for (const { ID } of sorted) this.#give(ID, `${prefix}${this.#next(prefix)}`);
  }

  nameDeployment({ ID }: Deployment, name?: string): void {
    if (!this.#nameOf.has(ID)) this.#give(ID, name ?? `D${this.#next('D')}`);
  }

  /** What was named in a dry run is forgotten, so that its names are free again. */
  forget(ids: Iterable<string>): void {
    for (const id of ids) {
      const name = this.#nameOf.get(id);
      if (name === undefined) continue;
      this.#nameOf.delete(id);
      this.#idOf.delete(name);
      const base = name.replace(/#\d+$/, '');
      if (base !== name) this.#made.set(base, (this.#made.get(base) ?? 1) - 1);
    }
  }

  #next(base: string): number {
    const next = (this.#made.get(base) ?? 0) + 1;
    this.#made.set(base, next);
    return next;
  }

  #give(id: string, name: string): void {
    this.#nameOf.set(id, name);
    this.#idOf.set(name, id);
  }
}

/** Classes of nodes as stories write them: the names of the nodes of the class. */
export function classNames(nodes: Iterable<Node>): ReadonlyMap<string, string> {
  const byClass = new Map<string, string[]>();
  for (const node of nodes) {
    const computed = computedClassOf(node);
    byClass.set(computed, [...(byClass.get(computed) ?? []), node.Name]);
  }
  return new Map([...byClass].map(([computed, names]) => [computed, names.sort().join(',')]));
}
