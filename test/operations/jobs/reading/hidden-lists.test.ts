import { expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../../src/index.js';
import { listDeployments } from '../../../../src/operations/jobs/reading/read-deployments.js';
import { listScalingPolicies } from '../../../../src/operations/jobs/reading/read-scaling-policies.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { putNamespace } from '../../../../src/operations/namespaces/namespaces.js';
import { listServices } from '../../../../src/operations/services/read-services.js';
import { serviceJob, world } from '../world.js';

/** Lists over all namespaces, as callers see them whose rules name only namespaces that do not exist. */
const readerOf = (namespace: string): Principal => ({
  accessor: 'a',
  name: 'a',
  management: false,
  namespaces: { [namespace]: { capabilities: [], policy: 'read' } },
  workspaces: {},
});

it.each([
  ['deployments', listDeployments],
  ['scaling policies', listScalingPolicies],
  ['services', listServices],
] as const)('of %s have the index 0 for those who see no namespace', async (_, list) => {
  const { engine } = world();
  (await putNamespace(engine, hostPrincipal, { name: 'other' }))._unsafeUnwrap();
  (await registerJob(engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
  const indexFor = async (caller: Principal) => (await list(engine, caller, { namespace: '*' }))._unsafeUnwrap().index;
  expect(await indexFor(readerOf('elsewhere'))).toBe(0);
  const all = await indexFor(hostPrincipal);
  expect(await indexFor(readerOf('other'))).toBe(all);
});
