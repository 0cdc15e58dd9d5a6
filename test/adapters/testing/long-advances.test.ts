import { errAsync } from 'neverthrow';
import { expect, test } from 'vitest';
import { type TestEngine, testEngine } from '../../../adapters/testing/index.js';
import { agentPorts, orThrow } from '../../../src/index.js';
import { nodes } from '../../../src/scheduler/node.js';
import { day, minute, second } from '../../../src/shared/duration.js';
import { nodeFrom } from '../../support/nodes.js';

const statuses = ({ engine }: TestEngine): Promise<readonly string[]> =>
  orThrow(engine.storage.read((view) => view.list(nodes).map(({ record }) => record.Status)));

const indexOf = ({ engine }: TestEngine): Promise<number> => orThrow(engine.storage.read((view) => view.index));

test('while nothing happens, hardly anything is written: a year plays in no time', async () => {
  await using world = await testEngine();
  const before = await indexOf(world);
  await world.advance(365 * day);
  // Not a heartbeat every ten seconds, which would be three million.
  expect((await indexOf(world)) - before).toBeLessThan(2000);
  expect(await statuses(world)).toEqual(['ready']);
});

test('an agent without heartbeats that has ended without leaving is silent from then on', async () => {
  await using world = await testEngine();
  const { link } = agentPorts(world.engine, { heartbeats: false });
  const node = nodeFrom('11111111-2222-3333-4444-555555555555');
  await orThrow(link.register(node));
  const stop = link.serve(node.ID, () => errAsync({ type: 'command_failed', message: 'nothing to do' }));
  const status = async (): Promise<string | undefined> =>
    orThrow(world.engine.storage.read((view) => view.get(nodes, [node.ID])?.record.Status));
  await world.advance(day + 7 * second);
  expect(await status()).toBe('ready');
  stop();
  await world.advance(20 * second);
  expect(await status()).toBe('ready');
  await world.advance(minute);
  expect(await status()).toBe('down');
});
