import type { Job } from '../../jobs/document/job.js';
import type { Constraint } from '../../jobs/document/placement.js';
import { needsAttribute } from '../../jobs/task-needs.js';
import { globMatches } from '../../shared/values.js';
import { drawFrom } from '../assignment/assign-ports.js';
import { offerOf } from '../assignment/node-offer.js';
import type { Capacity } from '../cluster/capacity.js';
import type { NodeState } from '../cluster/cluster.js';
import { resolveTarget } from '../feasibility/constraint-operators.js';
import { hasDevices } from '../feasibility/device-constraints.js';
import { hasDriver, hasVolume, lackingNeeds, meets, networkReason } from '../feasibility/node-checks.js';
import type { GroupRequirements } from '../feasibility/requirements.js';
import { isDraining, type Node, provisionOf } from '../node.js';
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
    obstacles.push(standing('status', `The node is ${Status}`, { subject: 'Status', from: Status, to: 'ready' }));
  }
  if (isDraining(node)) {
    const change = { subject: 'DrainStrategy', from: 'draining', to: '' };
    obstacles.push(standing('drain', 'The node is being drained', change));
  } else if (SchedulingEligibility !== 'eligible') {
    const change = { subject: 'SchedulingEligibility', from: SchedulingEligibility, to: 'eligible' };
    obstacles.push(standing('eligibility', 'The node is not eligible for new allocations', change));
  }
  return obstacles;
}

function standing(
  kind: PlacementObstacle['kind'],
  message: string,
  change: Omit<RemedialChange, 'of'>,
): PlacementObstacle {
  return { kind, message, lack: 1, changes: [{ of: 'node', ...change }] };
}

