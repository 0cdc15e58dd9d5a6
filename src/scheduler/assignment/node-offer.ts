import { err, ok, type Result } from 'neverthrow';
import type { NetworkResource } from '../../jobs/document/network.js';
import type {
  AllocatedDevice,
  AllocatedNetwork,
  AllocatedResources,
  AllocatedTaskResources,
} from '../allocated-resources.js';
import { type Capacity, capacityOf } from '../cluster/capacity.js';
import type { NodeState } from '../cluster/cluster.js';
import type { GroupRequirements, TaskRequest } from '../feasibility/requirements.js';
import type { Node } from '../node.js';
import { assignDevices } from './assign-devices.js';
import { assignPorts, type Draw, type PortOffer } from './assign-ports.js';

/** The resources that one node would assign to an allocation of a group. */
export interface NodeOffer {
  readonly resources: AllocatedResources;
  readonly capacity: Capacity;
  /** Weighted share of the device affinities that are met; undefined when there are none. */
  readonly deviceScore: number | undefined;
}

/** Whether the group requests nothing that is picked on the node: every node's offer is then the same. */
export function isUniform(wanted: GroupRequirements): boolean {
  return (
    wanted.network === undefined &&
    wanted.taskNetworks.length === 0 &&
    wanted.devices.length === 0 &&
    wanted.cores.length === 0
  );
}

/**
 * The node's offer given what is already planned for it; otherwise the exhausted dimension, under the name that the allocation metric
 * counts it by. Room for processor, memory and disk is checked by `lackingDimension` instead.
 */
export function offerOf(wanted: GroupRequirements, state: NodeState, draw: Draw): Result<NodeOffer, string> {
  if (isUniform(wanted)) return ok({ resources: wanted.resources, capacity: wanted.capacity, deviceScore: undefined });
  return networksOf(wanted, state, draw).andThen((networks) =>
    assignDevices(wanted.devices, state.node, state.devices).andThen((devices) =>
      assignCores(wanted.cores, state.node, state.cores).map((cores) => {
        const parts = { networks, devices: devices.byTask, cores };
        const resources = resourcesWith(wanted.resources, parts);
        return { resources, capacity: capacityOf(resources), deviceScore: devices.score };
      }),
    ),
  );
}

/** The first dimension that lacks room, in the order of reports; undefined when the request fits. */
export function lackingDimension(
  { node, capacity, used, count }: Pick<NodeState, 'node' | 'capacity' | 'used' | 'count'>,
  asked: Capacity,
): string | undefined {
  const most = node.NodeMaxAllocs ?? 0;
  if (most > 0 && count >= most) return 'max allocation exceeded';
  if (used.cpu + asked.cpu > capacity.cpu) return 'cpu';
  if (used.memory + asked.memory > capacity.memory) return 'memory';
  return used.disk + asked.disk > capacity.disk ? 'disk' : undefined;
}

interface Networks {
  readonly group: PortOffer | undefined;
  readonly byTask: ReadonlyMap<string, AllocatedNetwork>;
}

/** The group's network is assigned before those of its tasks: when both lack a port, the group's is reported. */
function networksOf(wanted: GroupRequirements, { node, ports }: NodeState, draw: Draw): Result<Networks, string> {
  const byTask = new Map<string, AllocatedNetwork>();
  let taken = ports;
  const spared = wanted.taskNetworks.flatMap(({ request }) => request.ReservedPorts ?? []);
  const assigned = (request: NetworkResource): Result<PortOffer, string> => {
    const offer = assignPorts(request, { node, taken, spared }, draw).mapErr((lack) => `network: ${lack}`);
    if (offer.isOk()) {
      taken = taken.with(offer.value.ports.map(({ HostIP = '', Value }) => ({ address: HostIP, port: Value })));
    }
    return offer;
  };
  const group = wanted.network === undefined ? ok(undefined) : assigned(wanted.network);
  if (group.isErr()) return err(group.error);
  for (const { task, request } of wanted.taskNetworks) {
    const offer = assigned(request);
    if (offer.isErr()) return err(offer.error);
    byTask.set(task, taskNetwork(offer.value));
  }
  return ok({ group: group.value, byTask });
}

/** A task's own network contains its ports. */
function taskNetwork({ ports, network }: PortOffer): AllocatedNetwork {
  return ports[0]?.HostIP === undefined ? network : { ...network, IP: ports[0].HostIP };
}

interface NodeParts {
  readonly networks: Networks;
  readonly devices: ReadonlyMap<string, readonly AllocatedDevice[]>;
  readonly cores: ReadonlyMap<string, AllocatedTaskResources['Cpu']>;
}

function resourcesWith(resources: AllocatedResources, { networks, devices, cores }: NodeParts): AllocatedResources {
  const tasks = Object.entries(resources.Tasks).map(([name, task]): [string, AllocatedTaskResources] => {
    const network = networks.byTask.get(name);
    return [
      name,
      {
        ...task,
        Cpu: cores.get(name) ?? task.Cpu,
        Networks: network === undefined ? null : [network],
        Devices: devices.get(name) ?? null,
      },
    ];
  });
  const shared =
    networks.group === undefined
      ? resources.Shared
      : {
          ...resources.Shared,
          Networks: [networks.group.network],
          Ports: networks.group.ports.length === 0 ? null : networks.group.ports,
        };
  return { ...resources, Tasks: Object.fromEntries(tasks), Shared: shared };
}
type CpuShare = AllocatedTaskResources['Cpu'];

/** Assigns unreserved whole cores to each request, lowest numbers first. */
function assignCores(
  requests: readonly TaskRequest<number>[],
  node: Node,
  inUse: ReadonlySet<number>,
): Result<ReadonlyMap<string, CpuShare>, string> {
  const free = reservableCores(node).filter((core) => !inUse.has(core));
  const rate = clockRate(node);
  const byTask = new Map<string, CpuShare>();
  for (const { task, request } of requests) {
    if (free.length < request) return err('cores');
    byTask.set(task, { CpuShares: Math.floor(rate * request), ReservedCores: free.splice(0, request) });
  }
  return ok(byTask);
}

function reservableCores(node: Node): number[] {
  const { ReservableCpuCores, TotalCpuCores } = node.NodeResources.Cpu;
  return ReservableCpuCores === null
    ? Array.from({ length: TotalCpuCores }, (_, core) => core)
    : [...ReservableCpuCores];
}

/** MHz of one core. */
function clockRate(node: Node): number {
  const { CpuShares, TotalCpuCores } = node.NodeResources.Cpu;
  return TotalCpuCores > 0 ? CpuShares / TotalCpuCores : 0;
}
