import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { createFunctions } from '../../../src/functions.js';
import { createEngine } from '../../../src/index.js';
import { type Bench, connections, withBench } from './deliver.js';
import { connection, drop, endless, newSchema, storeIn } from './postgres-writes.js';
import { type Measured, quantile } from './store-slices.js';

/*
 * Queues over PostgreSQL: deliveries of one process beside an outbox by hand, which sends the same requests; and for how long nobody works
 * on the runs of a process that was killed.
 */

const atOnce = 1000;

export async function deliveries(): Promise<readonly Measured[]> {
  const schema = newSchema();
  try {
    return await withBench(
      async (bench) => {
        const outbox = await outboxIn(schema, bench);
        /** Deliveries a second of what is due at once, without the time to put it there. */
        const rate = (fill: () => Promise<void>, drain: () => Promise<void>) => async (): Promise<number> => {
          await fill();
          const began = performance.now();
          await drain();
          return (1000 * atOnce) / (performance.now() - began);
        };
        const ours = rate(() => bench.enqueue(atOnce), bench.drain);
        const byHand = rate(outbox.fill, outbox.drain);
        const rounds: { ours: number; floor: number }[] = [];
        // The first two warm up.
        for (let round = -2; round < 5; round += 1) {
          const measured = { ours: await ours(), floor: await byHand() };
          if (round >= 0) rounds.push(measured);
        }
        const middle = (of: (round: (typeof rounds)[number]) => number): number => quantile(rounds.map(of), 0.5);
        return [
          {
            name: 'pg.deliver',
            ours: middle((round) => round.ours),
            floor: middle((round) => round.floor),
            ratio: middle((round) => round.ours / round.floor),
            unit: 'per second',
            limit: {},
          },
        ];
      },
      () => storeIn(schema),
    );
  } finally {
    await drop(schema);
  }
}

interface Outbox {
  fill(): Promise<void>;
  drain(): Promise<void>;
}

/** A hundred rows are claimed at a time; what has been sent meanwhile is done in one statement. */
async function outboxIn(schema: string, { body, send }: Bench): Promise<Outbox> {
  const client = await connection();
  const table = `${schema}.outbox`;
  await client.query(`CREATE TABLE ${table} (id bigserial PRIMARY KEY, due timestamptz, state int, payload text)`);
  await client.query(`CREATE INDEX ON ${table} (due) WHERE state = 0`);
  const claim = `UPDATE ${table} SET state = 1 WHERE id IN (SELECT id FROM ${table} WHERE state = 0 AND due <= now() ORDER BY due LIMIT 100 FOR UPDATE SKIP LOCKED) RETURNING id, payload`;
  return {
    fill: async () => {
      await client.query(`INSERT INTO ${table} (due, state, payload) SELECT now(), 0, $1 FROM generate_series(1, $2)`, [
        body,
        atOnce,
      ]);
    },
    drain: async () => {
      let sent: string[] = [];
      let lanes: Promise<void>[] = [];
      for (;;) {
        const { rows } = await client.query<{ id: string; payload: string }>({ name: 'claim', text: claim });
        await Promise.all(lanes);
        if (sent.length > 0)
          await client.query({
            name: 'done',
            text: `UPDATE ${table} SET state = 2 WHERE id = ANY($1)`,
            values: [sent],
          });
        if (rows.length === 0) return;
        sent = [];
        lanes = Array.from({ length: connections }, async () => {
          for (let row = rows.pop(); row !== undefined; row = rows.pop()) {
            await send(row.payload);
            sent.push(row.id);
          }
        });
      }
    },
  };
}

/** From the end of a process until another one begins what it has left, when nobody can see that it is dead. */
export async function takeover(): Promise<readonly Measured[]> {
  // By a dynamic import, so that the bundler leaves it beside the program of the other processes, which it finds by its own place.
  const { Other, withStore } = await import('./postgres.js');
  const once = (): Promise<number> =>
    withStore(async (storage, schema) => {
      const clock = systemClock();
      const engine = createEngine({ storage, clock, ids: randomIds(), delivery: recordingDelivery({ clock }) });
      const never = endless(() => undefined);
      const functions = createFunctions(engine, [never]);
      const first = await Other.on(schema);
      const isTaken = new Promise<number>((taken) => void first.work(taken));
      await functions.enqueue(never, { n: 1 });
      await isTaken;
      const second = await Other.on(schema);
      const isTakenOver = new Promise<number>((taken) => void second.work(taken));
      const killed = performance.now();
      await first.end();
      await isTakenOver;
      const seconds = (performance.now() - killed) / 1000;
      await second.end();
      return seconds;
    });
  const value = Math.max(await once(), await once(), await once());
  return [{ name: 'pg.takeover', ours: value, floor: Number.NaN, ratio: value, unit: 's', limit: { max: 10 } }];
}
