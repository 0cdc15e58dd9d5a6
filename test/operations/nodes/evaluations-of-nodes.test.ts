import { expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { setNodeEligibility } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { evaluateNode } from '../../../src/operations/nodes/evaluate-node.js';
import { purgeNode } from '../../../src/operations/nodes/purge-node.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes as nodeTable } from '../../../src/scheduler/node.js';
import { groupDocument } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';
import { world } from '../jobs/world.js';

it('a node concerns the jobs that it has allocations of, and the system jobs of its pool and datacenter', async () => {
  const { engine, clock, rows } = world();
  engine.start();
  (await registerNode(engine, hostPrincipal, nodeFrom('gpu-node', { NodePool: 'gpu' })))._unsafeUnwrap();
  (await registerNode(engine, hostPrincipal, nodeFrom('n1', { Datacenter: 'east-1' })))._unsafeUnwrap();
  const small = { TaskGroups: [groupDocument({ Constraints: null }, { Resources: { CPU: 20, MemoryMB: 20 } })] };
  const jobs: Readonly<Record<string, object>> = {
    here: { Type: 'service' },
    elsewhere: { Type: 'service', NodePool: 'gpu' },
    finished: { Type: 'service' },
    'all-pools': { Type: 'system', NodePool: 'all' },
    'by-glob': { Type: 'system', Datacenters: ['east-*'] },
    'other-pool': { Type: 'system', NodePool: 'gpu' },
    'other-datacenter': { Type: 'system', Datacenters: ['west'] },
    'stopped-system': { Type: 'system' },
    'parent-of-none': { Type: 'batch', ParameterizedJob: {} },
  };
  for (const [ID, job] of Object.entries(jobs)) {
    const document = { ID, Datacenters: ['*'], ...small, ...job };
    (await registerJob(engine, hostPrincipal, { job: document }))._unsafeUnwrap();
    await clock.settle();
  }
  for (const jobId of ['finished', 'stopped-system']) {
    (await stopJob(engine, hostPrincipal, { jobId, purge: true }))._unsafeUnwrap();
    await clock.settle();
  }
  const { evalIds, evalCreateIndex } = (await evaluateNode(engine, hostPrincipal, { nodeId: 'n1' }))._unsafeUnwrap();
  const made = (await rows(evaluations)).filter(({ ID }) => evalIds.includes(ID));
  expect(made.map(({ JobID }) => JobID).sort()).toEqual(['all-pools', 'by-glob', 'here']);
  const NodeModifyIndex = (await rows(nodeTable)).find(({ ID }) => ID === 'n1')?.ModifyIndex;
  for (const evaluation of made) {
    const node = { NodeID: 'n1', NodeModifyIndex };
    expect(evaluation).toMatchObject({ TriggeredBy: 'node-update', ...node, CreateIndex: evalCreateIndex });
  }
  await engine.stop();
});

it('the evaluations that a change of a node calls for have the index behind that of the change', async () => {
  const { engine, clock, rows } = world();
  engine.start();
  (await registerNode(engine, hostPrincipal, nodeFrom('n1')))._unsafeUnwrap();
  const TaskGroups = [groupDocument({ Constraints: null }, { Resources: { CPU: 20, MemoryMB: 20 } })];
  (await registerJob(engine, hostPrincipal, { job: { ID: 'here', Datacenters: ['*'], TaskGroups } }))._unsafeUnwrap();
  await clock.settle();
  const set = async (eligibility: string) =>
    (await setNodeEligibility(engine, hostPrincipal, { nodeId: 'n1', eligibility }))._unsafeUnwrap();
  expect(await set('ineligible')).toMatchObject({ evalIds: [], evalCreateIndex: 0 });
  const again = await set('eligible');
  const purged = (await purgeNode(engine, hostPrincipal, { nodeId: 'n1' }))._unsafeUnwrap();
  for (const { index, nodeModifyIndex, evalIds, evalCreateIndex } of [again, purged]) {
    expect({ nodeModifyIndex, evalCreateIndex }).toEqual({ nodeModifyIndex: index, evalCreateIndex: index + 1 });
    const made = (await rows(evaluations)).filter(({ ID }) => evalIds.includes(ID));
    expect(made).toMatchObject([{ JobID: 'here', NodeModifyIndex: nodeModifyIndex, CreateIndex: evalCreateIndex }]);
  }
  expect((await rows(nodeTable)).filter(({ ID }) => ID === 'n1')).toEqual([]);
  await engine.stop();
});
