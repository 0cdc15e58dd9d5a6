import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/jobs/document/job.js';
import { type Allocation, type ClientStatus, isTerminalAllocation } from '../../src/scheduler/allocation.js';
import { clusterFrom } from '../../src/scheduler/cluster/cluster.js';
import type { Deployment } from '../../src/scheduler/deployment/deployment.js';
import type { Evaluation } from '../../src/scheduler/evaluation.js';
import type { Node } from '../../src/scheduler/node.js';
import type { SchedulingResult } from '../../src/scheduler/plan/outcome.js';
import { schedule } from '../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../src/scheduler/scheduler-configuration.js';
import { groupDocument, jobFrom } from '../support/jobs.js';
import { nodeFrom } from '../support/nodes.js';

const now = Date.UTC(2026, 0, 1);

/** Plays evaluations one after the other and keeps the records, as the store would. */
class Cluster {
  allocations: Allocation[] = [];
  readonly evaluations: Evaluation[] = [];
  deployments: Deployment[] = [];
  readonly versions = new Map<number, Job>();
  index = 10;
  time = now;
  #ids = 0;

  constructor(
    public job: Job | undefined,
    public nodes: Node[] = [nodeFrom('n1')],
  ) {
    if (job !== undefined) this.versions.set(job.Version, job);
  }

  register(job: Job): void {
    this.job = job;
    this.versions.set(job.Version, job);
  }

  evaluate(change: Partial<Evaluation> = {}): SchedulingResult {
    this.index += 1;
    const result = schedule(
      {
        job: this.job,
        allocations: this.allocations,
        versions: this.versions,
        deployments: this.deployments,
        cluster: clusterFrom(this.nodes, this.allocations),
        configuration: defaultSchedulerConfiguration,
        pool: undefined,
        readAllocation: (id) => this.allocations.find(({ ID }) => ID === id),
        index: this.index,
      },
      { ...this.#evaluation(), ...change },
      this.time,
      { next: () => `id-${++this.#ids}` },
    );
    const changed = new Map(result.allocations.map((allocation) => [allocation.ID, allocation]));
    this.allocations = [...this.allocations.filter(({ ID }) => !changed.has(ID)), ...changed.values()];
    const written = new Set(result.deployments.map(({ ID }) => ID));
    this.deployments = [...this.deployments.filter(({ ID }) => !written.has(ID)), ...result.deployments];
    this.evaluations.push(result.evaluation, ...result.followUps);
    return result;
  }

  report(status: ClientStatus, which: (allocation: Allocation) => boolean = () => true): void {
    const at = new Date(this.time).toISOString();
    this.allocations = this.allocations.map((allocation) =>
      isTerminalAllocation(allocation) || !which(allocation)
        ? allocation
        : { ...allocation, ClientStatus: status, TaskStates: { main: endedTask(status === 'failed', at) } },
    );
  }

  live(): Allocation[] {
    return this.allocations.filter((allocation) => !isTerminalAllocation(allocation));
  }

  names(): string[] {
    return this.live()
      .map(({ Name }) => Name)
      .sort();
  }

  #evaluation(): Evaluation {
    return {
      ID: `eval-${++this.#ids}`,
      Namespace: 'default',
      Priority: 50,
      Type: this.job?.Type ?? 'service',
      TriggeredBy: 'job-register',
      JobID: this.job?.ID ?? 'web',
      Status: 'pending',
      CreateIndex: this.index,
      ModifyIndex: this.index,
      CreateTime: 0,
      ModifyTime: 0,
    };
  }
}

function endedTask(failed: boolean, at: string): NonNullable<Allocation['TaskStates']>[string] {
  return {
    State: 'dead',
    Failed: failed,
    Restarts: 0,
    LastRestart: null,
    StartedAt: at,
    FinishedAt: at,
    Events: null,
    Paused: '',
  };
}

const withCount = (count: number, change: Record<string, unknown> = {}): Record<string, unknown> => ({
  TaskGroups: [groupDocument({ Count: count, ...change })],
});

