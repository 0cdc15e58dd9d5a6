import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { clusterFrom } from '../../../src/scheduler/cluster/cluster.js';
import type { Deployment } from '../../../src/scheduler/deployment/deployment.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { settledGroups } from '../../../src/scheduler/plan/plan-job.js';
import { schedule } from '../../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../../src/scheduler/scheduler-configuration.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const now = Date.UTC(2026, 0, 1);
const noFlags = {
  Migrate: null,
  Reschedule: null,
  ForceReschedule: null,
  NoShutdownDelay: null,
  MigrateDisablePlacement: null,
};
const nodes = [nodeFrom('n1'), nodeFrom('n2'), nodeFrom('down', { Status: 'down' })];

function decide(job: Job, allocations: readonly Allocation[], deployments: readonly Deployment[]) {
  let last = 0;
  const versions = new Map([[0, { ...job, Version: 0 }]]);
  const records = { versions, deployments, configuration: defaultSchedulerConfiguration, pool: undefined, index: 90 };
  const evaluation = { ID: 'e', Namespace: 'default', Type: job.Type, TriggeredBy: 'node-update', JobID: job.ID };
  const cluster = clusterFrom(nodes, allocations);
  const result = schedule(
    { ...records, job, allocations, cluster, readAllocation: () => undefined },
    {
      ...evaluation,
      Priority: 50,
      Status: 'pending',
      CreateIndex: 80,
      ModifyIndex: 80,
      CreateTime: 0,
      ModifyTime: 0,
    } as Evaluation,
    now,
    { next: (kind) => `${kind}-${++last}` },
  );
  return { ...result, allocations: result.allocations.map(({ AllocStates: _states, ...rest }) => rest) };
}

/** Mostly what a settled job has. */
function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 15, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(...others) });
}

const anyAllocation = fc.record({
  index: fc.nat(3),
  ClientStatus: mostly('running', 'pending', 'complete', 'failed', 'unknown'),
  DesiredStatus: mostly('run', 'stop'),
  JobVersion: mostly(1, 0),
  NodeID: mostly('n1', 'n2', 'down', 'gone'),
  Migrate: mostly<boolean | null>(null, true),
});

it('a job that is settled at a glance is one for which reconciling finds nothing to do, and says the same of', () => {
  let settled = 0;
  const property = fc.property(
    fc.array(anyAllocation, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('service', 'batch'),
    fc.constantFrom(undefined, 'successful', 'running', 'failed'),
    (drawn, Type, status) => {
      const job = jobFrom({ Type, TaskGroups: [groupDocument({ Count: 2 })] }, { Version: 1, JobModifyIndex: 20 });
      const allocations = drawn.map(({ index, Migrate, ...one }, at) =>
        allocationOf(job, `a${at}`, { ...one, index, Migrate }),
      );
      const deployments = status === undefined || Type === 'batch' ? [] : [deploymentOf(job, status)];
      const glance = { job, allocations, cluster: clusterFrom(nodes, allocations), deployment: deployments[0] };
      if (settledGroups(glance) !== undefined) settled += 1;
      // An empty history of states asks for the closer look, and says nothing else.
      const closer = allocations.map((one) => ({ ...one, AllocStates: [] }));
      expect(decide(job, allocations, deployments)).toEqual(decide(job, closer, deployments));
    },
  );
  fc.assert(property, { numRuns: 300, seed: 7 });
  expect(settled).toBeGreaterThan(20);
});

function allocationOf(
  job: Job,
  id: string,
  drawn: Record<string, unknown> & { index: number; Migrate: boolean | null },
): Allocation {
  const { index, Migrate, ...members } = drawn;
  const task = {
    Cpu: { CpuShares: 100, ReservedCores: null },
    Memory: { MemoryMB: 100, MemoryMaxMB: 0 },
    Networks: null,
    Devices: null,
  };
  return {
    ID: id,
    Namespace: 'default',
    EvalID: 'before',
    Name: `web.app[${index}]`,
    NodeName: '',
    JobID: job.ID,
    JobType: job.Type,
    JobCreateIndex: job.CreateIndex,
    JobPriority: 50,
    TaskGroup: 'app',
    AllocatedResources: {
      Tasks: { main: task },
      TaskLifecycles: { main: null },
      Shared: { DiskMB: 10, Networks: null, Ports: null },
    },
    Metrics: {},
    DesiredTransition: { ...noFlags, Migrate },
    CreateIndex: 10,
    ModifyIndex: 10,
    AllocModifyIndex: 10,
    CreateTime: 0,
    ModifyTime: 0,
    ...members,
  } as unknown as Allocation;
}

function deploymentOf(job: Job, Status: string): Deployment {
  const state = {
    AutoRevert: false,
    AutoPromote: false,
    ProgressDeadline: 0,
    RequireProgressBy: null,
    Promoted: false,
    PlacedCanaries: null,
    DesiredCanaries: 0,
    DesiredTotal: 2,
    PlacedAllocs: 2,
    HealthyAllocs: 2,
    UnhealthyAllocs: 0,
  };
  const { ID: JobID, Version: JobVersion, CreateIndex: JobCreateIndex } = job;
  const indexes = { CreateIndex: 30, ModifyIndex: 30, CreateTime: 0, ModifyTime: 0 };
  return {
    ID: 'd',
    Namespace: 'default',
    JobID,
    JobVersion,
    JobCreateIndex,
    TaskGroups: { app: state },
    Status,
    StatusDescription: '',
    EvalPriority: 50,
    IsMultiregion: false,
    JobModifyIndex: 20,
    JobSpecModifyIndex: 20,
    ...indexes,
  } as Deployment;
}
