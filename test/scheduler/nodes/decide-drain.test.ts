import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import type { DrainStrategy } from '../../../src/scheduler/node.js';
import { decideDrains } from '../../../src/scheduler/nodes/decide-drain.js';
import { second } from '../../../src/shared/duration.js';
import { nodeFrom } from '../../support/nodes.js';
import { ago, allocationWith, jobWith, now } from '../reconcile/situations.js';

const migrate = { MaxParallel: 1, HealthCheck: 'task_states', MinHealthyTime: 10e9, HealthyDeadline: 300e9 };
/** Three are wanted, and one may be missing. */
const service = jobWith({ Migrate: migrate });

const healthy = (ID: string, change: Partial<Allocation> = {}): Allocation =>
  allocationWith({
    ID,
    NodeID: 'n1',
    DeploymentStatus: { Healthy: true, Timestamp: ago(60), Canary: false, ModifyIndex: 1 },
    ...change,
  });
/** Outside of deployments: its task has run for so many seconds. */
const started = (ID: string, seconds: number, change: Partial<Allocation> = {}): Allocation =>
  allocationWith({
    ID,
    NodeID: 'n1',
    TaskStates: { main: { State: 'running', StartedAt: ago(seconds) } } as unknown as NonNullable<
      Allocation['TaskStates']
    >,
    ...change,
  });
const unjudged = (ID: string): Allocation => started(ID, 60, { DeploymentID: 'd' });
const moving = { DesiredTransition: { ...allocationWith().DesiredTransition, Migrate: true } };
const of = (JobType: Allocation['JobType']) => (ID: string) => healthy(ID, { JobType });
const [batch, sysbatch, system] = [of('batch'), of('sysbatch'), of('system')];

interface Given {
  readonly own: readonly Allocation[];
  /** Live ones of the job on other nodes. */
  readonly others?: readonly Allocation[];
  readonly strategy?: Partial<DrainStrategy>;
  readonly job?: Job | undefined;
}

function decided({ own, others = [], strategy = {}, ...rest }: Given) {
  const job = 'job' in rest ? rest.job : service;
  const DrainStrategy = { Deadline: 0, IgnoreSystemJobs: false, ForceDeadline: null, StartedAt: ago(60), ...strategy };
  const node = { ...nodeFrom('n1'), DrainStrategy };
  const decision = decideDrains({
    nodes: [{ node, allocations: own }],
    jobOf: () => job,
    liveOf: () => [...own, ...others],
    now,
  });
  return {
    leave: decision.migrations.map(({ allocation, transition }) =>
      transition.MigrateDisablePlacement === true ? `${allocation.ID} ends` : allocation.ID,
    ),
    done: decision.completed.length === 1,
    next: decision.next === undefined ? undefined : (decision.next - now) / second,
  };
}

const passed = { Deadline: 60e9, ForceDeadline: ago(0) };
const ahead = { Deadline: 60e9, ForceDeadline: ago(-30) };
const nothing = { leave: [], done: false, next: undefined };

describe('a node that is emptied', () => {
  it.each<[string, Given, Partial<ReturnType<typeof decided>>]>([
    ['gives up as many as may be missing', { own: [healthy('a'), healthy('b'), healthy('c')] }, { leave: ['a'] }],
    [
      'gives up more where the migrate block allows it',
      { own: [healthy('a'), healthy('b'), healthy('c')], job: jobWith({ Migrate: { ...migrate, MaxParallel: 2 } }) },
      { leave: ['a', 'b'] },
    ],
    ['gives up none while one is moving', { own: [healthy('a', moving), healthy('b'), healthy('c')] }, {}],
    [
      'goes on when its replacement is healthy',
      { own: [healthy('a', moving), healthy('b'), healthy('c')], others: [healthy('d', { NodeID: 'n2' })] },
      { leave: ['b'] },
    ],
    ['gives up none when too few are healthy', { own: [healthy('a'), healthy('b'), unjudged('c')] }, {}],
    [
      'counts what is known to be unhealthy, which would hold it up for ever',
      {
        own: [
          healthy('a'),
          healthy('b'),
          healthy('c', { DeploymentStatus: { Healthy: false, Timestamp: ago(1), Canary: false, ModifyIndex: 1 } }),
        ],
      },
      { leave: ['a'] },
    ],
    [
      'counts what has run for min_healthy_time outside of deployments',
      { own: [started('a', 10), started('b', 10), started('c', 10)] },
      { leave: ['a'] },
    ],
    [
      'waits for what has not run so long',
      { own: [started('a', 60), started('b', 60), started('c', 4)] },
      { leave: [], next: 6 },
    ],
    [
      'does not count what has not begun',
      { own: [healthy('a'), healthy('b'), started('c', 60, { ClientStatus: 'pending' })] },
      {},
    ],
    [
      'does not count other groups',
      { own: [healthy('a'), healthy('b')], others: [healthy('d', { TaskGroup: 'other', NodeID: 'n2' })] },
      {},
    ],
    [
      'gives up everything of a job that was stopped',
      { own: [healthy('a'), healthy('b')], job: { ...service, Stop: true } },
      { leave: ['a', 'b'] },
    ],
    [
      'gives up everything of a job that was purged',
      { own: [healthy('a'), healthy('b')], job: undefined },
      { leave: ['a', 'b'] },
    ],
    ['lets batch work run on', { own: [batch('a'), sysbatch('b')] }, {}],
    ['is not done while batch work runs', { own: [batch('a'), system('s')] }, {}],
    ['waits for its deadline', { own: [batch('a')], strategy: ahead }, { next: 30 }],
    [
      'gives up everything at its deadline, and batch work is not begun elsewhere',
      { own: [healthy('a'), healthy('b'), batch('c'), sysbatch('d'), system('s')], strategy: passed },
      { leave: ['a', 'b', 'c ends', 'd ends', 's'] },
    ],
    [
      'gives up everything at once with a deadline below 0',
      { own: [healthy('a'), healthy('b'), batch('c')], strategy: { Deadline: -1 } },
      { leave: ['a', 'b', 'c ends'] },
    ],
    ['asks nobody twice', { own: [healthy('a', moving), batch('c')], strategy: passed }, { leave: ['c ends'] }],
    [
      'leaves system jobs where they are when told to, also at its deadline',
      { own: [healthy('a'), system('s')], strategy: { ...passed, IgnoreSystemJobs: true } },
      { leave: ['a'] },
    ],
    ['gives up system jobs last, and is done then', { own: [system('s')] }, { leave: ['s'], done: true }],
    [
      'is done with its system jobs where they are when told so',
      { own: [system('s')], strategy: { IgnoreSystemJobs: true } },
      { done: true },
    ],
    ['is done without allocations', { own: [] }, { done: true }],
  ])('%s', (_what, given, expected) => {
    expect(decided(given)).toEqual({ ...nothing, ...expected });
  });

  it('keeps to what may be missing together with another one', () => {
    const allocations = [healthy('a'), healthy('b', { NodeID: 'n2' }), healthy('c', { NodeID: 'n3' })];
    const strategy = { Deadline: 0, IgnoreSystemJobs: false, ForceDeadline: null, StartedAt: ago(60) };
    const nodes = ['n1', 'n2'].map((id) => ({
      node: { ...nodeFrom(id), DrainStrategy: strategy },
      allocations: allocations.filter(({ NodeID }) => NodeID === id),
    }));
    const decision = decideDrains({ nodes, jobOf: () => service, liveOf: () => allocations, now });
    expect(decision.migrations.map(({ allocation }) => allocation.ID)).toEqual(['a']);
  });
});
