import { expect, it } from 'vitest';
import { memoryStorage, recordingDelivery, sequentialIds } from '../adapters/memory/index.js';
import { manualClock } from '../adapters/memory/manual-clock.js';
import { createEngine } from '../src/index.js';

function engineAt() {
  const clock = manualClock();
  return createEngine({
    storage: memoryStorage(),
    clock,
    ids: sequentialIds(),
    delivery: recordingDelivery({ clock }),
  });
}

it('the host gets principals of tokens and tasks, and makes tokens', async () => {
  const { host } = engineAt();
  expect((await host.authenticate('unknown'))._unsafeUnwrap()).toBeUndefined();
  expect((await host.authenticate(undefined))._unsafeUnwrap()).toMatchObject({ management: false });
  const first = (await host.bootstrapToken())._unsafeUnwrap();
  expect((await host.authenticate(first?.secret))._unsafeUnwrap()).toMatchObject({ management: true });
  expect((await host.bootstrapToken())._unsafeUnwrap()).toBeUndefined();
  const own = (await host.putToken({ name: 'ci' }))._unsafeUnwrap();
  expect((await host.authenticate(own.secret))._unsafeUnwrap()).toMatchObject({ name: 'ci', management: false });
  expect((await host.listTokens())._unsafeUnwrap().map(({ name }) => name)).toEqual(['Bootstrap Token', 'ci']);
  const workload = { namespace: 'default', jobId: 'web', group: 'g', task: 't' };
  expect((await host.workload(workload))._unsafeUnwrap()).toMatchObject({ management: false });
});

it('the host checks and encrypts the secrets of the store, and whether it can be written', async () => {
  const { host, storage } = engineAt();
  expect((await host.probeStore()).isOk()).toBe(true);
  expect((await host.checkSecrets())._unsafeUnwrap()).toEqual({ unreadable: 0, example: null, outdated: 0 });
  expect((await host.resealSecrets())._unsafeUnwrap()).toBe(0);
  await storage.close();
  expect((await host.probeStore())._unsafeUnwrapErr()).toMatchObject({ type: 'storage_failed', reason: 'closed' });
});
