import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import { readPostgres } from '../../../adapters/postgres/postgres-contents.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { readSqlite } from '../../../adapters/sqlite/sqlite-contents.js';
import type { ContentsReader, KeptRow, KeptTable } from '../../../adapters/storage-kit/index.js';
import { connect } from '../../../src/client/index.js';
import { runs as functionRuns } from '../../../src/functions/run.js';
import type { JobInput } from '../../../src/index.js';
import { deliveries } from '../../../src/notifications/delivery/delivery.js';
import { events } from '../../../src/notifications/events/event.js';
import type { Storage } from '../../../src/ports/storage.js';
import { table } from '../../../src/shared/table.js';
import { commit, look, never, type Thing, things, valueFrom } from '../../conformance/storage/storage-subject.js';
import { compare, longProgram, modelled, noThings, play } from '../../support/storage-programs.js';
import { endAll, signalbox } from '../cli/cli-process.js';
import { typed } from '../cli/typed-commands.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-copy-'));
});
afterEach(() => {
  endAll();
  rmSync(folder, { recursive: true, force: true });
});
const database = new pg.Pool({ connectionString: inject('postgres'), max: 2 });
afterAll(() => database.end());

/** Of the tests; a store by its medium. */
type Place = { readonly path: string } | { readonly schema: string };
const file = (): Place => ({ path: join(folder, `${randomUUID()}.sqlite`) });
const schema = (): Place => ({ schema: `c${randomUUID().replaceAll('-', '')}` });

const named = (place: Place): string =>
  'path' in place ? `sqlite:${place.path}` : `${inject('postgres')}?schema=${place.schema}`;

async function opened(place: Place): Promise<Storage> {
  if ('path' in place) return valueFrom(await sqliteStorage(place.path));
  return valueFrom(await postgresStorage(inject('postgres'), { schema: place.schema }));
}

const copy = (from: Place, to: Place) => typed('', {}, 'copy', '--from', named(from), '--to', named(to));

async function copied(from: Place, to: Place): Promise<void> {
  expect(await copy(from, to)).toMatchObject({ code: 0, error: '', out: expect.stringContaining(' and equal, in ') });
}

async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

async function contentsOf(place: Place) {
  const reader: ContentsReader = valueFrom(
    'path' in place ? await readSqlite(place.path) : await readPostgres({ url: inject('postgres'), ...place }),
  );
  const tables: (Omit<KeptTable, 'isNumbered'> & { rows: KeptRow[]; positions: string[][] })[] = [];
  for (const { isNumbered: _, ...kept } of reader.tables) {
    const whole = reader.tables.find(({ name }) => name === kept.name) as KeptTable;
    const positions: string[][] = [];
    for (const at of kept.indexes.keys()) positions.push(await all(reader.positions(whole, at)));
    tables.push({ ...kept, rows: await all(reader.rows(whole)), positions });
  }
  const { index } = reader;
  await reader.close();
  return { index, tables };
}

/** Of a table with an index, an older and a newer definition. */
const older = table<Thing>('mixed', (thing) => thing.key);
const newer = table<Thing>('mixed', (thing) => thing.key, {
  byText: { version: 1, key: ({ text }) => (text === undefined ? undefined : [text]) },
});

const runs = Number(process.env['SIGNALBOX_COPY_PROGRAMS'] ?? 6);

test('the copy of a random store is equal to it on every medium, and continues', { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(longProgram, fc.boolean(), async (rounds, isFileFirst) => {
      const chain = isFileFirst ? [file(), schema(), file(), file()] : [schema(), file(), schema(), schema()];
      const [first, ...others] = chain as [Place, ...Place[]];
      const half = Math.floor(rounds.length / 2);
      let model = noThings;
      const origin = await opened(first);
      for (const { write } of rounds.slice(0, half)) {
        const next = modelled(model, write);
        await play(origin, write, model, next);
        model = next;
      }
      await origin.close();
      const before = await contentsOf(first);
      for (const [at, place] of others.entries()) {
        await copied(chain[at] as Place, place);
        expect(await contentsOf(place)).toEqual(before);
      }
      const continued = [await opened(others[0] as Place), await opened(others[1] as Place)];
      for (const { write, queries } of rounds.slice(half)) {
        const next = modelled(model, write);
        for (const storage of continued) {
          for (const asked of queries) await compare(storage, asked, model);
          await play(storage, write, model, next);
          for (const asked of queries) await compare(storage, asked, next);
        }
        model = next;
      }
      for (const storage of continued) await storage.close();
      // Every record's checksum and every entry of every index.
      for (const place of chain)
        if ('path' in place) await valueFrom(await sqliteStorage(place.path, { checkPages: true })).close();
      expect(await contentsOf(first)).toEqual(before);
    }),
    { numRuns: runs },
  );
});

