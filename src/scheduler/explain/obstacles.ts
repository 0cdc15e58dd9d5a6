import type { Job } from '../../jobs/document/job.js';
import type { Constraint } from '../../jobs/document/placement.js';
import { globMatches } from '../../shared/values.js';
import { drawFrom } from '../assignment/assign-ports.js';
import { offerOf } from '../assignment/node-offer.js';
import type { Capacity } from '../cluster/capacity.js';
import type { NodeState } from '../cluster/cluster.js';
import { resolveTarget } from '../feasibility/constraint-operators.js';
import { hasDevices } from '../feasibility/device-constraints.js';
import { hasDriver, hasVolume, lackingNeeds, meets, networkReason } from '../feasibility/node-checks.js';
import type { GroupRequirements } from '../feasibility/requirements.js';
import { isDraining, type Node, needsAttribute, provisionOf } from '../node.js';
import { allNodePool } from '../node-pool.js';
import type { NodeAssessor } from '../ranking/assess-node.js';

/** A change that would remove an obstacle. */
export interface RemedialChange {
  /** What has to change. */
  readonly of: 'job' | 'node';
  /** The field, attribute or state: `Datacenters`, `attr.kernel.name`, `SchedulingEligibility`, `Resources.CPU`. */
  readonly subject: string;
  /** The current value; empty when there is none. */
  readonly from: string;
  /** The required value; empty when the current value would have to be removed. */
  readonly to: string;
}

/** One reason why a node does not take the group's allocation. */
export interface PlacementObstacle {
  readonly kind:
    | 'status'
    | 'eligibility'
    | 'drain'
    | 'pool'
    | 'datacenter'
    | 'driver'
    | 'task_part'
    | 'constraint'
    | 'device'
    | 'network'
    | 'volume'
    | 'neighbour'
    | 'room';
  /** One sentence. */
  readonly message: string;
  /** Distance to a suitable node, above 0 and up to 1: the missing share of an amount; 1 where there is no amount. */
  readonly lack: number;
  /** Changes that would each be sufficient alone, the smallest first; empty when no single change is known to be. */
  readonly changes: readonly RemedialChange[];
}

/** Obstacles to every allocation of the job: the node's state, pool and datacenter. */
export function nodeObstacles(node: Node, job: Job): PlacementObstacle[] {
  return [...standingObstacles(node), ...membershipObstacles(node, job)];
}

function standingObstacles(node: Node): PlacementObstacle[] {
  const { Status, SchedulingEligibility } = node;
  const obstacles: PlacementObstacle[] = [];
  if (Status !== 'ready') {
    obstacles.push(obstacle('status', `The node is ${Status}`, ofNode('Status', Status, 'ready')));
  }
  if (isDraining(node)) {
    obstacles.push(obstacle('drain', 'The node is being drained', ofNode('DrainStrategy', 'draining', '')));
  } else if (SchedulingEligibility !== 'eligible') {
    const change = ofNode('SchedulingEligibility', SchedulingEligibility, 'eligible');
    obstacles.push(obstacle('eligibility', 'The node is not eligible for new allocations', change));
  }
  return obstacles;
}

/** An obstacle without an amount. */
function obstacle(
  kind: PlacementObstacle['kind'],
  message: string,
  ...changes: readonly RemedialChange[]
): PlacementObstacle {
  return { kind, message, lack: 1, changes };
}

/** The change of a node by which the subject gets another value. */
function ofNode(subject: string, from: string, to: string): RemedialChange {
  return { of: 'node', subject, from, to };
}

function ofJob(subject: string, from: string, to: string): RemedialChange {
  return { of: 'job', subject, from, to };
}

