import { afterAll, expect, test } from 'vitest';
import { connect } from '../../../../src/client/index.js';
import { endAll, signalbox } from '../cli-process.js';

afterAll(() => endAll());

test('a server offers only drivers that can run something, and says which one a job lacks', async () => {
  const server = signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open']);
  const box = connect({ url: await server.origin() });
  const [node] = (await box.nodes.list())._unsafeUnwrap().value.items;
  expect(Object.keys(node?.Drivers ?? {})).toEqual(['raw_exec']);
  const task = { Name: 't', Driver: 'function', Config: { function: 'report' } };
  const job = { ID: 'f', Type: 'batch', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [task] }] } as const;
  (await box.jobs.register(job))._unsafeUnwrap();
  const blocked = async () => {
    const { value } = (await box.jobs.evaluations('f'))._unsafeUnwrap();
    return value.find(({ Status }) => Status === 'blocked')?.FailedTGAllocs?.['g']?.ConstraintFiltered;
  };
  await expect.poll(blocked).toEqual({ 'missing drivers': 1 });
});