test.each([
  ['a file', file, schema],
  ['a schema', schema, file],
])(
  'what programs do not know stays: tables, versions of indexes, incomplete entries, the last index of empty tables (from %s)',
  async (_name, from, to) => {
    const [source, target, back] = [from(), to(), from()];
    const origin = await opened(source);
    await commit(origin, (view) => {
      view.put(newer, { key: [1], text: 'a' });
      view.put(newer, { key: [2] });
      view.put(newer, { key: [] });
      view.put(
        table<Thing>('emptied', ({ key }) => key),
        { key: [1] },
      );
    });
    await commit(origin, (view) =>
      view.remove(
        table<Thing>('emptied', ({ key }) => key),
        [1],
      ),
    );
    await origin.close();
    const unaware = await opened(source);
    await commit(unaware, (view) => view.put(older, { key: [3], text: 'c' }));
    await commit(unaware, (view) => view.put(older, { key: [1], text: 'b "\\ \0 \ud800 😀' }));
    await unaware.close();
    await copied(source, target);
    await copied(target, back);
    const before = await contentsOf(source);
    const mixed = before.tables.find(({ name }) => name === 'mixed');
    expect(mixed?.rows.map(({ entries }) => entries)).toEqual([[null], [undefined], [null], [undefined]]);
    expect(before.tables.find(({ name }) => name === 'emptied')).toMatchObject({ index: 3, rows: [] });
    expect(await contentsOf(target)).toEqual(before);
    expect(await contentsOf(back)).toEqual(before);
    for (const place of [target, back]) {
      const storage = await opened(place);
      const found = await look(storage, (view) =>
        view.list(newer, { index: 'byText' }).map(({ record }) => record.key),
      );
      expect(found).toEqual([[1], [3]]);
      expect(
        await look(storage, (view) => [view.index, view.tableIndex(older), view.tableIndex({ name: 'emptied' })]),
      ).toEqual([5, 5, 3]);
      await storage.close();
    }
  },
);

test('the last index stays, also where no record has it; who waited for a later one goes on waiting', async () => {
  const [source, target, back] = [schema(), file(), schema()];
  const origin = await opened(source);
  await commit(origin, (view) => {
    view.put(things, { key: [1] });
    view.nextIndex();
    view.nextIndex();
  });
  await origin.close();
  await copied(source, target);
  await copied(target, back);
  for (const place of [target, back]) {
    const storage = await opened(place);
    expect(await look(storage, (view) => [view.index, view.tableIndex(things)])).toEqual([4, 2]);
    const waited = storage.waitForChange([things], 4, never);
    expect((await commit(storage, (view) => view.put(things, { key: [2] }))).index).toBe(5);
    expect(await waited).toBe(5);
    await storage.close();
  }
});

test('tables whose keys are numbers are stored so again', async () => {
  const [source, target] = [schema(), file()];
  const origin = await opened(source);
  const number = table<{ sequence: number }>(events.name, ({ sequence }) => [sequence], {}, events.hints);
  await commit(origin, (view) => {
    for (const sequence of [7, 0, 4097, 2 ** 53 - 1]) view.put(number, { sequence });
  });
  await origin.close();
  await copied(source, target);
  const reader = valueFrom(await readSqlite((target as { path: string }).path));
  expect(reader.tables.find(({ name }) => name === events.name)).toMatchObject({ isNumbered: true });
  await reader.close();
  const storage = await opened(target);
  await commit(storage, (view) => view.put(number, { sequence: 8 }));
  expect(await look(storage, (view) => view.list(number).map(({ record }) => record.sequence))).toEqual([
    ...[0, 7, 8, 4097, 2 ** 53 - 1],
  ]);
  await storage.close();
  for (const { hints } of [functionRuns, deliveries, events]) expect(hints.numbered).toBe(true);
});

