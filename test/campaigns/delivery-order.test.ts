import { ResultAsync } from 'neverthrow';
import { expect, test } from 'vitest';
import { manualClock } from '../../adapters/memory/manual-clock.js';
import { memoryStorage } from '../../adapters/memory/memory-storage.js';
import { recordingDelivery } from '../../adapters/memory/recording-delivery.js';
import { sequentialIds } from '../../adapters/memory/sequential-ids.js';
import { hostPrincipal } from '../../src/access/principal.js';
import { createEngine, type Engine } from '../../src/engine.js';
import { deliveries } from '../../src/notifications/delivery/delivery.js';
import { putWorkspace } from '../../src/operations/notifications/workspaces/workspaces-and-users.js';

import type { Storage } from '../../src/ports/storage.js';
import { hour, minute, second } from '../../src/shared/duration.js';
import { create, must, publish, workspaceInput } from '../operations/notifications/engine-setup.js';

/*
 * Notifications of one run reach a destination in their order, whatever the destination answers, however often its breaker
 * opens, while engines are killed, stopped and started over one store, and while the clock is set. Each seed is another
 * story; `SIGNALBOX_ORDER_SEEDS=10000` plays so many, from `SIGNALBOX_ORDER_FIRST` on.
 */
const seeds = Number(process.env['SIGNALBOX_ORDER_SEEDS'] ?? 150);
const firstSeed = Number(process.env['SIGNALBOX_ORDER_FIRST'] ?? 1);

test(`the order of runs, ${seeds} stories`, { timeout: 60_000 + seeds * 5000 }, async () => {
  const broken: string[] = [];
  for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
    const faults = await play(seed);
    if (faults.length > 0) broken.push(`seed ${seed}: ${faults.slice(0, 3).join('; ')}`);
  }
  expect(broken).toEqual([]);
});

/** One request as the destination saw it. */
interface Seen {
  readonly configuration: string;
  readonly run: string;
  /** Order of publication. */
  readonly number: number;
  readonly at: number;
  readonly order: number;
  /** When the answer that ends the delivery comes; null when none does. */
  over: number | null;
}

const waits = [2 * second, 5 * second, 20 * second, minute, 5 * minute];

