import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage, StorageError } from '../../../src/ports/storage.js';
import { isRoot, nobody, postgresServer } from '../../adapters/postgres/postgres-server.js';
import { look, things, valueFrom } from '../../conformance/storage/storage-subject.js';

/*
 * The disk of the server is full for a while: of its tables, or of its log of changes.
 */

const mounted: string[] = [];
afterEach(() => {
  for (const folder of mounted.splice(0)) {
    spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A file system of its own for the server; undefined without the right to mount one. */
function smallDisk(megabytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-small-'));
  const options = `size=${megabytes}m,uid=${nobody.uid},gid=${nobody.gid},mode=755`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status !== 0) return undefined;
  mounted.push(folder);
  return folder;
}

/** Takes all room but some bytes. */
function fill(folder: string, leave: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const room = bavail * bsize - leave;
  if (room > 0) writeFileSync(join(folder, `ballast-${Math.random()}`), Buffer.alloc(room));
}

function empty(folder: string): void {
  spawnSync('sh', ['-c', `rm -f ${folder}/ballast-*`]);
}

let written = 0;

/** Rows that do not compress. The reason when they cannot be written. */
async function write(storage: Storage): Promise<StorageError['reason'] | 'written'> {
  const text = Array.from({ length: 2000 }, () => Math.random().toString(36)).join('');
  const result = await storage.write((view) => ok(view.put(things, { key: [written], text })));
  if (result.isErr()) return (result.error as StorageError).reason;
  written += 1;
  return 'written';
}

const rows = (storage: Storage) => look(storage, (view) => view.list(things, { limit: 10_000 }).length);

describe.runIf(process.platform === 'linux' && isRoot)('a disk of the database server that is full', () => {
  it('of its tables: writes fail as full, reads work, and writes work again when there is room', async ({ skip }) => {
    const folder = smallDisk(64);
    if (folder === undefined) skip('no right to mount');
    const place = join(folder as string, 'space');
    const server = await postgresServer(['-c fsync=off']);
    try {
      mkdirSync(place);
      spawnSync('chown', [`${nobody.uid}:${nobody.gid}`, place]);
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      await admin.query(`CREATE TABLESPACE small LOCATION '${place}'`);
      await admin.query(`ALTER ROLE postgres SET default_tablespace = 'small'`);
      await admin.end();
      const storage = valueFrom(await postgresStorage(server.url));
      const fresh = valueFrom(await postgresStorage(server.url));
      written = 0;
      for (let round = 0; round < 2; round += 1) {
        while (written < 5 * (round + 1)) expect(await write(storage)).toBe('written');
        fill(folder as string, 0);
        const reasons = new Set<string>();
        for (let at = 0; at < 40; at += 1) reasons.add(await write(storage));
        expect(reasons).toContain('full');
        expect([...reasons].filter((reason) => reason !== 'full' && reason !== 'written')).toEqual([]);
        expect(await write(storage)).toBe('full');
        expect(await rows(fresh)).toBe(written);
        empty(folder as string);
        expect(await write(storage)).toBe('written');
        expect(await rows(fresh)).toBe(written);
      }
      await Promise.all([storage.close(), fresh.close()]);
    } finally {
      server.remove();
    }
  });

  it('of its log: no acknowledged write is lost, and the store works again when the server does', async ({ skip }) => {
    const folder = smallDisk(140);
    if (folder === undefined) skip('no right to mount');
    const place = { data: join(folder as string, 'data'), segment: 1 };
    const server = await postgresServer(['-c max_wal_size=8MB', '-c min_wal_size=2MB', '-c wal_recycle=off'], place);
    try {
      const storage = valueFrom(await postgresStorage(server.url, { busyMs: 500 }));
      written = 0;
      for (let at = 0; at < 5; at += 1) expect(await write(storage)).toBe('written');
      fill(folder as string, 200_000);
      let reason: string = 'written';
      for (let at = 0; at < 400 && reason === 'written'; at += 1) reason = await write(storage);
      expect(['full', 'busy']).toContain(reason);
      for (let at = 0; at < 5; at += 1) expect(['full', 'busy', 'written']).toContain(await write(storage));
      empty(folder as string);
      // A server that could not write its log has ended, or starts again and again.
      try {
        server.stop('immediate');
      } catch {
        // It has ended.
      }
      await server.start();
      await expect.poll(() => write(storage)).toBe('written');
      const count = await rows(storage);
      // One that failed as busy may have happened, under a key that was written again.
      expect(count).toBe(written);
      await storage.close();
    } finally {
      server.remove();
    }
  });
});
