import type { Job } from '../../../src/jobs/document/job.js';
import { type Allocation, type ClientStatus, noTransition } from '../../../src/scheduler/allocation.js';
import { requirementsOf } from '../../../src/scheduler/feasibility/requirements.js';
import { jobMembers } from '../../../src/scheduler/plan/new-allocation.js';
import { NodeTally } from '../../../src/scheduler/ranking/scores.js';
import { isoFromInstant, unixNanosFromInstant } from '../../../src/shared/instant.js';
import type { Difference, Vector } from '../player.js';
import type { JobDocument, StoryConfig, StoryNode } from './story.js';
import { nodeIdOf } from './story-node.js';
import { World } from './world.js';

/** An allocation that is there before. Those of the job itself have an index; the others say what they use. */
interface Existing {
  readonly job: string;
  readonly node: string;
  readonly client: ClientStatus;
  readonly index?: number;
  readonly finishedAgo?: number;
  readonly cpu?: number;
  readonly memoryMB?: number;
  readonly diskMB?: number;
  readonly priority?: number;
}

/** One placement and the scores of every node in it. */
export interface ScoreCase extends Vector {
  readonly config?: StoryConfig;
  readonly nodes: readonly StoryNode[];
  readonly existing: readonly Existing[];
  readonly job: JobDocument;
  readonly expect: {
    readonly chosen: string;
    readonly perNode: readonly {
      readonly node: string;
      readonly final: number;
      readonly scores: Readonly<Record<string, number>>;
    }[];
    readonly nodesEvaluated: number;
    readonly nodesExhausted: number;
    readonly preempts?: readonly string[];
  };
}

const tolerance = 1e-9;
const now = Date.UTC(2027, 0, 15);

export function playScore({ config, nodes, existing, job: document, expect }: ScoreCase): Difference {
  const world = new World({ now, nodes, ...(config === undefined ? {} : { config }) });
  const job = world.store(world.jobFrom(document));
  for (const [at, item] of existing.entries()) {
    const allocation = allocationFrom(item, `existing-${at}`, job);
    world.allocations.set(allocation.ID, allocation);
  }
  const { result } = world.decide(world.newEvaluation(job, 'job-register'));
  const placed = result.allocations.find(({ ID }) => !world.allocations.has(ID));
  if (placed === undefined) return 'nothing was placed';
  const { Metrics, NodeName, PreemptedAllocations } = placed;
  if (NodeName !== expect.chosen) return `the chosen node is ${NodeName}, not ${expect.chosen}`;
  if (Metrics.NodesEvaluated !== expect.nodesEvaluated) return `nodes evaluated are ${Metrics.NodesEvaluated}`;
  if (Metrics.NodesExhausted !== expect.nodesExhausted) return `nodes exhausted are ${Metrics.NodesExhausted}`;
  const victims = (PreemptedAllocations ?? []).map((id) => world.allocations.get(id)?.Name).sort();
  const wanted = [...(expect.preempts ?? [])].sort();
  if (victims.join() !== wanted.join()) return `preempted are ${victims.join()}, not ${wanted.join()}`;
  return scoreDifference(Metrics.ScoreMetaData ?? [], expect.perNode);
}

function scoreDifference(
  ours: NonNullable<Allocation['Metrics']['ScoreMetaData']>,
  expected: ScoreCase['expect']['perNode'],
): Difference {
  if (ours.length !== expected.length) return `${ours.length} nodes have scores, not ${expected.length}`;
  for (const { node, final, scores } of expected) {
    const own = ours.find(({ NodeID }) => NodeID === nodeIdOf(node));
    if (own === undefined) return `${node} has no scores`;
    if (Math.abs(own.NormScore - final) > tolerance) return `${node} has ${own.NormScore}, not ${final}`;
    for (const name of new Set([...Object.keys(scores), ...Object.keys(own.Scores)])) {
      const is = own.Scores[name];
      const should = scores[name];
      if (is === undefined || should === undefined || Math.abs(is - should) > tolerance) {
        return `${node} has ${is} for ${name}, not ${should}`;
      }
    }
  }
  return undefined;
}

function allocationFrom(item: Existing, id: string, job: Job): Allocation {
  const group = job.TaskGroups[0];
  if (group === undefined) throw new Error('The job has no group');
  const own = item.job === job.ID;
  const resources = requirementsOf(job, group, false).resources;
  const nanos = unixNanosFromInstant(now - 60_000);
  return {
    ID: id,
    Namespace: 'default',
    EvalID: 'before',
    Name: `${item.job}.${group.Name}[${item.index ?? 0}]`,
    NodeID: nodeIdOf(item.node),
    NodeName: item.node,
    JobID: item.job,
    ...jobMembers(job, group),
    JobPriority: item.priority ?? job.Priority,
    TaskGroup: group.Name,
    AllocatedResources: own
      ? resources
      : {
          Tasks: {
            main: {
              Cpu: { CpuShares: item.cpu ?? 0, ReservedCores: null },
              Memory: { MemoryMB: item.memoryMB ?? 0, MemoryMaxMB: 0 },
              Networks: null,
              Devices: null,
            },
          },
          TaskLifecycles: { main: null },
          Shared: { Networks: null, DiskMB: item.diskMB ?? 0, Ports: null },
        },
    Metrics: new NodeTally().metric({ pool: 'default', nodes: 0, byDatacenter: {} }, 0, null),
    DesiredStatus: 'run',
    DesiredTransition: noTransition,
    ClientStatus: item.client,
    ...(item.finishedAgo === undefined
      ? {}
      : {
          TaskStates: {
            main: {
              State: 'dead' as const,
              Failed: true,
              Restarts: 0,
              LastRestart: null,
              StartedAt: isoFromInstant(now - item.finishedAgo - 60_000),
              FinishedAt: isoFromInstant(now - item.finishedAgo),
              Events: null,
              Paused: '',
            },
          },
        }),
    CreateIndex: 1,
    ModifyIndex: 1,
    AllocModifyIndex: 1,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}