async function play(seed: number): Promise<string[]> {
  const random = randomFrom(seed);
  const pick = <T>(...choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const clock = manualClock();
  const ids = sequentialIds({ fraction: () => random() });
  const store = memoryStorage();
  const seen: Seen[] = [];
  let answer = 'good';
  let requests = 0;
  const delivery = recordingDelivery({
    clock,
    answer: (request) => {
      const body = JSON.parse(request.body);
      if (body.run_id === null) return { status: 204 };
      requests += 1;
      const entry: Seen = {
        configuration: body.notification_configuration_id,
        run: body.run_id,
        number: Number(body.notifications[0].message),
        at: clock.monotonic(),
        order: requests,
        over: null,
      };
      seen.push(entry);
      const behaviour = answer === 'mixed' ? pick('good', 'bad', 'slow', 'hang', 'gone') : answer;
      if (behaviour === 'bad') return { status: pick(500, 503, 429, 302), after: pick(0, 5, 700) };
      if (behaviour === 'hang') return { hang: true };
      if (behaviour === 'gone') {
        entry.over = clock.monotonic();
        return { status: 410 };
      }
      const after = behaviour === 'slow' ? pick(20, 900, 4000) : pick(0, 0, 3);
      entry.over = clock.monotonic() + after;
      return { status: 204, after };
    },
  });
  const settings = {
    notifications: {
      delivery: {
        retry: { generic: waits },
        window: pick(2, 4, 16),
        recordBatch: pick(1, 3, 50),
        recordWithin: pick(0, 10, 200),
        linger: pick(0, second, 10 * second),
        totalTimeout: 3 * second,
        concurrencyPerDestination: pick(1, 2, 8),
        concurrency: pick(2, 16),
        breaker: { failures: pick(0, 1, 2, 4), pause: pick(second, 8 * second), maximumPause: 40 * second },
      },
    },
  };
  const start = (storage: Storage): Engine => {
    const engine = createEngine({ storage, clock, ids, delivery }, settings);
    engine.start();
    return engine;
  };

  const author = createEngine({ storage: store, clock, ids, delivery }, settings);
  await must(putWorkspace(author, hostPrincipal, workspaceInput));
  for (let n = 0; n < pick(1, 1, 2); n += 1) await must(create(author, { url: `https://h${n}.example/` }));
  let storage = mortal(store);
  let engine = start(storage.storage);
  let second_: Engine | null = random() < 0.3 ? start(store) : null;
  let published = 0;
  for (let step = 0; step < 40; step += 1) {
    const what = random();
    if (what < 0.45) {
      for (let n = pick(1, 2, 6); n > 0; n -= 1) {
        published += 1;
        await publish(author, { runId: `run-${Math.floor(random() * 3)}`, message: String(published) });
      }
    } else if (what < 0.6) answer = pick('good', 'mixed', 'bad', 'slow', 'mixed');
    else if (what < 0.65) {
      storage.kill();
      storage = mortal(store);
      engine = start(storage.storage);
    } else if (what < 0.7) {
      const stopping = engine.stop();
      await clock.advance(4 * second);
      await stopping;
      engine = start(storage.storage);
    } else if (what < 0.72) {
      const stopping = second_?.stop();
      second_ = second_ === null ? start(store) : null;
      await clock.advance(4 * second);
      await stopping;
    } else if (what < 0.74) await clock.step(pick(-hour, hour));
    else await clock.advance(pick(0, 1, 50, second, 7 * second, minute));
  }
  answer = 'good';
  await clock.advance(15 * minute);
  await clock.advance(15 * minute);
  const faults = await faultsIn(store, seen, published);
  const stopping = Promise.all([engine.stop(), second_?.stop()]);
  await clock.advance(minute);
  await stopping;
  return faults;
}

async function faultsIn(store: Storage, seen: readonly Seen[], published: number): Promise<string[]> {
  const rows = await must(store.read((view) => view.list(deliveries).map((row) => row.record)));
  const faults: string[] = [];
  const numbers = new Set(seen.map(({ number }) => number));
  for (let number = 1; number <= published; number += 1) if (!numbers.has(number)) faults.push(`${number} never sent`);
  for (const { state, id } of rows) {
    if (state.type !== 'delivered' && state.type !== 'dead') faults.push(`${id} is still ${state.type}`);
  }
  const lines = new Map<string, Seen[]>();
  for (const each of seen) {
    const line = `${each.configuration} ${each.run}`;
    lines.set(line, [...(lines.get(line) ?? []), each]);
  }
  for (const [line, requests] of lines) faults.push(...overtakings(line, requests));
  return [...new Set(faults)];
}

/** Requests that were sent while an earlier notification was not over. */
function overtakings(line: string, requests: readonly Seen[]): string[] {
  const faults: string[] = [];
  for (const later of requests) {
    for (const number of new Set(requests.map((each) => each.number))) {
      if (number >= later.number) continue;
      const same = requests.filter((each) => each.number === number);
      const over = same.some((each) => each.over !== null && each.over <= later.at);
      const usedUp = same.filter(({ order }) => order < later.order).length > waits.length;
      // What is never tried again had ended by then, by its age.
      const goesOn = same.some(({ order }) => order > later.order);
      if (!over && !usedUp && goesOn) faults.push(`${line}: ${later.number} overtook ${number}`);
    }
  }
  return faults;
}

/** A store that its engine can be cut off from, as if the process had died. */
function mortal(inner: Storage): { readonly storage: Storage; kill(): void } {
  let dead = false;
  const never = new Promise<never>(() => {});
  return {
    storage: {
      read: (work) => (dead ? new ResultAsync(never) : inner.read(work)),
      write: (work) => (dead ? new ResultAsync(never) : inner.write(work)),
      waitForChange: (tables, after, signal) => (dead ? never : inner.waitForChange(tables, after, signal)),
      close: () => inner.close(),
    },
    kill: () => {
      dead = true;
    },
  };
}

/** mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
