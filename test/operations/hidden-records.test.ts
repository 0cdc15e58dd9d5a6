import type { ResultAsync } from 'neverthrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Capability,
  failDeployment,
  hostPrincipal,
  type Principal,
  pauseDeployment,
  promoteDeployment,
  putNamespace,
  readAllocation,
  readDeployment,
  registerJob,
  setAllocationHealth,
  unblockDeployment,
} from '../../src/index.js';
import {
  listAllocationFiles,
  readAllocationFile,
  streamTaskLogs,
} from '../../src/operations/allocations/read-allocation-files.js';
import { execInAllocation } from '../../src/operations/allocations/run-in-allocation.js';
import {
  readAllocationChecks,
  readAllocationStats,
  restartAllocation,
  signalAllocation,
} from '../../src/operations/allocations/steer-allocation.js';
import { collectAllocation } from '../../src/operations/allocations/steer-node.js';
import { stopAllocation } from '../../src/operations/allocations/stop-allocation.js';
import type { EngineContext } from '../../src/operations/context/engine-context.js';
import { listAllocationServices } from '../../src/operations/services/read-services.js';
import { allocations } from '../../src/scheduler/allocation.js';
import { deployments } from '../../src/scheduler/deployment/deployment.js';
import { second } from '../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../support/fake-agents.js';
import { group } from './jobs/world.js';

/* What is in a namespace where the caller has no right is answered as what does not exist. */

const missing = '11111111-2222-4333-8444-555555555555';

const callerIn = (namespace: string, ...capabilities: readonly Capability[]): Principal => ({
  accessor: 'a',
  name: 'a',
  management: false,
  namespaces: { [namespace]: { capabilities } },
  workspaces: {},
});

type Operation = (engine: EngineContext, caller: Principal, id: string) => ResultAsync<unknown, unknown>;

const ofAllocations: readonly (readonly [string, Capability, Operation])[] = [
  ['read', 'read-job', (engine, caller, id) => readAllocation(engine, caller, { id })],
  ['services', 'read-job', (engine, caller, allocationId) => listAllocationServices(engine, caller, { allocationId })],
  ['stats', 'read-job', (engine, caller, allocationId) => readAllocationStats(engine, caller, { allocationId })],
  ['checks', 'read-job', (engine, caller, allocationId) => readAllocationChecks(engine, caller, { allocationId })],
  [
    'files',
    'read-fs',
    (engine, caller, allocationId) => listAllocationFiles(engine, caller, { allocationId, path: '/' }),
  ],
  [
    'file',
    'read-fs',
    (engine, caller, allocationId) => readAllocationFile(engine, caller, { allocationId, path: '/' }),
  ],
  [
    'logs',
    'read-logs',
    (engine, caller, allocationId) =>
      streamTaskLogs(engine, caller, {
        ...{ allocationId, task: 't', stream: 'stdout', offset: 0, origin: 'start', follow: false },
      }),
  ],
  [
    'exec',
    'alloc-exec',
    (engine, caller, allocationId) => execInAllocation(engine, caller, { allocationId, task: 't', command: ['true'] }),
  ],
  ['restart', 'alloc-lifecycle', (engine, caller, allocationId) => restartAllocation(engine, caller, { allocationId })],
  [
    'signal',
    'alloc-lifecycle',
    (engine, caller, allocationId) => signalAllocation(engine, caller, { allocationId, signal: 'SIGHUP' }),
  ],
  ['stop', 'alloc-lifecycle', (engine, caller, allocationId) => stopAllocation(engine, caller, { allocationId })],
  ['collect', 'gc-allocation', (engine, caller, allocationId) => collectAllocation(engine, caller, { allocationId })],
];

const ofDeployments: readonly (readonly [string, Capability, Operation])[] = [
  ['read', 'read-job', (engine, caller, id) => readDeployment(engine, caller, { id })],
  ['fail', 'fail-deployment', (engine, caller, deploymentId) => failDeployment(engine, caller, { deploymentId })],
  [
    'pause',
    'pause-deployment',
    (engine, caller, deploymentId) => pauseDeployment(engine, caller, { deploymentId, pause: true }),
  ],
  [
    'promote',
    'promote-deployment',
    (engine, caller, deploymentId) => promoteDeployment(engine, caller, { deploymentId }),
  ],
  [
    'health',
    'set-alloc-health-deployment',
    (engine, caller, deploymentId) => setAllocationHealth(engine, caller, { deploymentId, healthy: [missing] }),
  ],
  [
    'unblock',
    'unblock-deployment',
    (engine, caller, deploymentId) => unblockDeployment(engine, caller, { deploymentId }),
  ],
];

describe('hidden records', () => {
  let cluster: FakeCluster;
  let hiddenAllocation: string;
  let hiddenDeployment: string;

  beforeAll(async () => {
    cluster = fakeCluster();
    await cluster.addNode('n1');
    (await putNamespace(cluster.engine, hostPrincipal, { name: 'other' }))._unsafeUnwrap();
    const update = { MaxParallel: 1, HealthCheck: 'manual', MinHealthyTime: 1_000_000, HealthyDeadline: 600e9 };
    const job = {
      ID: 'web',
      Namespace: 'other',
      Update: { ...update, ProgressDeadline: 900e9 },
      TaskGroups: [group()],
    };
    (await registerJob(cluster.engine, hostPrincipal, { job: job as never }))._unsafeUnwrap();
    await cluster.clock.advance(10 * second);
    hiddenAllocation = (await cluster.rows(allocations))[0]?.ID ?? '';
    hiddenDeployment = (await cluster.rows(deployments))[0]?.ID ?? '';
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  /** The answer, with the ID that was asked for taken out of its texts. */
  const answerTo = async (operation: Operation, caller: Principal, id: string): Promise<unknown> => {
    const result = await operation(cluster.engine, caller, id);
    const shown = result.isOk() ? { ok: result.value } : { error: result.error };
    return JSON.parse(JSON.stringify(shown).replaceAll(id, 'ID'));
  };

  it.each(ofAllocations)('%s of an allocation', async (_what, capability, operation) => {
    const caller = callerIn('default', capability);
    expect(hiddenAllocation).not.toBe('');
    expect(await answerTo(operation, caller, hiddenAllocation)).toEqual(await answerTo(operation, caller, missing));
  });

  it.each(ofDeployments)('%s of a deployment', async (_what, capability, operation) => {
    const elsewhere = callerIn('default', capability);
    expect(hiddenDeployment).not.toBe('');
    expect(await answerTo(operation, elsewhere, hiddenDeployment)).toEqual(
      await answerTo(operation, elsewhere, missing),
    );
    const nowhere = callerIn('default', 'parse-job');
    expect(await answerTo(operation, nowhere, hiddenDeployment)).toEqual(await answerTo(operation, nowhere, missing));
  });
});
