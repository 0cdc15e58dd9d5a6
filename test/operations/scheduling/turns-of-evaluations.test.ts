import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { periodicLaunches } from '../../../src/jobs/periodic/periodic-launch.js';
import type { BackgroundLoop } from '../../../src/operations/context/engine-context.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { periodicLaunchLoop } from '../../../src/operations/periodic/launches.js';
import { evaluationLoop } from '../../../src/operations/scheduling/evaluation-loop.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { ReadView } from '../../../src/ports/storage.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { hour } from '../../../src/shared/duration.js';
import { batchJob } from '../jobs/world.js';

const COUNT = 60;

/** A clock by which a millisecond passes with each look at it. */
function busyClock(): Clock & { readonly manual: ReturnType<typeof manualClock> } {
  const manual = manualClock();
  let passed = 0;
  return {
    manual,
    timeline: manual.timeline,
    now: () => manual.now(),
    monotonic: () => {
      passed += 1;
      return manual.monotonic() + passed;
    },
    sleep: (milliseconds, signal) => manual.sleep(milliseconds, signal),
    sleepUntil: (moment, signal) => manual.sleepUntil(moment, signal),
  };
}

/** How much is left after each turn of the event loop, until nothing is. */
async function leftAfterTurns(engine: Engine, loop: BackgroundLoop, left: (view: ReadView) => number) {
  const ended = new AbortController();
  const running = loop.run(engine, ended.signal);
  const counts: number[] = [];
  for (let turn = 0; turn < 1000 && counts.at(-1) !== 0; turn += 1) {
    await new Promise(setImmediate);
    counts.push((await engine.storage.read(left))._unsafeUnwrap());
  }
  ended.abort();
  await running;
  return counts;
}

async function engineWith(job: object, clock: Clock): Promise<Engine> {
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery() };
  const engine = createEngine(ports);
  for (let at = 0; at < COUNT; at += 1) {
    const document = { ...batchJob(`j${at}`, job), Datacenters: ['*'] };
    (await registerJob(engine, hostPrincipal, { job: document as never }))._unsafeUnwrap();
  }
  return engine;
}

it('many evaluations leave turns of the event loop to other work', async () => {
  const engine = await engineWith({}, busyClock());
  const pending = (view: ReadView) => view.list(evaluations).filter(({ record }) => record.Status === 'pending').length;
  const counts = await leftAfterTurns(engine, evaluationLoop, pending);
  expect(counts.at(-1)).toBe(0);
  expect(counts[0]).toBeGreaterThan(COUNT / 2);
  expect(counts.length).toBeGreaterThan(10);
});

it('many launches leave turns of the event loop to other work', async () => {
  const clock = busyClock();
  const engine = await engineWith({ Periodic: { Enabled: true, Spec: '0 * * * *', SpecType: 'cron' } }, clock);
  await clock.manual.advance(hour);
  const due = (view: ReadView) =>
    view.list(periodicLaunches).filter(({ record }) => record.dueAt <= clock.now()).length;
  const counts = await leftAfterTurns(engine, periodicLaunchLoop, due);
  expect(counts.at(-1)).toBe(0);
  expect(counts[0]).toBeGreaterThanOrEqual(COUNT / 2);
});
