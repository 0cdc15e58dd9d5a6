import { appendFileSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';
import pg from 'pg';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import type { StorageError, WriteView, Written } from '../../../src/ports/storage.js';
import { hotRows, type Kind, log, totals } from './tables.js';

/** A process of a host that works until it is killed, and notes what came of its operations: `client.ts URL SCHEMA NAME SEED FILE`. */
const [url = '', schema = '', name = '', seedText = '1', file = ''] = process.argv.slice(2);
let seed = Number(seedText);
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return (seed >>> 8) % below;
};
const kinds: readonly Kind[] = [
  'with',
  'with',
  'with',
  'alongside',
  'alongside',
  'plain',
  'refused',
  'alone',
  'broken',
];

const pool = new pg.Pool({ connectionString: url, max: 8, application_name: 'signalbox host' });
pool.on('error', () => undefined);
// A session may be ended before its client is handed out.
pool.on('connect', (client) => void client.on('error', () => undefined));
const opened = await postgresStorage(url, { schema, busyMs: 30_000 });
if (opened.isErr()) throw new Error(opened.error.message);
const storage = opened.value;
process.send?.('ready');

interface Operation {
  readonly id: string;
  readonly kind: Kind;
  /** The row of the host that it counts in. */
  readonly hot: number;
}

/** Counts itself, so that it depends on every operation before it. */
function perform(view: WriteView, { id, kind, hot }: Operation): Result<number, 'refused'> {
  const total = Number(view.get(totals, ['all'])?.record.count ?? 0) + 1;
  view.put(totals, { key: 'all', count: total });
  view.put(log, { id, kind, hot, index: view.index, total });
  return kind === 'refused' || kind === 'alone' ? err('refused') : ok(total);
}

const count = 'UPDATE hot SET n = n + 1 WHERE id = $1';
const insert = 'INSERT INTO orders (id, kind) VALUES ($1, $2)';

async function finished(operation: Operation): Promise<Result<Written<number>, StorageError | 'refused'>> {
  const { id, kind, hot } = operation;
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query('BEGIN');
    await client.query(insert, [id, kind]);
    await client.query(count, [hot]);
    if (kind === 'broken') await client.query('INSERT INTO lines VALUES ($1)', [`missing ${id}`]);
    const written = await storage.commitWith(client).write((view) => perform(view, operation));
    if (written.isErr()) await client.query(kind === 'alone' ? 'COMMIT' : 'ROLLBACK');
    isBroken = false;
    return written;
  } finally {
    client.release(isBroken);
  }
}

function written(operation: Operation): PromiseLike<Result<Written<number>, StorageError | 'refused'>> {
  const { id, kind, hot } = operation;
  const work = (view: WriteView) => perform(view, operation);
  if (kind === 'plain') return storage.write(work);
  if (kind !== 'alongside') return finished(operation);
  return storage
    .alongside((sql) => {
      sql.run(insert, id, kind);
      sql.run(count, hot);
    })
    .write(work);
}

let operations = 0;
async function work(): Promise<void> {
  for (;;) {
    operations += 1;
    const operation: Operation = {
      id: `${name}-${operations}`,
      kind: kinds[random(kinds.length)] as Kind,
      hot: 1 + random(hotRows),
    };
    let result: object;
    try {
      const outcome = await written(operation);
      if (outcome.isOk()) result = { index: outcome.value.index, total: outcome.value.value };
      else result = { error: outcome.error === 'refused' ? 'refused' : outcome.error.message };
    } catch (thrown) {
      result = { error: (thrown as Error).message, code: (thrown as { code?: unknown }).code };
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // All of it at once, or nothing: the file is appended to.
    appendFileSync(file, `${JSON.stringify({ ...operation, ...result })}\n`);
  }
}
await Promise.all(Array.from({ length: 6 }, work));
