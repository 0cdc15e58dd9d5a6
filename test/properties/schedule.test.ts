import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Job } from '../../src/jobs/document/job.js';
import { type Allocation, isTerminalAllocation } from '../../src/scheduler/allocation.js';
import { addCapacity, capacityUsedBy, noCapacity } from '../../src/scheduler/cluster/capacity.js';
import { clusterFrom } from '../../src/scheduler/cluster/cluster.js';
import type { Deployment } from '../../src/scheduler/deployment/deployment.js';
import { schedule } from '../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../src/scheduler/scheduler-configuration.js';
import type { SchedulingSnapshot } from '../../src/scheduler/snapshot.js';
import { groupDocument, jobFrom } from '../support/jobs.js';
import { nodeFrom } from '../support/nodes.js';

const step = fc.record({
  type: fc.constantFrom('service', 'batch'),
  count: fc.integer({ min: 0, max: 8 }),
  cpu: fc.integer({ min: 50, max: 600 }),
  change: fc.boolean(),
  nodesUp: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
  reports: fc.array(fc.constantFrom('running', 'complete', 'failed', 'silent'), { minLength: 8, maxLength: 8 }),
  minutes: fc.integer({ min: 0, max: 90 }),
});

/** The store's part: applies results, and lets nodes end what they were told to end. */
it('never promises more than a node has, never runs more than wanted, and is the same for the same arguments', () => {
  fc.assert(
    fc.property(fc.constantFrom('service', 'batch'), fc.array(step, { minLength: 1, maxLength: 12 }), (type, steps) => {
      let allocations: Allocation[] = [];
      let deployments: Deployment[] = [];
      const versions = new Map<number, Job>();
      let now = Date.UTC(2026, 0, 1);
      let version = 0;
      for (const [round, { count, cpu, change, nodesUp, reports, minutes }] of steps.entries()) {
        now += minutes * 60_000;
        version += 1;
        const env = change ? { Env: { ROUND: String(round) } } : {};
        const task = { ...env, Resources: { CPU: cpu, MemoryMB: 20 } };
        const job = jobFrom({ Type: type, TaskGroups: [groupDocument({ Count: count }, task)] }, { Version: version });
        const nodes = nodesUp.map((up, position) => nodeFrom(`n${position}`, { Status: up ? 'ready' : 'down' }));
        versions.set(job.Version, job);
        const snapshot: SchedulingSnapshot = {
          job,
          allocations,
          versions,
          deployments,
          cluster: clusterFrom(nodes, allocations),
          configuration: defaultSchedulerConfiguration,
          pool: undefined,
          readAllocation: () => undefined,
          index: 10 + round,
        };
        const evaluation = {
          ID: `e${round}`,
          Namespace: 'default',
          Priority: 50,
          Type: type,
          TriggeredBy: 'job-register' as const,
          JobID: 'web',
          Status: 'pending' as const,
          CreateIndex: 1,
          ModifyIndex: 1,
          CreateTime: 0,
          ModifyTime: 0,
        };
        const ids = (): { next(): string } => {
          let made = 0;
          return { next: () => `r${round}-${++made}` };
        };
        const result = schedule(snapshot, evaluation, now, ids());
        expect(schedule(snapshot, evaluation, now, ids())).toEqual(result);

        const changed = new Map(result.allocations.map((allocation) => [allocation.ID, allocation]));
        allocations = [...allocations.filter(({ ID }) => !changed.has(ID)), ...changed.values()];
        const written = new Set(result.deployments.map(({ ID }) => ID));
        deployments = [...deployments.filter(({ ID }) => !written.has(ID)), ...result.deployments];
        const live = allocations.filter((allocation) => !isTerminalAllocation(allocation));
        expect(live.length).toBeLessThanOrEqual(count);
        expect(new Set(live.map(({ Name }) => Name)).size).toBe(live.length);
        for (const node of nodes) {
          const onNode = live.filter(({ NodeID }) => NodeID === node.ID);
          const total = onNode.map(capacityUsedBy).reduce(addCapacity, noCapacity);
          expect(total.cpu).toBeLessThanOrEqual(1000);
          if (node.Status === 'down') expect(onNode).toEqual([]);
        }
        const queued = result.evaluation.QueuedAllocations?.['app'] ?? 0;
        expect(queued > 0).toBe(result.evaluation.FailedTGAllocs !== undefined);

        const at = new Date(now).toISOString();
        allocations = allocations.map((allocation, position) => {
          const report = reports[position % reports.length];
          if (allocation.DesiredStatus !== 'run') {
            return allocation.ClientStatus === 'running' || allocation.ClientStatus === 'pending'
              ? { ...allocation, ClientStatus: 'complete' as const }
              : allocation;
          }
          if (isTerminalAllocation(allocation) || report === undefined || report === 'silent') return allocation;
          const dead = report !== 'running';
          return {
            ...allocation,
            ClientStatus: report as 'running' | 'complete' | 'failed',
            TaskStates: {
              main: {
                State: dead ? ('dead' as const) : ('running' as const),
                Failed: report === 'failed',
                Restarts: 0,
                LastRestart: null,
                StartedAt: at,
                FinishedAt: dead ? at : null,
                Events: null,
                Paused: '',
              },
            },
          };
        });
      }
    }),
    { numRuns: 100 },
  );
});
