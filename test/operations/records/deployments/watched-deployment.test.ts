import fc from 'fast-check';
import { ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/memory/index.js';
import { jobs } from '../../../../src/jobs/job-record.js';
import { watchedDeployment } from '../../../../src/operations/records/deployments/move-deployment.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import type { Deployment } from '../../../../src/scheduler/deployment/deployment.js';
import { watchedAllocations } from '../../../../src/scheduler/deployment/transition-deployment.js';
import { jobFrom } from '../../../support/jobs.js';

const deployment = {
  ID: 'd',
  Namespace: 'default',
  JobID: 'web',
  JobVersion: 0,
  TaskGroups: { app: { PlacedCanaries: ['a0', 'a1', 'gone'] }, other: { PlacedCanaries: null } },
} as unknown as Deployment;

const rows = fc
  .array(
    fc.record({
      DeploymentID: fc.constantFrom('d', 'd', 'd', 'e', undefined),
      ClientStatus: fc.constantFrom('pending', 'running', 'complete', 'failed'),
      DeploymentStatus: fc.option(
        fc.record({ Healthy: fc.constantFrom(true, false, null), ModifyIndex: fc.integer({ min: 1, max: 9 }) }),
        { nil: undefined },
      ),
    }),
    { maxLength: 12 },
  )
  .map((all) => all.map((row, at) => ({ ...plain, ID: `a${at}`, ...row }) as unknown as Allocation));

const plain = {
  Namespace: 'default',
  JobID: 'web',
  JobVersion: 0,
  JobType: 'service',
  EvalID: 'e',
  NodeID: 'n',
  DesiredStatus: 'run',
  CreateIndex: 1,
  ModifyIndex: 1,
};

it('reads of the allocations what would be found among all of them', async () => {
  const byId = (all: readonly Allocation[]) => all.map(({ ID }) => ID).sort();
  await fc.assert(
    fc.asyncProperty(rows, async (all) => {
      const storage = memoryStorage();
      const written = await storage.write((view) => {
        view.put(jobs, jobFrom({ ID: 'web' }));
        for (const row of all) view.put(allocations, row);
        return ok(undefined);
      });
      written._unsafeUnwrap();
      const own = all.filter(({ DeploymentID }) => DeploymentID === 'd');
      const expected = watchedAllocations(deployment, own);
      const read = await storage.read((view) => {
        const watched = watchedDeployment(view, deployment);
        if (watched === undefined) throw new Error('the job is there');
        const { healthyIndex, failing, canaries } = watched;
        return {
          healthy: byId(watched.healthy),
          named: byId(watched.named(['a1', 'a2', 'nobody'])),
          healthyIndex,
          failing: byId(failing),
          canaries: byId(canaries),
          allocations: byId(watched.allocations),
        };
      });
      expect(read._unsafeUnwrap()).toEqual({
        healthy: byId(expected.healthy),
        named: byId(expected.named(['a1', 'a2', 'nobody'])),
        healthyIndex: expected.healthyIndex,
        failing: byId(expected.failing),
        canaries: byId(expected.canaries),
        allocations: byId(own),
      });
    }),
  );
});
