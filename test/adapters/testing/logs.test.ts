import { expect, it } from 'vitest';
import { testEngine } from '../../../adapters/testing/index.js';
import { hostPrincipal, orThrow } from '../../../src/index.js';

it('tells that a runner without a directory keeps no logs', async () => {
  await using world = await testEngine({ functions: { say: ({ log }) => log.info('hello') } });
  const box = world.engine.as(hostPrincipal);
  const task = { Name: 'say', Driver: 'function', Config: { function: 'say' } };
  await orThrow(box.jobs.register({ ID: 'say', Type: 'batch', TaskGroups: [{ Name: 'main', Tasks: [task] }] }));
  await world.advance(1000);
  const [allocation] = (await orThrow(box.jobs.allocations('say'))).value ?? [];
  const logs = box.files.logs(allocation?.ID ?? '', { task: 'say', type: 'stdout' });
  await expect(logs[Symbol.asyncIterator]().next()).rejects.toThrow(
    'The runner of this node has no data directory, so it keeps no files or logs of allocations',
  );
});
