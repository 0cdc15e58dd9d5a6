import type { Job } from '../../jobs/document/job.js';
import type { Constraint } from '../../jobs/document/placement.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { NodeState } from '../cluster/node-book.js';
import type { NodeClass } from '../cluster/node-class.js';
import { constraintReason, groupReason, volumeReason } from './node-checks.js';
import type { GroupRequirements } from './requirements.js';

/** The string under which further nodes of a class are counted once the class is known to be infeasible. */
export const knownClassReason = 'computed class ineligible';

/** Why a node can never take a group. */
interface Unsuitable {
  /** What it is counted under: once a class is known not to suit, its further nodes are counted as such. */
  readonly reason: string;
  /** The rule that the node, or the first of its class, does not meet. */
  readonly rule: string;
  /** The verdict holds for every node of the class. */
  readonly ofClass: boolean;
}

/** What evaluations record about the classes of nodes, so that it can be decided whether a change of a node helps them. */
export interface ClassVerdicts {
  /** A rule names a property that is unique to each node, so no verdict holds for a whole class. */
  readonly escaped: boolean;
  readonly eligibility: Readonly<Record<string, boolean>>;
}

/** `null`: the class suits. */
type Verdicts = Map<NodeClass, string | null>;

/**
 * Which nodes suit a job's groups, checked once for each class of node within an evaluation. Rules that name what is unique to a node,
 * and volumes, are checked node by node.
 */
export class Feasibility {
  readonly #ofJob: Verdicts = new Map();
  readonly #ofGroups = new Map<string, Verdicts>();
  readonly #jobEscapes: boolean;
  readonly #escapingGroups: ReadonlySet<string>;

  constructor(job: Job) {
    this.#jobEscapes = (job.Constraints ?? []).some(isUniqueToNode);
    this.#escapingGroups = new Set(job.TaskGroups.filter(groupEscapes).map((group) => group.Name));
  }

  /** Why the node can never take the group; undefined when it can. `index` is that of the allocation. */
  judge(wanted: GroupRequirements, book: Pick<NodeState, 'node' | 'nodeClass'>, index: number): Unsuitable | undefined {
    const { node, nodeClass } = book;
    const job = this.#cached(this.#jobEscapes ? undefined : this.#ofJob, nodeClass, () =>
      constraintReason(wanted.jobConstraints, node),
    );
    if (job !== undefined) return job;
    const group = this.#cached(this.#verdictsOf(wanted.group.Name), nodeClass, () => groupReason(wanted, node));
    if (group !== undefined) return group;
    const volume = volumeReason(wanted.volumes, node, index);
    return volume === undefined ? undefined : { reason: volume, rule: volume, ofClass: false };
  }

  /** By computed class: whether some group of those that were checked could run there. */
  get classes(): ClassVerdicts {
    const eligibility = new Map<string, boolean>();
    for (const verdicts of this.#ofGroups.values()) {
      for (const [{ computed }, reason] of verdicts) {
        eligibility.set(computed, reason === null || eligibility.get(computed) === true);
      }
    }
    const unsuited = new Set<string>();
    for (const [{ computed }, reason] of this.#ofJob) {
      if (reason !== null) unsuited.add(computed);
      else if (!eligibility.has(computed)) eligibility.set(computed, true);
    }
    for (const computed of unsuited) eligibility.set(computed, false);
    return { escaped: this.#jobEscapes || this.#escapingGroups.size > 0, eligibility: Object.fromEntries(eligibility) };
  }

  #verdictsOf(group: string): Verdicts | undefined {
    if (this.#escapingGroups.has(group)) return undefined;
    let verdicts = this.#ofGroups.get(group);
    if (verdicts === undefined) {
      verdicts = new Map();
      this.#ofGroups.set(group, verdicts);
    }
    return verdicts;
  }

  /** The verdict of the class, checked on its first node; without `verdicts` the node's own. */
  #cached(
    verdicts: Verdicts | undefined,
    nodeClass: NodeClass,
    judge: () => string | undefined,
  ): Unsuitable | undefined {
    if (verdicts === undefined) {
      const reason = judge();
      return reason === undefined ? undefined : { reason, rule: reason, ofClass: false };
    }
    const known = verdicts.get(nodeClass);
    if (known !== undefined)
      return known === null ? undefined : { reason: knownClassReason, rule: known, ofClass: true };
    const reason = judge();
    verdicts.set(nodeClass, reason ?? null);
    return reason === undefined ? undefined : { reason, rule: reason, ofClass: true };
  }
}

const uniqueTargets = ['${unique.', '${node.unique.', '${attr.unique.', '${meta.unique.'];

function isUniqueToNode({ LTarget, RTarget }: Constraint): boolean {
  return uniqueTargets.some((prefix) => LTarget.startsWith(prefix) || RTarget.startsWith(prefix));
}

function groupEscapes(group: TaskGroup): boolean {
  return [...(group.Constraints ?? []), ...group.Tasks.flatMap((task) => task.Constraints ?? [])].some(isUniqueToNode);
}