test('a store that is written meanwhile is copied as of one index', async () => {
  for (const [source, target] of [
    [file(), schema()],
    [schema(), file()],
  ] as const) {
    const storage = await opened(source);
    const text = 'x'.repeat(2000);
    for (let at = 0; at < 20; at += 1)
      await commit(storage, (view) => {
        for (let n = 0; n < 50; n += 1) view.put(things, { key: [at, n], rank: [view.index], text });
      });
    let isWriting = true;
    const writing = (async () => {
      // All of its records have the index of the same write.
      for (let round = 0; isWriting; round += 1)
        await commit(storage, (view) => {
          for (let at = 0; at < 20; at += 5)
            view.put(things, { key: [at, 'live'], rank: [view.index], text: `${round}` });
          view.put(things, { key: ['new', round] });
        });
    })();
    await expect.poll(() => look(storage, ({ index }) => index)).toBeGreaterThan(25);
    const code = copied(source, target);
    await code;
    isWriting = false;
    await writing;
    await storage.close();
    const { index, tables } = await contentsOf(target);
    const rows = tables.find(({ name }) => name === 'things')?.rows ?? [];
    const records = rows.map(({ text: json, modifyIndex }) => ({ ...(JSON.parse(json) as Thing), modifyIndex }));
    const live = records.filter(({ key }) => key[1] === 'live');
    expect(new Set(live.map((each) => `${each.text} ${each.modifyIndex} ${each.rank}`)).size).toBe(1);
    expect(live[0]?.modifyIndex).toBe(index);
    expect(records.filter(({ key }) => key[0] === 'new').length).toBe(Number(live[0]?.text) + 1);
  }
});

test('a target that contains anything is refused and left unchanged', async () => {
  const [source, occupied] = [file(), schema()];
  for (const place of [source, occupied]) {
    const storage = await opened(place);
    await commit(storage, (view) => view.put(things, { key: ['kept'] }));
    await storage.close();
  }
  const before = await contentsOf(occupied);
  expect(await copy(source, occupied)).toMatchObject({
    code: 1,
    error: expect.stringContaining('contains a store already'),
  });
  expect(await contentsOf(occupied)).toEqual(before);
  expect(await copy(occupied, source)).toMatchObject({ code: 1, error: expect.stringContaining('exists already') });
  expect(await copy(source, source)).toMatchObject({ code: 1, error: expect.stringContaining('exists already') });
  const beside = file() as { path: string };
  writeFileSync(`${beside.path}-wal`, 'of another store');
  expect(await copy(source, beside)).toMatchObject({ code: 1, error: expect.stringContaining('-wal exists already') });
  expect(existsSync(beside.path)).toBe(false);
  const foreign = file() as { path: string };
  writeFileSync(foreign.path, 'no database, but long enough to be read as one'.repeat(100));
  expect(await copy(foreign, schema())).toMatchObject({ code: 1, error: expect.stringContaining('cannot be read') });
  expect(await copy(file(), schema())).toMatchObject({ code: 1, error: expect.stringContaining('does not exist') });
  expect(await copy(schema(), file())).toMatchObject({ code: 1, error: expect.stringContaining('no Signalbox store') });
  expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
  const { path } = file() as { path: string };
  expect(await copy(source, { path: join(folder, 'none', path) })).toMatchObject({ code: 1 });
});

test('a schema that was made for the store is used, and the file is private', async () => {
  const [source, target, back] = [file(), schema(), file()] as const;
  await (await opened(source)).close();
  await database.query(`CREATE SCHEMA ${(target as { schema: string }).schema}`);
  await copied(source, target);
  await copied(target, back);
  expect(statSync((back as { path: string }).path).mode & 0o777).toBe(0o600);
});

test('a record that PostgreSQL cannot store is named by its table, and nothing is left', async () => {
  const [source, target] = [file(), schema()];
  const storage = await opened(source);
  await commit(storage, (view) => {
    for (let n = 0; n < 40; n += 1) view.put(things, { key: [n], text: 'y'.repeat(100_000) });
    view.put(things, { key: [Array.from({ length: 200 }, () => randomUUID()).join()] });
  });
  await storage.close();
  expect(await copy(source, target)).toMatchObject({
    code: 1,
    error: expect.stringContaining('table things: A record has a key'),
  });
  const { rows } = await database.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [
    (target as { schema: string }).schema,
  ]);
  expect(rows).toEqual([]);
});

