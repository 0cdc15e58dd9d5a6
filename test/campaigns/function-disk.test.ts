import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sqliteStorage } from '../../adapters/sqlite/index.js';
import { functionCounts, hasEnded, runs, steps } from '../../src/functions/run.js';
import { orThrow } from '../../src/index.js';
import { folderOf, pause } from '../support/children.js';
import { eventually } from '../support/installation.js';
import { patience } from '../support/patience.js';

/*
 * A process that enqueues and runs functions while there is no room for its store, for a while: what it has accepted ends once, what it
 * could not store is refused with the reason, and it continues by itself when there is room again. `SIGNALBOX_FUNCTION_SHORTAGES=50`
 * for more rounds.
 */
const rounds = Number(process.env['SIGNALBOX_FUNCTION_SHORTAGES'] ?? 2);
const lasts = 1500;

let folder: string;
let child: ChildProcess | undefined;
let mounted: string | undefined;

beforeEach(async () => {
  folder = await folderOf('function-disk-child', 'full-disk/preload');
});

afterEach(() => {
  child?.kill('SIGKILL');
  if (mounted !== undefined) spawnSync('umount', ['-l', mounted]);
  mounted = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

/** What takes the room of the store away, and gives it back. */
interface Disk {
  /** Where the store is. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  fill(): void;
  relieve(): void;
}

describe.each<[string, boolean, () => Disk | undefined]>([
  ['a real file system', isRoot, realDisk],
  ['a limit on the size of the store', true, injectedDisk],
])('without room for the store: %s', (_name, isPossible, open) => {
  test.skipIf(!isPossible)(
    'what was accepted ends once, and the rest is refused',
    {
      timeout: 60_000 + rounds * 30_000,
    },
    async ({ skip }) => {
      const disk = open();
      if (disk === undefined) return skip('no right to mount');
      const file = join(disk.directory, 'store.sqlite');
      const log = await begin(file, disk);
      for (let round = 0; round < rounds; round += 1) {
        const [accepted, refused] = [log.accepted.size, log.refused.length];
        expect(await eventually(patience, () => log.accepted.size > accepted + 100)).toBe(true);
        disk.fill();
        expect(await eventually(patience, () => log.refused.length > refused + 20)).toBe(true);
        const lines = log.logged.length;
        await pause(lasts);
        expect(log.logged.slice(lines).length, log.logged.slice(lines, lines + 5).join('\n')).toBeLessThanOrEqual(
          2 + lasts / 1000,
        );
        disk.relieve();
        const since = log.accepted.size;
        expect(await eventually(patience, () => log.accepted.size > since + 100)).toBe(true);
      }
      child?.stdin?.write('over\n');
      expect(await eventually(patience, () => log.isOver)).toBe(true);
      await expectOnce(file, log);
      expect(log.unread).toEqual([]);
      expect(log.refused.length).toBeGreaterThan(rounds * 20);
      for (const refusal of log.refused) expect(refusal).toMatch(/"type":"storage_failed".*\(full\).*full/);
      expect(child?.exitCode).toBe(null);
      expect(log.errors).toEqual([]);
    },
  );
});

/** What the process has printed. Runs by their IDs. */
interface Log {
  readonly accepted: Set<string>;
  readonly began: Map<string, number>;
  readonly did: Map<string, number>;
  readonly refused: string[];
  readonly unread: string[];
  readonly logged: string[];
  /** Lines that Node itself wrote. */
  readonly errors: string[];
  isOver: boolean;
}

async function begin(file: string, { environment }: Disk): Promise<Log> {
  const handle = new Database(file);
  handle.exec('CREATE TABLE paid (id TEXT NOT NULL)');
  handle.close();
  const log: Log = {
    ...{ accepted: new Set(), began: new Map(), did: new Map(), isOver: false },
    ...{ refused: [], unread: [], logged: [], errors: [] },
  };
  const started = spawn(process.execPath, [join(folder, 'function-disk-child.mjs'), file], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child = started;
  createInterface({ input: started.stderr }).on('line', (line) => log.errors.push(line));
  await new Promise<void>((resolve, reject) => {
    started.once('close', () => reject(new Error(log.errors.join('\n'))));
    createInterface({ input: started.stdout }).on('line', (line) => {
      if (line === 'ready') resolve();
      else note(log, line);
    });
  });
  return log;
}

function note(log: Log, line: string): void {
  const [kind, id = ''] = line.split(' ');
  const again = (times: Map<string, number>): void => void times.set(id, (times.get(id) ?? 0) + 1);
  if (kind === 'accepted') log.accepted.add(id);
  else if (kind === 'began') again(log.began);
  else if (kind === 'did') again(log.did);
  else if (kind === 'refused') log.refused.push(line);
  else if (kind === 'unread') log.unread.push(line);
  else if (kind === 'logged') log.logged.push(line);
  else if (kind === 'over') log.isOver = true;
}

async function expectOnce(file: string, log: Log): Promise<void> {
  const storage = orThrow(await sqliteStorage(file));
  const all = async () => orThrow(await storage.read((view) => view.list(runs).map(({ record }) => record)));
  expect(await eventually(patience, async () => (await all()).every(hasEnded))).toBe(true);
  const stored = await all();
  const done = orThrow(await storage.read((view) => view.list(steps).map(({ record }) => record.run)));
  const counts = orThrow(await storage.read((view) => view.list(functionCounts).map(({ record }) => record)));
  await storage.close();
  const byId = new Map(stored.map((run) => [`${run.function}/${run.number}`, run]));
  expect([...log.accepted].filter((id) => byId.get(id)?.state !== 'succeeded')).toEqual([]);
  expect(stored.filter(({ state }) => state !== 'succeeded')).toEqual([]);
  // Rows can be read before the lines that were printed earlier have come through the pipe.
  await eventually(patience, () => [...byId.keys()].every((id) => log.began.has(id)));
  // The process was there all the time, so no attempt was interrupted, and each start that is stored is one call of the handler.
  for (const [id, run] of byId) {
    expect([id, run.interruptions, log.began.get(id)]).toEqual([id, 0, run.starts]);
    if (run.function === 'work') expect(log.did.get(id), id).toBeLessThanOrEqual(run.starts);
  }
  const works = stored.filter((run) => run.function === 'work').map(({ number }) => number);
  expect(done.toSorted((a, b) => a - b)).toEqual(works.toSorted((a, b) => a - b));
  const handle = new Database(file, { readonly: true });
  const rows = handle.prepare('SELECT id FROM paid').all() as { readonly id: string }[];
  handle.close();
  const paid = stored.filter((run) => run.function === 'paid').map(({ number }) => `paid/${number}`);
  expect(rows.map(({ id }) => id).toSorted()).toEqual(paid.toSorted());
  expect(counts.reduce((sum, { unfinished }) => sum + unfinished, 0)).toBe(0);
  expect(counts.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(stored.length);
}

function realDisk(): Disk | undefined {
  const directory = join(folder, 'disk');
  mkdirSync(directory);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${32 + 8 * rounds}m`, 'tmpfs', directory], {
    stdio: 'ignore',
  });
  if (status !== 0) return undefined;
  mounted = directory;
  const filler = join(directory, 'filler');
  return {
    directory,
    environment: {},
    fill: () => {
      for (let size = 1 << 20; size >= 512; size = Math.floor(size / 2))
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
    },
    relieve: () => rmSync(filler, { force: true }),
  };
}

function injectedDisk(): Disk {
  const control = join(folder, 'full');
  return {
    directory: folder,
    environment: {
      NODE_OPTIONS: `--import=${join(folder, 'preload.mjs')}`,
      FULL_DISK_CONTROL: control,
      FULL_DISK_FOLDER: join(folder, 'nothing'),
      FULL_DISK_STORE: '1',
    },
    fill: () => writeFileSync(control, '1'),
    relieve: () => rmSync(control, { force: true }),
  };
}