describe('placing', () => {
  it('places the missing allocations with the lowest names and completes the evaluation', () => {
    const cluster = new Cluster(jobFrom(withCount(3)));
    const { evaluation, followUps } = cluster.evaluate();
    expect(cluster.names()).toEqual(['web.app[0]', 'web.app[1]', 'web.app[2]']);
    expect(evaluation).toMatchObject({ Status: 'complete', QueuedAllocations: { app: 0 } });
    expect(evaluation.FailedTGAllocs).toBeUndefined();
    expect(followUps).toEqual([]);
  });

  it('changes nothing when nothing is missing', () => {
    const cluster = new Cluster(jobFrom(withCount(2)));
    cluster.evaluate();
    expect(cluster.evaluate().allocations).toEqual([]);
  });

  it('spreads a group over the nodes rather than stacking it on one', () => {
    const cluster = new Cluster(jobFrom(withCount(2)), [nodeFrom('n1'), nodeFrom('n2')]);
    cluster.evaluate();
    expect(new Set(cluster.live().map(({ NodeID }) => NodeID)).size).toBe(2);
  });

  it.each<[string, Record<string, unknown>, Partial<Node>, Partial<Record<string, unknown>>]>([
    ['cpu', { CPU: 2000 }, {}, { DimensionExhausted: { cpu: 1 } }],
    ['memory', { MemoryMB: 2000 }, {}, { DimensionExhausted: { memory: 1 } }],
    ['driver', {}, { Drivers: {} }, { ConstraintFiltered: { 'missing drivers': 1 } }],
    ['a node that is not ready', {}, { Status: 'initializing' }, { NodesEvaluated: 0 }],
    ['an ineligible node', {}, { SchedulingEligibility: 'ineligible' }, { NodesEvaluated: 0 }],
    ['another datacenter', {}, { Datacenter: 'east' }, { NodesEvaluated: 0 }],
    ['another pool', {}, { NodePool: 'gpu' }, { NodesEvaluated: 0 }],
  ])('blocks when nothing fits: %s', (_name, resources, node, metric) => {
    const job = jobFrom({
      Datacenters: ['dc1'],
      TaskGroups: [groupDocument({ Count: 2 }, { Resources: { CPU: 100, MemoryMB: 100, ...resources } })],
    });
    const { evaluation, followUps } = new Cluster(job, [nodeFrom('n1', node)]).evaluate();
    expect(evaluation).toMatchObject({
      Status: 'complete',
      QueuedAllocations: { app: 2 },
      FailedTGAllocs: { app: { ...metric, CoalescedFailures: 1 } },
    });
    expect(followUps).toMatchObject([{ Status: 'blocked', TriggeredBy: 'queued-allocs', PreviousEval: evaluation.ID }]);
    expect(evaluation.BlockedEval).toBe(followUps[0]?.ID);
  });

  it('places what fits and queues the rest; the blocked evaluation finishes when there is room', () => {
    const cluster = new Cluster(jobFrom(withCount(12)));
    const { evaluation, followUps } = cluster.evaluate();
    expect(cluster.live()).toHaveLength(10);
    expect(evaluation.QueuedAllocations).toEqual({ app: 2 });
    const blocked = followUps[0] as Evaluation;
    const stillFull = cluster.evaluate(blocked);
    expect(stillFull.evaluation).toMatchObject({ ID: blocked.ID, Status: 'blocked', QueuedAllocations: { app: 2 } });
    expect(stillFull.followUps).toEqual([]);
    cluster.nodes = [...cluster.nodes, nodeFrom('n2')];
    const relieved = cluster.evaluate(blocked);
    expect(relieved.evaluation).toMatchObject({ ID: blocked.ID, Status: 'complete' });
    expect(relieved.evaluation.FailedTGAllocs).toBeUndefined();
    expect(cluster.live()).toHaveLength(12);
  });

  it('honours distinct_hosts', () => {
    const job = jobFrom({ Constraints: [{ Operand: 'distinct_hosts' }], ...withCount(3) });
    const cluster = new Cluster(job, [nodeFrom('n1'), nodeFrom('n2')]);
    const { evaluation } = cluster.evaluate();
    expect(cluster.live()).toHaveLength(2);
    expect(evaluation.FailedTGAllocs?.['app']?.ConstraintFiltered).toEqual({ distinct_hosts: 2 });
  });
});

describe('stopping', () => {
  it('stops the highest names when the count falls', () => {
    const cluster = new Cluster(jobFrom(withCount(4)));
    cluster.evaluate();
    cluster.register(jobFrom(withCount(2), { Version: 1 }));
    cluster.evaluate();
    expect(cluster.names()).toEqual(['web.app[0]', 'web.app[1]']);
  });

  it('stops everything of a stopped job, of a purged job, and of a group that is gone', () => {
    const stopped = new Cluster(jobFrom(withCount(2)));
    stopped.evaluate();
    stopped.register({ ...jobFrom(withCount(2), { Version: 1 }), Stop: true });
    stopped.evaluate();
    expect(stopped.live()).toEqual([]);

    const purged = new Cluster(jobFrom(withCount(2)));
    purged.evaluate();
    purged.job = undefined;
    purged.evaluate();
    expect(purged.live()).toEqual([]);

    const renamed = new Cluster(jobFrom(withCount(1)));
    renamed.evaluate();
    renamed.register(jobFrom({ TaskGroups: [groupDocument({ Name: 'other' })] }, { Version: 1 }));
    renamed.evaluate();
    expect(renamed.names()).toEqual(['web.other[0]']);
  });
});

