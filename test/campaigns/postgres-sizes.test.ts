import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresStorage } from '../../adapters/postgres/index.js';
import type { Storage } from '../../src/ports/storage.js';
import { table } from '../../src/shared/table.js';
import { type PostgresServer, postgresServer } from '../adapters/postgres/postgres-server.js';
import { commit, valueFrom } from '../conformance/storage/storage-subject.js';

/*
 * Tables of a store that is written for long stay small, and commits as fast as they were. While a session keeps a snapshot, tables grow, and
 * commits stay nearly as fast until a row has been replaced some hundred times: to find a row by its key, PostgreSQL passes all of its
 * versions that the snapshot may still see. SIGNALBOX_POSTGRES_WRITES=200000 for long.
 */

const writes = Number(process.env['SIGNALBOX_POSTGRES_WRITES'] ?? 4000);
/** Figures are compared between so many equal parts of the writes. */
const parts = 10;
/** Callers that write at once; and single commits that are measured in each part. */
const callers = 16;
const samples = 60;

interface State {
  readonly id: number;
  readonly due: number;
  readonly text: string;
}

const states = table<State>('states', ({ id }) => [id], { byDue: { version: 1, key: ({ due }) => [due] } });
const rows = 200;
/** With an open snapshot, that is a hundred versions of each row. */
const mostUnderSnapshot = 20_000;
/** Rows are only added: what a commit costs at the time, whatever else the machine does. */
const additions = table<State>('additions', ({ id }) => [id]);

let server: PostgresServer;
let admin: pg.Client;
beforeAll(async () => {
  // In minutes what the server does in hours.
  server = await postgresServer(['-c autovacuum_naptime=1s', '-c fsync=off']);
  admin = new pg.Client({ connectionString: server.url });
  admin.on('error', () => undefined);
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  server.remove();
});

interface Part {
  /** How long a commit takes that replaces a row, to one that adds a row. */
  readonly ratio: number;
  /** Milliseconds of such commits, the medians. */
  readonly replacing: number;
  readonly adding: number;
  /** Bytes of the tables with their indexes. */
  readonly states: number;
  readonly chain: number;
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] as number;

/** Replaces all rows again and again, as the workers of a queue do. */
async function written(storage: Storage, first: number, total: number): Promise<readonly Part[]> {
  const found: Part[] = [];
  let at = first;
  const replace = async (): Promise<void> => {
    at += 1;
    const due = at;
    const text = `${due} `.padEnd(300 + (due % 7) * 100, 'state');
    await commit(storage, (view) => view.put(states, { id: due % rows, due, text }));
  };
  const add = (): Promise<unknown> => {
    at += 1;
    const id = at;
    return commit(storage, (view) => view.put(additions, { id, due: id, text: 'added'.repeat(80) }));
  };
  const timed = async (run: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await run();
    return performance.now() - began;
  };
  for (let part = 0; part < parts; part += 1) {
    const each = Math.floor(total / parts / callers);
    await Promise.all(
      Array.from({ length: callers }, async () => {
        for (let n = 0; n < each; n += 1) await replace();
      }),
    );
    const [ofReplacing, ofAdding]: [number[], number[]] = [[], []];
    for (let n = 0; n < samples; n += 1) {
      ofReplacing.push(await timed(replace));
      ofAdding.push(await timed(add));
    }
    const { rows: sizes } = await admin.query(
      `SELECT pg_total_relation_size('signalbox.sb_chain')::int AS chain,
              (SELECT pg_total_relation_size('signalbox.sb_rows_' || id)::int FROM signalbox.sb_tables WHERE name = 'states') AS states`,
    );
    const [replacing, adding] = [median(ofReplacing), median(ofAdding)];
    const ofTables = sizes[0] as Pick<Part, 'states' | 'chain'>;
    found.push({ ratio: replacing / adding, replacing, adding, ...ofTables });
  }
  return found;
}

const shown = (name: string, found: readonly Part[]): void => {
  const line = ({ replacing, adding, states: ofStates, chain }: Part): string =>
    `replacing ${replacing.toFixed(2)} ms, adding ${adding.toFixed(2)} ms, states ${Math.round(ofStates / 1000)} kB, chain ${Math.round(chain / 1000)} kB`;
  console.log(`${name}\n${found.map(line).join('\n')}`);
};

/** Of the first three parts after the very first one, and of the last three. */
function ratios(found: readonly Part[]): readonly [first: number, last: number] {
  const of = (some: readonly Part[]): number => median(some.map(({ ratio }) => ratio));
  return [of(found.slice(1, 4)), of(found.slice(-3))];
}

test('many writes of few rows, without and with an open snapshot', { timeout: 3_600_000 }, async () => {
  const storage = valueFrom(await postgresStorage(server.url));
  const calm = await written(storage, 0, writes);
  shown('no snapshot', calm);
  // 200 rows of a kilobyte at most; what was replaced is removed by and by.
  expect(Math.max(...calm.map((part) => part.states))).toBeLessThan(4_000_000);
  const [before, after] = ratios(calm);
  expect(after).toBeLessThan(2 * before);

  const holder = new pg.Client({ connectionString: server.url, application_name: 'a long report' });
  holder.on('error', () => undefined);
  await holder.connect();
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT 1 FROM signalbox.sb_store');
  const held = await written(storage, 2 * writes, Math.min(writes, mostUnderSnapshot));
  shown('with an open snapshot', held);
  expect(held.at(-1)?.states).toBeGreaterThan(calm.at(-1)?.states ?? 0);
  const [first, last] = ratios(held);
  expect(last).toBeLessThan(2 * first);
  await holder.end();
  await storage.close();
});