function membershipObstacles(node: Node, job: Job): PlacementObstacle[] {
  const obstacles: PlacementObstacle[] = [];
  const pool = job.NodePool === '' ? allNodePool : job.NodePool;
  if (pool !== allNodePool && node.NodePool !== pool) {
    const message = `The node is in pool "${node.NodePool}", the job requires pool "${pool}"`;
    const changes = [ofJob('NodePool', pool, node.NodePool), ofNode('NodePool', node.NodePool, pool)];
    obstacles.push(obstacle('pool', message, ...changes));
  }
  if (!job.Datacenters.some((pattern) => globMatches(pattern, node.Datacenter))) {
    const from = job.Datacenters.join(', ');
    const message = `The node is in datacenter "${node.Datacenter}", the job requires ${from}`;
    const to = [...job.Datacenters, node.Datacenter].join(', ');
    obstacles.push(obstacle('datacenter', message, ofJob('Datacenters', from, to)));
  }
  return obstacles;
}

/** Every rule about the node itself that it fails, independent of its allocations. `index` is that of the allocation. */
export function kindObstacles(wanted: GroupRequirements, node: Node, index: number): PlacementObstacle[] {
  return [
    ...wanted.jobConstraints.flatMap((constraint) => constraintObstacle(constraint, node)),
    ...wanted.drivers.filter((driver) => !hasDriver(node, driver)).map((driver) => driverObstacle(driver, node)),
    ...needObstacles(wanted, node),
    ...wanted.groupConstraints.flatMap((constraint) => constraintObstacle(constraint, node)),
    ...deviceObstacles(wanted, node),
    ...networkObstacles(wanted, node),
    ...volumeObstacles(wanted, node, index),
  ];
}

function constraintObstacle(constraint: Constraint, node: Node): PlacementObstacle[] {
  if (meets(constraint, node)) return [];
  const { LTarget, Operand, RTarget } = constraint;
  const { found, value } = resolveTarget(LTarget, node);
  const is = found ? `is "${value}"` : 'is not set';
  const message = `The job requires ${LTarget} ${Operand} ${RTarget}`.trimEnd() + `; on the node it ${is}`;
  return [obstacle('constraint', message, ...constraintChanges(constraint, found ? value : ''))];
}

const equalities = ['', '=', '==', 'is'];

function constraintChanges({ LTarget, Operand, RTarget }: Constraint, value: string): readonly RemedialChange[] {
  const text = `${LTarget} ${Operand} ${RTarget}`.trimEnd();
  const dropped = ofJob('Constraints', text, '');
  const name = /^\$\{((?:attr|meta)\..+)\}$/.exec(LTarget)?.[1];
  if (name === undefined || !equalities.includes(Operand) || RTarget.startsWith('${')) return [dropped];
  return [ofNode(name, value, RTarget), dropped];
}

function driverObstacle(driver: string, node: Node): PlacementObstacle {
  const known = Object.hasOwn(node.Drivers, driver) ? node.Drivers[driver] : undefined;
  const from = known === undefined ? '' : known.Detected ? 'unhealthy' : 'not detected';
  const state = from === '' ? 'does not have it' : `reports it as ${from}`;
  const message = `The job needs driver "${driver}"; the node ${state}`;
  return obstacle('driver', message, ofNode(`Drivers.${driver}`, from, 'healthy'));
}

function needObstacles(wanted: GroupRequirements, node: Node): PlacementObstacle[] {
  const provided = provisionOf(node) ?? '';
  return lackingNeeds(wanted, node).map((need) => {
    const message = `Tasks of the group need ${need}, which the node does not provide`;
    const to = [provided, need].filter((part) => part !== '').join(',');
    return obstacle('task_part', message, ofNode(needsAttribute, provided, to));
  });
}

function deviceObstacles({ devices }: GroupRequirements, node: Node): PlacementObstacle[] {
  if (hasDevices(devices, node)) return [];
  return devices
    .filter((request) => !hasDevices([request], node) || devices.length === 1)
    .map(({ task, request: { Count, Name } }) => {
      const message = `Task "${task}" requests ${Count} of device "${Name}", which the node does not have`;
      return obstacle('device', message, ofJob('Resources.Devices', Name, ''));
    });
}

