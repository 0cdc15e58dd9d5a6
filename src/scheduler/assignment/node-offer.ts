import { err, ok, type Result } from 'neverthrow';
import type { NetworkResource } from '../../jobs/document/network.js';
import type {
  AllocatedDevice,
  AllocatedNetwork,
  AllocatedResources,
  AllocatedTaskResources,
} from '../allocated-resources.js';
import { type Capacity, capacityOf } from '../cluster/capacity.js';
import type { NodeState } from '../cluster/node-book.js';
import type { GroupRequirements } from '../feasibility/requirements.js';
import { assignCores } from './assign-cores.js';
import { assignDevices } from './assign-devices.js';
import { assignPorts, type PortOffer } from './assign-ports.js';
import type { Draw } from './draw.js';

/** What one node would give to an allocation of a group. */
export interface NodeOffer {
  readonly resources: AllocatedResources;
  readonly capacity: Capacity;
  /** Share of the device affinities that are met; undefined when there are none. */
  readonly deviceScore: number | undefined;
}

/** The group asks for nothing that has to be picked on the node: every node's offer is the same. */
export function isUniform(wanted: GroupRequirements): boolean {
  return (
    wanted.network === undefined &&
    wanted.taskNetworks.length === 0 &&
    wanted.devices.length === 0 &&
    wanted.cores.length === 0
  );
}

/**
 * What the node would give, with what is planned for it; else the dimension that is short, under the name that the allocation metric
 * counts it by. Room for processor, memory and disk is not asked here: see `lackingDimension`.
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

/** The first dimension that lacks room, in the order in which it is reported; undefined when the capacity fits. */
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

/** The network of the group is served before those of its tasks: when both lack a port, that of the group is named. */
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

/** A task's own network carries its ports itself. */
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