describe('a new version', () => {
  it('lets allocations go on when only what they can take over has changed', () => {
    const cluster = new Cluster(jobFrom(withCount(1)));
    cluster.evaluate();
    const [before] = cluster.live();
    cluster.register(jobFrom(withCount(2), { Version: 1 }));
    cluster.evaluate();
    expect(cluster.live()).toHaveLength(2);
    expect(cluster.live().find(({ ID }) => ID === before?.ID)).toMatchObject({ JobVersion: 1, DesiredStatus: 'run' });
  });

  it('replaces allocations when the task has changed, under the same name', () => {
    const cluster = new Cluster(jobFrom(withCount(1)));
    cluster.evaluate();
    const [before] = cluster.live();
    cluster.register(jobFrom({ TaskGroups: [groupDocument({}, { Env: { A: '1' } })] }, { Version: 1 }));
    cluster.evaluate();
    const [after] = cluster.live();
    expect(cluster.live()).toHaveLength(1);
    expect(after).toMatchObject({ Name: 'web.app[0]', JobVersion: 1, PreviousAllocation: before?.ID });
    expect(cluster.allocations.find(({ ID }) => ID === before?.ID)).toMatchObject({
      DesiredStatus: 'stop',
      NextAllocation: after?.ID,
    });
  });

  it('does not stop the old allocation when the new one cannot be placed', () => {
    const cluster = new Cluster(jobFrom(withCount(1)));
    cluster.evaluate();
    cluster.register(jobFrom({ TaskGroups: [groupDocument({}, { Driver: 'docker' })] }, { Version: 1 }));
    cluster.evaluate();
    expect(cluster.live()).toMatchObject([{ JobVersion: 0, DesiredStatus: 'run' }]);
  });
});

describe('updates without deployments', () => {
  it('replaces everything at once, without canaries that nobody could promote', () => {
    const update = { MaxParallel: 0, Canary: 1 };
    const cluster = new Cluster(jobFrom(withCount(2, { Update: update })));
    cluster.evaluate();
    const tasks = groupDocument({}, { Config: { command: '/bin/false' } })['Tasks'];
    cluster.register(jobFrom(withCount(2, { Update: update, Tasks: tasks }), { Version: 1 }));
    const { desiredUpdates } = cluster.evaluate();
    expect(desiredUpdates['app']).toMatchObject({ DestructiveUpdate: 2, Canary: 0 });
    expect(cluster.live()).toMatchObject([{ JobVersion: 1 }, { JobVersion: 1 }]);
    expect(cluster.evaluate().allocations).toEqual([]);
  });
});