test('passwords are accepted from the environment only, and are never printed', async () => {
  const words = ['copy', '--from', 'memory'] as const;
  expect(await typed('', {}, ...words, '--to', 'sqlite:x')).toMatchObject({
    code: 2,
    error: expect.stringContaining('in memory'),
  });
  const secret = 'hunter2';
  const to = `sqlite:${join(folder, 'x')}`;
  const [url, parameter] = [`postgres://u:${secret}@127.0.0.1:1/db`, `postgres://u@127.0.0.1:1/db?password=${secret}`];
  const from = (value: string) => typed('', { environment: { SIGNALBOX_COPY_FROM: value } }, 'copy', '--to', to);
  const printed = [
    [await typed('', {}, 'copy', '--from', url, '--to', to), 2, 'set SIGNALBOX_COPY_FROM or PGPASSWORD'],
    [await typed('', {}, 'copy', '--from', parameter, '--to', to), 2, '--from takes user and password'],
    [await from(url), 1, 'postgres://u@127.0.0.1:1/db cannot be read'],
    [await from(parameter), 2, '--from takes user and password'],
    [await from(`postgres://u:${secret}@:x`), 2, '--from takes'],
    [await from(`postgres://u:${secret}?x@127.0.0.1:1/db`), 2, '--from takes'],
  ] as const;
  for (const [{ code, out, error }, expected, message] of printed) {
    expect({ code, error }).toEqual({ code: expected, error: expect.stringContaining(message) });
    expect(out + error).not.toContain(secret);
  }
  expect(existsSync(join(folder, 'x'))).toBe(false);
});

test('a copy that is killed leaves nothing that looks like a store', async () => {
  const source = file();
  const storage = await opened(source);
  await commit(storage, (view) => {
    for (let n = 0; n < 2500; n += 1) view.put(things, { key: [n], rank: [n % 7], text: 'z'.repeat(3000) });
  });
  await storage.close();
  const whole = await contentsOf(source);
  const kills = Number(process.env['SIGNALBOX_COPY_KILLS'] ?? 1);
  for (const target of [schema(), file()]) {
    let isThere = false;
    for (let kill = 0; kill < kills && !isThere; kill += 1) {
      const name = `k${randomUUID().slice(0, 8)}`;
      const to = 'path' in target ? named(target) : `${named(target)}&application_name=${name}`;
      const copying = signalbox(['copy', '--from', named(source), '--to', to]);
      await expect.poll(() => hasBegun(target, name), { interval: 5 }).toBe(true);
      // Later and later, up to the comparison.
      await new Promise((resolve) => setTimeout(resolve, (300 * kill) / kills));
      copying.process.kill('SIGKILL');
      await copying.ended;
      await expect.poll(() => sessionsOf(name)).toBe(0);
      isThere = await hasStore(target);
      if (isThere) expect(await contentsOf(target)).toEqual(whole);
    }
    if (!isThere) await copied(source, target);
    expect(await contentsOf(target)).toEqual(whole);
  }
});

/** Whether a copy is being written. */
async function hasBegun(target: Place, application: string): Promise<boolean> {
  if ('path' in target) return readdirSync(folder).some((name) => name.endsWith('.new')) || existsSync(target.path);
  return (await sessionsOf(application, 'backend_xid IS NOT NULL')) > 0 || hasStore(target);
}

async function sessionsOf(application: string, which = 'true'): Promise<number> {
  const { rows } = await database.query(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = $1 AND ${which}`,
    [application],
  );
  return (rows[0] as { n: number }).n;
}

async function hasStore(target: Place): Promise<boolean> {
  if ('path' in target) return existsSync(target.path);
  const { rows } = await database.query('SELECT to_regclass($1) IS NOT NULL AS there', [`${target.schema}.sb_store`]);
  return (rows[0] as { there: boolean }).there;
}

test('a server on the copy continues: same records, the next index, and blocking queries with indexes of before', async () => {
  const [source, target] = [file(), schema()];
  const serve = (place: Place) =>
    signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner', '--store', named(place)]);
  const first = serve(source);
  const before = connect({ url: await first.origin() });
  for (const name of ['a', 'b']) (await before.namespaces.put(name))._unsafeUnwrap();
  const job: JobInput = {
    ID: 'kept',
    Type: 'batch',
    Datacenters: ['*'],
    TaskGroups: [{ Name: 'g', Tasks: [{ Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } }] }],
  };
  (await before.jobs.register(job))._unsafeUnwrap();
  const known = (await before.namespaces.list())._unsafeUnwrap();
  first.process.kill('SIGKILL');
  await first.ended;
  await copied(source, target);
  const after = connect({ url: await serve(target).origin() });
  expect((await after.namespaces.list())._unsafeUnwrap()).toEqual(known);
  const waiting = after.namespaces.list({ index: known.index, wait: 60_000 });
  const { index } = (await after.namespaces.put('c'))._unsafeUnwrap();
  expect(index).toBeGreaterThan(known.index);
  const seen = (await waiting)._unsafeUnwrap();
  expect(seen.value.map(({ Name }) => Name)).toEqual(['a', 'b', 'c', 'default']);
  expect(seen.index).toBe(index);
  expect((await after.jobs.list())._unsafeUnwrap().value.items.map(({ ID }) => ID)).toEqual(['kept']);
});
