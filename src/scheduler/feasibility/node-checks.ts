import type { Job } from '../../jobs/document/job.js';
import type { NetworkResource } from '../../jobs/document/network.js';
import type { Affinity, Constraint } from '../../jobs/document/placement.js';
import type { TaskGroup, VolumeRequest } from '../../jobs/document/task-group.js';
import { type TaskNeed, unmetNeeds } from '../../jobs/task-needs.js';
import { parseBoolean } from '../../shared/values.js';
import type { NodeState } from '../cluster/cluster.js';
import { addressesOf, defaultHostNetwork } from '../cluster/host-ports.js';
import type { NodeClass } from '../cluster/node-class.js';
import { type Node, provisionOf } from '../node.js';
import { checkConstraint, resolveTarget } from './constraint-operators.js';
import { hasDevices } from './device-constraints.js';
import type { GroupRequirements } from './requirements.js';

/*
 * Rules that check a node alone. Each returns the name under which a node that fails it is counted (job interface, AllocMetric), or
 * undefined.
 */

function constraintReason(constraints: readonly Constraint[], node: Node): string | undefined {
  const unmet = constraints.find((constraint) => !meets(constraint, node));
  return unmet && `${unmet.LTarget} ${unmet.Operand} ${unmet.RTarget}`;
}

/** Whether the node meets an affinity or a constraint. */
export function meets(
  { LTarget, RTarget, Operand }: Pick<Affinity, 'LTarget' | 'RTarget' | 'Operand'>,
  node: Node,
): boolean {
  return checkConstraint(Operand, resolveTarget(LTarget, node), resolveTarget(RTarget, node));
}

/** Clients of Nomad know this rule by its name. */
export const missingDrivers = 'missing drivers';

/** What the group requires of the node itself: drivers, constraints, devices and network, in this order. */
function groupReason(wanted: GroupRequirements, node: Node): string | undefined {
  if (!wanted.drivers.every((driver) => hasDriver(node, driver))) return missingDrivers;
  const needs = lackingNeeds(wanted, node);
  if (needs.length > 0) return `tasks need what the node does not provide: ${needs.join(', ')}`;
  const constraint = constraintReason(wanted.groupConstraints, node);
  if (constraint !== undefined) return constraint;
  if (!hasDevices(wanted.devices, node)) return 'missing devices';
  return networkReason(wanted, node);
}

/** Features that the group's tasks need and the node declares as missing. */
export function lackingNeeds({ needs }: Pick<GroupRequirements, 'needs'>, node: Node): readonly TaskNeed[] {
  return needs.length === 0 ? needs : unmetNeeds(needs, provisionOf(node));
}

/**
 * Volumes of the host. With `per_alloc` each allocation has its own volume, named by its index. Volumes of other types have no provider here,
 * and a static folder cannot be bound to one allocation.
 */
function volumeReason(volumes: readonly VolumeRequest[], node: Node, index: number): string | undefined {
  return volumes.every((volume) => hasVolume(volume, node, index)) ? undefined : 'missing compatible host volumes';
}

export function hasVolume(wanted: VolumeRequest, node: Node, index: number): boolean {
  if (wanted.Type !== 'host') return false;
  const source = wanted.PerAlloc ? `${wanted.Source}[${index}]` : wanted.Source;
  const volumes = node.HostVolumes ?? {};
  const volume = Object.hasOwn(volumes, source) ? volumes[source] : undefined;
  if (volume === undefined || wanted.Sticky) return false;
  if (wanted.ReadOnly) return volume.ReadOnly || unmetNeeds(['read_only_mounts'], provisionOf(node)).length === 0;
  return !volume.ReadOnly;
}

export function hasDriver(node: Node, name: string): boolean {
  const driver = Object.hasOwn(node.Drivers, name) ? node.Drivers[name] : undefined;
  if (driver !== undefined) return driver.Detected && driver.Healthy;
  const attribute = `driver.${name}`;
  return Object.hasOwn(node.Attributes, attribute) && parseBoolean(node.Attributes[attribute] ?? '') === true;
}

export function networkReason({ network, group }: GroupRequirements, node: Node): string | undefined {
  const mode = modeOf(network?.Mode);
  if (mode === 'none') return undefined;
  const networks = node.NodeResources.Networks ?? [];
  const modes = networks.length === 0 ? [hostMode] : networks.map((offered) => modeOf(offered.Mode));
  if (!modes.includes(mode)) return 'missing network';
  return group.Networks === null || network === undefined ? undefined : portsReason(network, node);
}

function portsReason({ DynamicPorts, ReservedPorts }: NetworkResource, node: Node): string | undefined {
  for (const port of [...(DynamicPorts ?? []), ...(ReservedPorts ?? [])]) {
    const reason = hostNetworkReason(port.HostNetwork ?? '', port.Label ?? '', node);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const hostMode = 'host';

function modeOf(mode: string | undefined): string {
  return mode === undefined || mode === '' ? hostMode : mode;
}

function hostNetworkReason(wanted: string, label: string, node: Node): string | undefined {
  if (wanted === '') return undefined;
  const name = hostNetworkOf(wanted, node);
  if (name === undefined) return `invalid host network "${wanted}" template for port "${label}"`;
  return addressesOf(node).some(({ Alias }) => Alias === name)
    ? undefined
    : `missing host network "${name}" for port "${label}"`;
}

/** The host network of a port; its name may refer to a property of the node. Undefined when the node lacks that property. */
export function hostNetworkOf(wanted: string, node: Node): string | undefined {
  if (wanted === '') return defaultHostNetwork;
  const { found, value } = resolveTarget(wanted, node);
  return found ? value : undefined;
}

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
