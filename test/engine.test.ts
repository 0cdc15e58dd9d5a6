import { describe, expect, it, vi } from 'vitest';
import { flaky, manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../adapters/memory/index.js';
import { randomIds } from '../adapters/node/index.js';
import { createEngine, defaultSettings, hostPrincipal, settingsFrom } from '../src/index.js';
import { readJob } from '../src/operations/jobs/reading/read-job.js';
import { registerJob } from '../src/operations/jobs/registration/register-job.js';
import { groupDocument } from './support/jobs.js';

const ports = (storage = memoryStorage()) => ({
  storage,
  clock: manualClock(),
  ids: sequentialIds(),
  delivery: recordingDelivery(),
});

describe('an engine', () => {
  it('answers operations without being started, and starts and stops as often as wanted', async () => {
    const engine = createEngine(ports());
    const job = { ID: 'a', Datacenters: ['*'], TaskGroups: [groupDocument()] };
    expect((await registerJob(engine, hostPrincipal, { job })).isOk()).toBe(true);
    for (let round = 0; round < 3; round += 1) {
      engine.start();
      engine.start();
      expect(await engine.stop()).toBe(true);
      expect(await engine.stop()).toBe(true);
    }
  });

  it('may be given any time to stop', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout');
    const engine = createEngine(ports());
    engine.start();
    expect(await engine.stop({ deadline: Number.POSITIVE_INFINITY })).toBe(true);
    expect(timers.mock.calls.map(([, after]) => after)).toContain(2 ** 31 - 1);
    timers.mockRestore();
  });

  it('ends with the block that uses it', async () => {
    const { clock, ...others } = ports();
    {
      await using engine = createEngine({ clock, ...others });
      engine.start();
      await clock.settle();
      expect(clock.sleepers).toBeGreaterThan(0);
    }
    expect(clock.sleepers).toBe(0);
  });

  it('shares a store with others in one process, each seeing what all wrote', async () => {
    const storage = memoryStorage();
    await using first = createEngine(ports(storage));
    await using second = createEngine({ ...ports(storage), ids: randomIds() });
    first.start();
    second.start();
    expect(first.owner).not.toBe('');
    const job = { ID: 'a', Datacenters: ['*'], TaskGroups: [groupDocument()] };
    (await registerJob(first, hostPrincipal, { job }))._unsafeUnwrap();
    const read = (await readJob(second, hostPrincipal, { jobId: 'a' }))._unsafeUnwrap();
    expect(read.value?.record.ID).toBe('a');
  });

  it('reports a loop that fails and keeps it going', async () => {
    const failing = memoryStorage();
    let broken = true;
    const storage = flaky(failing, {
      waitForChange: { calls: () => broken, instead: () => Promise.reject(new Error('the store went away')) },
    });
    const { clock, ...others } = ports();
    const engine = createEngine({ clock, ...others, storage });
    const failures: string[] = [];
    engine.events.on('loop.failed', ({ loop, message }) => failures.push(`${loop}: ${message}`));
    engine.start();
    await clock.settle();
    expect(failures.length).toBeGreaterThan(0);
    broken = false;
    await clock.advance(2000);
    const before = failures.length;
    await clock.advance(60_000);
    expect(failures.length).toBe(before);
    await engine.stop();
  });

  it('lets no listener disturb it', async () => {
    const engine = createEngine(ports());
    engine.events.on('job.registered', () => {
      throw new Error('a bad listener');
    });
    const job = { ID: 'a', Datacenters: ['*'], TaskGroups: [groupDocument()] };
    expect((await registerJob(engine, hostPrincipal, { job })).isOk()).toBe(true);
  });
});

describe('settings', () => {
  it('are the defaults with the overrides laid over, lists replaced whole', () => {
    const settings = settingsFrom({
      queries: { defaultWait: 5 },
      notifications: { delivery: { retry: { chat: [1] } } },
    });
    expect(settings.queries).toEqual({ ...defaultSettings.queries, defaultWait: 5 });
    expect(settings.notifications.delivery.retry).toEqual({
      ...defaultSettings.notifications.delivery.retry,
      chat: [1],
    });
    expect(settingsFrom({})).toEqual(defaultSettings);
  });
});