describe('batch jobs', () => {
  const batch = (group: Record<string, unknown> = {}): Job =>
    jobFrom({ Type: 'batch', TaskGroups: [groupDocument(group)] });

  it('does not run again what has completed', () => {
    const cluster = new Cluster(batch());
    cluster.evaluate();
    cluster.report('complete');
    expect(cluster.evaluate().allocations).toEqual([]);
  });

  it('tells everything that it has of a group that is gone as stopped', () => {
    const cluster = new Cluster(jobFrom({ ...withCount(3), Type: 'batch' }));
    cluster.evaluate();
    cluster.report('running');
    cluster.register(jobFrom({ ...withCount(2), Type: 'batch' }, { Version: 1 }));
    cluster.evaluate();
    cluster.register(jobFrom({ ...withCount(0), Type: 'batch' }, { Version: 2 }));
    const { desiredUpdates, allocations } = cluster.evaluate();
    expect(desiredUpdates['app']).toMatchObject({ Stop: 3 });
    expect(allocations).toHaveLength(2);
  });

  it('runs a new version of a completed job', () => {
    const cluster = new Cluster(batch());
    cluster.evaluate();
    cluster.report('complete');
    cluster.register({ ...batch(), Version: 1 });
    cluster.evaluate();
    expect(cluster.live()).toMatchObject([{ JobVersion: 1 }]);
  });

  it('reschedules a failure once, after the delay of the policy, and then gives up', () => {
    const cluster = new Cluster(batch());
    cluster.evaluate();
    cluster.report('failed');
    const { followUps } = cluster.evaluate();
    expect(followUps).toMatchObject([
      { TriggeredBy: 'alloc-reschedule', WaitUntil: new Date(now + 5000).toISOString() },
    ]);
    cluster.time = now + 5000;
    cluster.evaluate(followUps[0]);
    expect(cluster.live()).toHaveLength(1);
    expect(cluster.live()[0]?.RescheduleTracker?.Events).toHaveLength(1);
    expect(cluster.live()[0]?.RescheduleTracker?.LastReschedule).toBe('ok');
    // What the plan says of the first one, which replaced none itself.
    expect(cluster.allocations[0]).toMatchObject({
      NextAllocation: cluster.live()[0]?.ID,
      RescheduleTracker: { Events: null, LastReschedule: 'ok' },
    });
    cluster.report('failed');
    const last = cluster.evaluate();
    expect(cluster.live()).toEqual([]);
    expect(last.followUps).toEqual([]);
  });

  it('counts what a user stopped for its replacement as moved', () => {
    const policy = { Attempts: 2, Interval: 3600e9, Delay: 20e9, DelayFunction: 'constant' };
    const cluster = new Cluster(jobFrom({ ...withCount(1, { ReschedulePolicy: policy }), Type: 'batch' }));
    cluster.evaluate();
    const [first] = cluster.allocations;
    cluster.allocations = cluster.allocations.map((one) => ({
      ...one,
      ClientStatus: 'running',
      DesiredTransition: { ...one.DesiredTransition, Migrate: true, Reschedule: true },
    }));
    cluster.time += 30_000;
    const { desiredUpdates } = cluster.evaluate({ TriggeredBy: 'alloc-stop' });
    expect(desiredUpdates['app']).toMatchObject({ Migrate: 1, Place: 1, Stop: 0 });
    expect(cluster.live()).toMatchObject([{ Name: 'web.app[0]', PreviousAllocation: first?.ID }]);
  });

  it('does not reschedule where the policy allows none', () => {
    const cluster = new Cluster(batch({ ReschedulePolicy: { Attempts: 0, Unlimited: false } }));
    cluster.evaluate();
    cluster.report('failed');
    expect(cluster.evaluate()).toMatchObject({ allocations: [], followUps: [] });
  });
});

describe('lost nodes and failures of services', () => {
  it('replaces what ran on a node that is down', () => {
    const cluster = new Cluster(jobFrom(withCount(2)), [nodeFrom('n1')]);
    cluster.evaluate();
    cluster.report('running');
    cluster.nodes = [nodeFrom('n1', { Status: 'down' }), nodeFrom('n2')];
    cluster.evaluate();
    expect(cluster.live().map(({ NodeID, Name }) => [NodeID, Name])).toEqual([
      ['n2', 'web.app[0]'],
      ['n2', 'web.app[1]'],
    ]);
    expect(cluster.allocations.filter(({ ClientStatus }) => ClientStatus === 'lost')).toHaveLength(2);
  });

  it('waits longer with each failure of a service, and prefers a node where it has not failed', () => {
    const cluster = new Cluster(jobFrom(withCount(1, { Update: { MaxParallel: 0 } })), [
      nodeFrom('n1'),
      nodeFrom('n2'),
    ]);
    cluster.evaluate();
    const delays: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const failedOn = cluster.live()[0]?.NodeID;
      cluster.report('failed');
      const { followUps } = cluster.evaluate();
      const due = Date.parse(followUps[0]?.WaitUntil ?? '');
      delays.push((due - cluster.time) / 1000);
      cluster.time = due;
      cluster.evaluate(followUps[0]);
      if (round === 0) expect(cluster.live()[0]?.NodeID).not.toBe(failedOn);
    }
    expect(delays).toEqual([30, 60, 120, 240]);
  });

  it('replaces a service that ended although it should not', () => {
    const cluster = new Cluster(jobFrom(withCount(1)));
    cluster.evaluate();
    cluster.report('complete');
    cluster.evaluate();
    expect(cluster.names()).toEqual(['web.app[0]']);
  });
});

describe('system jobs', () => {
  it('runs on every node that can take it, and on new ones', () => {
    const cluster = new Cluster(jobFrom({ Type: 'system' }), [
      nodeFrom('n1'),
      nodeFrom('n2'),
      nodeFrom('n3', { Drivers: {} }),
    ]);
    cluster.evaluate();
    expect(cluster.live().map(({ NodeID }) => NodeID)).toEqual(['n1', 'n2']);
    cluster.nodes = [...cluster.nodes, nodeFrom('n4')];
    cluster.evaluate();
    expect(cluster.live().map(({ NodeID }) => NodeID)).toEqual(['n1', 'n2', 'n4']);
  });
});
