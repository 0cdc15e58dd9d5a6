import { drawFrom } from '../assignment/draw.js';
import { offerOf } from '../assignment/node-offer.js';
import type { Capacity } from '../cluster/capacity.js';
import type { NodeState } from '../cluster/cluster-node.js';
import type { GroupRequirements } from '../feasibility/requirements.js';
import type { NodeAssessor } from '../ranking/assess-node.js';
import type { PlacementObstacle } from './obstacle.js';

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