function membershipObstacles(node: Node, job: Job): PlacementObstacle[] {
  const obstacles: PlacementObstacle[] = [];
  const pool = job.NodePool === '' ? allNodePool : job.NodePool;
  if (pool !== allNodePool && node.NodePool !== pool) {
    obstacles.push({
      kind: 'pool',
      message: `The node is in pool "${node.NodePool}", the job requires pool "${pool}"`,
      lack: 1,
      changes: [
        { of: 'job', subject: 'NodePool', from: pool, to: node.NodePool },
        { of: 'node', subject: 'NodePool', from: node.NodePool, to: pool },
      ],
    });
  }
  if (!job.Datacenters.some((pattern) => globMatches(pattern, node.Datacenter))) {
    const from = job.Datacenters.join(', ');
    obstacles.push({
      kind: 'datacenter',
      message: `The node is in datacenter "${node.Datacenter}", the job requires ${from}`,
      lack: 1,
      changes: [{ of: 'job', subject: 'Datacenters', from, to: [...job.Datacenters, node.Datacenter].join(', ') }],
    });
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
  return [
    {
      kind: 'constraint',
      message: `The job requires ${LTarget} ${Operand} ${RTarget}`.trimEnd() + `; on the node it ${is}`,
      lack: 1,
      changes: constraintChanges(constraint, found ? value : ''),
    },
  ];
}

const equalities = ['', '=', '==', 'is'];

function constraintChanges({ LTarget, Operand, RTarget }: Constraint, value: string): readonly RemedialChange[] {
  const text = `${LTarget} ${Operand} ${RTarget}`.trimEnd();
  const dropped: RemedialChange = { of: 'job', subject: 'Constraints', from: text, to: '' };
  const name = /^\$\{((?:attr|meta)\..+)\}$/.exec(LTarget)?.[1];
  if (name === undefined || !equalities.includes(Operand) || RTarget.startsWith('${')) return [dropped];
  return [{ of: 'node', subject: name, from: value, to: RTarget }, dropped];
}

function driverObstacle(driver: string, node: Node): PlacementObstacle {
  const known = Object.hasOwn(node.Drivers, driver) ? node.Drivers[driver] : undefined;
  const from = known === undefined ? '' : known.Detected ? 'unhealthy' : 'not detected';
  const state = from === '' ? 'does not have it' : `reports it as ${from}`;
  return {
    kind: 'driver',
    message: `The job needs driver "${driver}"; the node ${state}`,
    lack: 1,
    changes: [{ of: 'node', subject: `Drivers.${driver}`, from, to: 'healthy' }],
  };
}

function needObstacles(wanted: GroupRequirements, node: Node): PlacementObstacle[] {
  const provided = provisionOf(node) ?? '';
  return lackingNeeds(wanted, node).map((need) => ({
    kind: 'task_part',
    message: `Tasks of the group need ${need}, which the node does not provide`,
    lack: 1,
    changes: [
      {
        of: 'node',
        subject: needsAttribute,
        from: provided,
        to: [provided, need].filter((part) => part !== '').join(','),
      },
    ],
  }));
}

function deviceObstacles({ devices }: GroupRequirements, node: Node): PlacementObstacle[] {
  if (hasDevices(devices, node)) return [];
  return devices
    .filter((request) => !hasDevices([request], node) || devices.length === 1)
    .map(({ task, request }) => ({
      kind: 'device',
      message: `Task "${task}" requests ${request.Count} of device "${request.Name}", which the node does not have`,
      lack: 1,
      changes: [{ of: 'job', subject: 'Resources.Devices', from: request.Name, to: '' }],
    }));
}

function networkObstacles(wanted: GroupRequirements, node: Node): PlacementObstacle[] {
  const reason = networkReason(wanted, node);
  if (reason === undefined) return [];
  const mode = wanted.network?.Mode ?? '';
  if (reason !== 'missing network') return [{ kind: 'network', message: sentence(reason), lack: 1, changes: [] }];
  return [
    {
      kind: 'network',
      message: `The node has no network of mode "${mode}"`,
      lack: 1,
      changes: [{ of: 'job', subject: 'Networks.Mode', from: mode, to: 'host' }],
    },
  ];
}

function volumeObstacles({ volumes }: GroupRequirements, node: Node, index: number): PlacementObstacle[] {
  return volumes
    .filter((volume) => !hasVolume(volume, node, index))
    .map((volume) => {
      const source = volume.PerAlloc ? `${volume.Source}[${index}]` : volume.Source;
      return {
        kind: 'volume',
        message: `The node has no volume "${source}" with the access that the job requests`,
        lack: 1,
        changes: [
          { of: 'node', subject: `HostVolumes.${source}`, from: '', to: volume.ReadOnly ? 'read-only' : 'writable' },
        ],
      };
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
  return { kind: 'neighbour', message, lack: 1, changes: [] };
}

function pickObstacle(reason: string): PlacementObstacle {
  return {
    kind: reason.startsWith('network') ? 'network' : 'room',
    message: `No room: ${reason}`,
    lack: 1,
    changes: [],
  };
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
    const less = { of: 'job', subject, from: `${asked[of]} ${unit}`, to: `${free} ${unit}` } as const;
    const more = {
      of: 'node',
      subject: `free ${of}`,
      from: `${free} ${unit}`,
      to: `${asked[of]} ${unit}`,
    } as const;
    const message = `The group requests ${asked[of]} ${unit} of ${of}, ${free} ${unit} are free`;
    const lack = (asked[of] - free) / asked[of];
    return [{ kind: 'room', message, lack, changes: free === 0 || cores.length > 0 ? [more] : [less, more] }];
  });
}

function countObstacle({ node, count }: NodeState): PlacementObstacle[] {
  const most = node.NodeMaxAllocs ?? 0;
  if (most === 0 || count < most) return [];
  const change = { of: 'node', subject: 'NodeMaxAllocs', from: `${most}`, to: `${count + 1}` } as const;
  return [{ kind: 'room', message: `The node takes at most ${most} allocations`, lack: 1, changes: [change] }];
}
