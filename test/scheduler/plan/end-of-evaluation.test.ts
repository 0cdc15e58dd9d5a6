import { describe, expect, it } from 'vitest';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { clusterFrom } from '../../../src/scheduler/cluster/cluster.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { schedule } from '../../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../../src/scheduler/scheduler-configuration.js';
import { nodeFrom } from '../../support/nodes.js';
import { ago, allocationWith, jobWith, now } from '../reconcile/situations.js';

const policy = { Delay: 30e9, DelayFunction: 'constant', MaxDelay: 0, Unlimited: true, Attempts: 0, Interval: 0 };
const job = jobWith({ Count: 3, ReschedulePolicy: policy, Update: { MaxParallel: 0 } });

/** Failed so many seconds ago; it is replaced 30 s after that. */
const failed = (at: number, seconds: number): Allocation =>
  allocationWith({
    ID: `a${at}`,
    Name: `web.app[${at}]`,
    ClientStatus: 'failed',
    TaskStates: { main: { State: 'dead', Failed: true, FinishedAt: ago(seconds) } } as unknown as NonNullable<
      Allocation['TaskStates']
    >,
  });

function end(allocations: readonly Allocation[], change: Partial<Evaluation> = {}) {
  const snapshot = {
    job,
    allocations,
    versions: new Map([[job.Version, job]]),
    deployments: [],
    cluster: clusterFrom([nodeFrom('ready')], []),
    configuration: defaultSchedulerConfiguration,
    pool: undefined,
    readAllocation: () => undefined,
    index: 20,
  };
  const evaluation = {
    ID: 'this',
    Namespace: 'default',
    Priority: 70,
    Type: 'service',
    TriggeredBy: 'alloc-failure',
    JobID: 'web',
    JobModifyIndex: 11,
    Status: 'pending',
    CreateIndex: 10,
    ModifyIndex: 10,
    CreateTime: 0,
    ModifyTime: 0,
    ...change,
  } as Evaluation;
  let made = 0;
  return schedule(snapshot, evaluation, now, { next: (kind) => `${kind}-${++made}` });
}

describe('an evaluation that leaves something for later', () => {
  it('makes an evaluation for each moment, and names the last one', () => {
    const { evaluation, followUps, allocations } = end([failed(0, 20), failed(1, 17), failed(2, 5)]);
    expect(followUps).toMatchObject([
      { ID: 'evaluation-1', TriggeredBy: 'alloc-reschedule', WaitUntil: ago(-10), PreviousEval: 'this' },
      { ID: 'evaluation-2', TriggeredBy: 'alloc-failure', WaitUntil: ago(-25), PreviousEval: 'this' },
    ]);
    for (const followUp of followUps) {
      expect(followUp).toMatchObject({
        Status: 'pending',
        Priority: 70,
        Type: 'service',
        JobID: 'web',
        CreateIndex: 20,
      });
    }
    expect(evaluation).toMatchObject({ Status: 'complete', NextEval: 'evaluation-2', QueuedAllocations: { app: 0 } });
    expect(evaluation.BlockedEval).toBeUndefined();
    expect(allocations.map(({ ID, FollowupEvalID }) => [ID, FollowupEvalID])).toEqual([
      ['a0', 'evaluation-1'],
      ['a1', 'evaluation-1'],
      ['a2', 'evaluation-2'],
    ]);
  });

  it('names none where nothing is left', () => {
    const running = [0, 1, 2].map((at) => allocationWith({ ID: `a${at}`, Name: `web.app[${at}]` }));
    const { evaluation, followUps } = end(running);
    expect(followUps).toEqual([]);
    expect(evaluation).toMatchObject({ Status: 'complete', SnapshotIndex: 20, ModifyIndex: 20 });
    for (const member of ['NextEval', 'BlockedEval', 'FailedTGAllocs', 'StatusDescription', 'DeploymentID'] as const) {
      expect(evaluation[member]).toBeUndefined();
    }
  });
});