function networkObstacles(wanted: GroupRequirements, node: Node): PlacementObstacle[] {
  const reason = networkReason(wanted, node);
  if (reason === undefined) return [];
  const mode = wanted.network?.Mode ?? '';
  if (reason !== 'missing network') return [obstacle('network', sentence(reason))];
  return [obstacle('network', `The node has no network of mode "${mode}"`, ofJob('Networks.Mode', mode, 'host'))];
}

function volumeObstacles({ volumes }: GroupRequirements, node: Node, index: number): PlacementObstacle[] {
  return volumes
    .filter((volume) => !hasVolume(volume, node, index))
    .map((volume) => {
      const source = volume.PerAlloc ? `${volume.Source}[${index}]` : volume.Source;
      const message = `The node has no volume "${source}" with the access that the job requests`;
      const to = volume.ReadOnly ? 'read-only' : 'writable';
      return obstacle('volume', message, ofNode(`HostVolumes.${source}`, '', to));
    });
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Obstacles due to the node's current allocations; rules about other allocations of the job come first. */
export function roomObstacles(assessor: NodeAssessor, slot: number, state: NodeState): PlacementObstacle[] {
  const assessed = assessor.assessRoom(slot);
  if (assessed.type === 'fits') return [];
  if (assessed.type === 'filtered') return [neighbourObstacle(assessed.reason)];
  const { wanted } = assessor;
  const offer = offerOf(wanted, state, drawFrom(''));
  const picked = offer.isErr() ? [pickObstacle(offer.error)] : [];
  const asked = offer.isErr() ? wanted.capacity : offer.value.capacity;
  return [...picked, ...lackingAmounts(state, asked, wanted), ...countObstacle(state)];
}

function neighbourObstacle(reason: string): PlacementObstacle {
  const message =
    reason === 'distinct_hosts'
      ? 'The node already runs an allocation of the job, and the job requires distinct hosts'
      : `The job limits allocations per attribute value: ${reason}`;
  return obstacle('neighbour', message);
}

function pickObstacle(reason: string): PlacementObstacle {
  return obstacle(reason.startsWith('network') ? 'network' : 'room', `No room: ${reason}`);
}

const amounts = [
  { of: 'cpu', subject: 'Resources.CPU', unit: 'MHz' },
  { of: 'memory', subject: 'Resources.MemoryMB', unit: 'MB' },
  { of: 'disk', subject: 'EphemeralDisk.SizeMB', unit: 'MB' },
] as const satisfies readonly { readonly of: keyof Capacity; readonly subject: string; readonly unit: string }[];

/** Each amount that is short, with the changes that would be sufficient: less for the job, or more on the node. */
function lackingAmounts({ capacity, used }: NodeState, asked: Capacity, { cores }: GroupRequirements) {
  return amounts.flatMap(({ of, subject, unit }): PlacementObstacle[] => {
    const free = Math.max(capacity[of] - used[of], 0);
    if (asked[of] <= free) return [];
    const less = ofJob(subject, `${asked[of]} ${unit}`, `${free} ${unit}`);
    const more = ofNode(`free ${of}`, `${free} ${unit}`, `${asked[of]} ${unit}`);
    const message = `The group requests ${asked[of]} ${unit} of ${of}, ${free} ${unit} are free`;
    const lack = (asked[of] - free) / asked[of];
    return [{ kind: 'room', message, lack, changes: free === 0 || cores.length > 0 ? [more] : [less, more] }];
  });
}

function countObstacle({ node, count }: NodeState): PlacementObstacle[] {
  const most = node.NodeMaxAllocs ?? 0;
  if (most === 0 || count < most) return [];
  const change = ofNode('NodeMaxAllocs', `${most}`, `${count + 1}`);
  return [obstacle('room', `The node takes at most ${most} allocations`, change)];
}
