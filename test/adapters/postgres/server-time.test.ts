import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { systemClock } from '../../../adapters/node/index.js';
import { type PostgresStorage, postgresStorage } from '../../../adapters/postgres/index.js';
import { ServerTime } from '../../../adapters/postgres/server-time.js';
import { createEngine } from '../../../src/engine.js';
import { defineFunction } from '../../../src/functions/define-function.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import type { Clock } from '../../../src/ports/clock.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';

describe('the time of the server', () => {
  /** A process whose monotonic clock is moved by the test, and a server that is `ahead` of it. */
  function measured() {
    const at = { now: 5000, ahead: 1_800_000_000_000 };
    const time = new ServerTime(() => at.now);
    const ask = (there: number, back: number): void => {
      const sent = at.now;
      at.now += there;
      const server = at.now + at.ahead;
      at.now += back;
      time.measured(sent, server);
    };
    return { at, time, ask, error: () => time.now() - at.now - at.ahead };
  }

  test('is known to half a round trip, whatever answers come', () => {
    const trip = fc.record({ there: fc.integer({ min: 0, max: 300 }), back: fc.integer({ min: 0, max: 300 }) });
    fc.assert(
      fc.property(fc.array(trip, { minLength: 1, maxLength: 20 }), (trips) => {
        const { ask, error } = measured();
        let best = Number.POSITIVE_INFINITY;
        for (const { there, back } of trips) {
          ask(there, back);
          best = Math.min(best, there + back);
          // The clocks could have drifted by some milliseconds meanwhile.
          expect(Math.abs(error())).toBeLessThanOrEqual(best / 2 + 3);
        }
      }),
    );
  });

  test('does not tremble while answers agree', () => {
    const { at, time, ask } = measured();
    ask(1, 1);
    const first = time.now() - at.now;
    for (let n = 0; n < 100; n += 1) {
      at.now += 500;
      ask(n % 7, (n * 3) % 5);
    }
    expect(Math.abs(time.now() - at.now - first)).toBeLessThan(2);
  });

  test.each([hour, -hour, 3 * second])('follows a step of %d ms at the next answer', (by) => {
    const { at, ask, error } = measured();
    for (let n = 0; n < 10; n += 1) ask(1, 1);
    at.ahead += by;
    expect(error()).toBeCloseTo(-by, -1);
    ask(40, 10);
    expect(Math.abs(error())).toBeLessThanOrEqual(25);
    ask(1, 1);
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
  });

  test('is measured anew when it is old, and drifting clocks are followed', () => {
    const { at, time, ask, error } = measured();
    expect(time.isDue).toBe(true);
    ask(1, 1);
    expect(time.isDue).toBe(false);
    for (let n = 0; n < 1000; n += 1) {
      at.now += second;
      at.ahead += 0.3;
      expect(time.isDue).toBe(true);
      ask(1, 2);
      expect(Math.abs(error())).toBeLessThan(5);
    }
  });
});

describe('hosts whose clocks are wrong, over one server', () => {
  const url = inject('postgres');
  const admin = new pg.Client({ connectionString: url });
  beforeAll(() => admin.connect());
  afterAll(() => admin.end());

  /** A store on a server whose clock the test sets. */
  async function settable() {
    const schema = `c${randomUUID().replaceAll('-', '')}`;
    await admin.query(`CREATE SCHEMA ${schema}_clock`);
    await admin.query(`CREATE TABLE ${schema}_clock.ahead (by interval)`);
    await admin.query(`INSERT INTO ${schema}_clock.ahead VALUES ('0')`);
    await admin.query(
      `CREATE FUNCTION ${schema}_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT pg_catalog.clock_timestamp() + by FROM ${schema}_clock.ahead'`,
    );
    const settings = encodeURIComponent(`-c search_path=${schema}_clock,pg_catalog`);
    const open = async () => valueFrom(await postgresStorage(`${url}?options=${settings}`, { schema }));
    const set = (by: number) => admin.query(`UPDATE ${schema}_clock.ahead SET by = $1::interval`, [`${by} ms`]);
    return { open, set };
  }

  function clockOf(name: string, wrong: { by: number }): Clock {
    const clock = systemClock();
    const base = name.length * 1_000_003;
    return {
      ...clock,
      now: () => Date.now() + wrong.by,
      monotonic: () => clock.monotonic() + base,
      timeline: name,
    };
  }

  const differs = (storage: PostgresStorage) => (storage.now?.() ?? Number.NaN) - Date.now();

  test.each(['first', 'Ünïcode'.repeat(8)])('several processes may begin at once: %s', async (name) => {
    for (let round = 0; round < 5; round += 1) {
      const schema = `${round}${randomUUID().slice(0, 4)}${name}`;
      const opened = await Promise.all([1, 2, 3, 4].map(() => postgresStorage(url, { schema })));
      await Promise.all(opened.map((each) => valueFrom(each).close()));
    }
  });

  test('a store gives the time of its server, at once and after it was set', async () => {
    const { open, set } = await settable();
    const storage = await open();
    expect(Math.abs(differs(storage))).toBeLessThan(200);
    for (const by of [hour, -hour, 0]) {
      await set(by);
      await expect.poll(() => Math.abs(differs(storage) - by)).toBeLessThan(200);
    }
    await storage.close();
    expect(Math.abs(differs(storage))).toBeLessThan(200);
  });

  test('due times are those of the server: nothing early, nothing twice, whichever clock is set', async () => {
    const { open, set } = await settable();
    const began: string[] = [];
    const ids = sequentialIds();
    const wrong = [{ by: hour }, { by: -hour }];
    const hosts = await Promise.all(
      wrong.map(async (each, at) => {
        const storage = await open();
        const clock = clockOf(`host-${'x'.repeat(at + 1)}`, each);
        const engine = createEngine({ storage, clock, ids, delivery: recordingDelivery() });
        const work = defineFunction<string>({ name: 'work' }, (name) => void began.push(name));
        const cron = { schedule: '0 0 1 1 *', timeZone: 'UTC' } as const;
        const yearly = defineFunction<void, void, void>({ name: 'yearly', cron }, () => void began.push('yearly'));
        const functions = createFunctions(engine, [work, yearly]);
        await functions.start();
        return { storage, engine, functions, work, each };
      }),
    );
    const [first, other] = hosts as [(typeof hosts)[number], (typeof hosts)[number]];
    await first.functions.enqueue(first.work, 'in an hour', { delay: '1h' });
    await other.functions.enqueue(other.work, 'at a time', { runAt: new Date(Date.now() + 30 * minute) });
    await other.functions.enqueue(other.work, 'now');
    await expect.poll(() => began).toEqual(['now']);
    // The clocks of hosts mean nothing.
    first.each.by -= 2 * hour;
    other.each.by += 3 * hour;
    await first.functions.enqueue(first.work, 'after the steps');
    await expect.poll(() => began).toEqual(['now', 'after the steps']);
    await set(45 * minute);
    await expect.poll(() => began).toEqual(['now', 'after the steps', 'at a time']);
    await set(2 * hour);
    await expect.poll(() => began).toEqual(['now', 'after the steps', 'at a time', 'in an hour']);
    await set(-hour);
    await other.functions.enqueue(other.work, 'set back');
    await expect.poll(() => began.at(-1)).toBe('set back');
    expect(began).toHaveLength(5);
    for (const { functions, engine, storage } of hosts) {
      await functions.stop();
      await engine.stop();
      await storage.close();
    }
  });
});
