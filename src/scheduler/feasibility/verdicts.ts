import type { Job } from '../../jobs/document/job.js';
import type { Constraint } from '../../jobs/document/placement.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { NodeState } from '../cluster/cluster.js';
import type { NodeClass } from '../cluster/node-class.js';
import { constraintReason, groupReason, volumeReason } from './node-checks.js';
import type { GroupRequirements } from './requirements.js';

/** The name under which further nodes of a class are counted once the class is known to be infeasible. */
export const knownClassReason = 'computed class ineligible';

/** Why a node can never take a group. */
interface Unsuitable {
  /** The name that it is counted under: further nodes of an infeasible class share one name. */
  readonly reason: string;
  /** The rule that the node, or the first node of its class, fails. */
  readonly rule: string;
  /** Whether the verdict holds for every node of the class. */
  readonly ofClass: boolean;
}

/** Class verdicts that evaluations record, to decide whether a change of a node could unblock them. */
export interface ClassVerdicts {
  /** Whether a rule names a property that is unique to each node, so that no verdict holds for a whole class. */
  readonly escaped: boolean;
  readonly eligibility: Readonly<Record<string, boolean>>;
}

/** `null`: the class is feasible. */
type Verdicts = Map<NodeClass, string | null>;

/**
 * Which nodes suit a job's groups, checked once per node class within an evaluation. Rules on properties unique to a node,
 * and volumes, are checked per node.
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
  check(
    wanted: GroupRequirements,
    nodeState: Pick<NodeState, 'node' | 'nodeClass'>,
    index: number,
  ): Unsuitable | undefined {
    const { node, nodeClass } = nodeState;
    const job = this.#cached(this.#jobEscapes ? undefined : this.#ofJob, nodeClass, () =>
      constraintReason(wanted.jobConstraints, node),
    );
    if (job !== undefined) return job;
    const group = this.#cached(this.#verdictsOf(wanted.group.Name), nodeClass, () => groupReason(wanted, node));
    if (group !== undefined) return group;
    const volume = volumeReason(wanted.volumes, node, index);
    return volume === undefined ? undefined : { reason: volume, rule: volume, ofClass: false };
  }

  /** By computed class: whether at least one of the checked groups could run there. */
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

  /** The verdict of the class, determined on its first node; without `verdicts` the node's own verdict. */
  #cached(
    verdicts: Verdicts | undefined,
    nodeClass: NodeClass,
    check: () => string | undefined,
  ): Unsuitable | undefined {
    if (verdicts === undefined) {
      const reason = check();
      return reason === undefined ? undefined : { reason, rule: reason, ofClass: false };
    }
    const known = verdicts.get(nodeClass);
    if (known !== undefined)
      return known === null ? undefined : { reason: knownClassReason, rule: known, ofClass: true };
    const reason = check();
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
