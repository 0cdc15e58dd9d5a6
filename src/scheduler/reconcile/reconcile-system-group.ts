import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isClientTerminal, isTerminalAllocation } from '../allocation.js';
import type { Node } from '../node.js';
import { descriptions, type GroupIntents, type PlaceIntent, type StopIntent } from './intents.js';
import { allocationName } from './names.js';

export interface SystemGroupSituation {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly allocations: readonly Allocation[];
  /** Nodes that the job may use and that can take the group. */
  readonly nodes: readonly Node[];
  readonly isNodeLost: (nodeId: string) => boolean;
  readonly canStay: (allocation: Allocation) => boolean;
}

/** One allocation of the group on each node: kept running by `system`, run to its end once per version by `sysbatch`. */
export function reconcileSystemGroup(situation: SystemGroupSituation): GroupIntents {
  const { job, group } = situation;
  const stop: StopIntent[] = [];
  const inPlace: Allocation[] = [];
  const place: PlaceIntent[] = [];
  const wanted = new Set(group.Count > 0 ? situation.nodes.map((node) => node.ID) : []);
  const served = new Set<string>();

  for (const allocation of situation.allocations) {
    const nodeId = allocation.NodeID;
    if (job.Type === 'sysbatch' && isClientTerminal(allocation) && allocation.JobVersion === job.Version)
      served.add(nodeId);
    if (isTerminalAllocation(allocation)) continue;
    if (situation.isNodeLost(nodeId)) {
      stop.push({ allocation, description: descriptions.lost, clientStatus: 'lost' });
    } else if (!wanted.has(nodeId) || served.has(nodeId)) {
      stop.push({ allocation, description: descriptions.notNeeded });
    } else {
      served.add(nodeId);
      if (allocation.JobVersion === job.Version) continue;
      if (situation.canStay(allocation)) inPlace.push(allocation);
      else place.push(onNode(situation, nodeId, { allocation, description: descriptions.updating }));
    }
  }
  for (const nodeId of wanted) {
    if (!served.has(nodeId)) place.push(onNode(situation, nodeId, null));
  }
  return { stop, inPlace, place, later: [] };
}

function onNode({ job, group }: SystemGroupSituation, nodeId: string, replaces: StopIntent | null): PlaceIntent {
  const previous = replaces?.allocation ?? null;
  return { name: allocationName(job.ID, group.Name, 0), previous, reschedule: false, replaces, nodeId };
}
