import pg from 'pg';
import { expect, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { postgresServer } from '../../adapters/postgres/postgres-server.js';
import { commit, things, valueFrom } from '../../conformance/storage/storage-subject.js';

const commits = Number(process.env['SIGNALBOX_POSTGRES_SNAPSHOT_COMMITS'] ?? 2000);
const part = 500;

test('commits take no longer while somebody keeps a snapshot of the database open', async () => {
  const server = await postgresServer(['-c fsync=off', '-c autovacuum=off']);
  const dump = new pg.Client({ connectionString: server.url });
  try {
    const storage = valueFrom(await postgresStorage(server.url));
    let next = 0;
    /** The median time of some commits, in milliseconds. */
    const median = async (): Promise<number> => {
      const times: number[] = [];
      for (let at = 0; at < part; at += 1) {
        const began = performance.now();
        await commit(storage, (view) => view.put(things, { key: [next] }));
        times.push(performance.now() - began);
        next += 1;
      }
      return times.sort((a, b) => a - b)[part / 2] as number;
    };
    await median();
    await dump.connect();
    await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await dump.query('SELECT count(*) FROM signalbox.sb_chain');
    const first = await median();
    while (next < commits) await median();
    const last = await median();
    process.stderr.write(`a commit: ${first.toFixed(2)} ms, and ${last.toFixed(2)} ms after ${next} more\n`);
    // Other work on the machine varies by more than a slow store would in so few; long runs show it.
    expect(last).toBeLessThan(3 * first);
    await storage.close();
  } finally {
    await dump.end();
    server.remove();
  }
});
