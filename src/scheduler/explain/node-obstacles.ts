import type { Job } from '../../jobs/document/job.js';
import { globMatches } from '../../shared/glob.js';
import { isDraining, type Node } from '../node.js';
import { allNodePool } from '../node-pool.js';
import type { PlacementObstacle, RemedialChange } from './obstacle.js';

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
