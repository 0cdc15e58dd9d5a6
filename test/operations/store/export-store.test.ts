import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { steps } from '../../../src/functions/run.js';
import { createFunctions, defineFunction } from '../../../src/functions.js';
import { createEngine, hostPrincipal, type StoreContents } from '../../../src/index.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { putUser, putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { exportStore } from '../../../src/operations/store/export/export-store.js';
import { readStoreExport } from '../../../src/operations/store/export/read-store-export.js';
import type { Storage } from '../../../src/ports/index.js';
import { exportedTables, tables } from '../../../src/tables.js';
import { filledEngine } from '../../adapters/http-server/engine-under-test.js';
import { world } from '../jobs/world.js';

/** Tables that no export has. */
const leftOut = [
  'tokens',
  'one_time_tokens',
  'sessions',
  'replaced_secrets',
  'variables',
  'job_submissions',
  'node_connections',
  'node_owners',
  'relay_sessions',
  'relay_messages',
  'store_probes',
  'notification_hook_holds',
  'queue_processes',
  'queue_rates',
];

const clock = { now: () => Date.parse('2030-05-06T07:08:09Z') } as never;

async function textOf(storage: Storage): Promise<string> {
  let text = '';
  const open = (): ((piece: string) => void) => {
    text = '';
    return (piece) => {
      text += piece;
    };
  };
  (await exportStore({ storage, clock }, open))._unsafeUnwrap();
  return text;
}

const contentsOf = (text: string): StoreContents => readStoreExport(text)._unsafeUnwrap();

function namesOfTables(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      [...readFileSync(join(folder, path), 'utf8').matchAll(/= table<.*?>\(\s*'(\w+)'/gs)].map(([, name = '']) => name),
    );
}

describe('an export', () => {
  let storage: Storage;
  let text = '';
  beforeAll(async () => {
    ({ storage } = await filledEngine());
    text = await textOf(storage);
  });

  it('has every table of the sources, or leaves it out on purpose', () => {
    const known = [...exportedTables.map(({ table }) => table.name), ...leftOut];
    expect(namesOfTables('src').sort()).toEqual(known.sort());
  });

  it('is of the tables that are described, all but those of one operation', () => {
    const own = ['replaced_secrets', 'store_probes'];
    expect([...tables.map(({ table }) => table.name), ...own].sort()).toEqual(namesOfTables('src').sort());
  });

  it('fills a store that is the same, to the index', async () => {
    const copy = memoryStorage({ contents: contentsOf(text) });
    expect(await textOf(copy)).toBe(text);
    const [was, is] = await Promise.all([storage, copy].map((each) => each.read(({ index }) => index)));
    expect(is?._unsafeUnwrap()).toBe(was?._unsafeUnwrap());
    for (const { table } of exportedTables) {
      const indexes = await Promise.all([storage, copy].map((each) => each.read((view) => view.tableIndex(table))));
      expect(indexes[0]?._unsafeUnwrap(), table.name).toBe(indexes[1]?._unsafeUnwrap());
    }
  });

  it('says when it was made', () => {
    expect(contentsOf(text).at).toBe(Date.parse('2030-05-06T07:08:09Z'));
  });

  it('has no secrets', async () => {
    const own = world();
    const { engine } = own;
    const token = (await putToken(engine, hostPrincipal, { name: 't', management: true }))._unsafeUnwrap();
    const box = engine.as(hostPrincipal);
    await box.variables.put('a/b', { items: { password: 'V-SECRET' } });
    await putWorkspace(engine, hostPrincipal, { id: 'ws-1', name: 'w', organization: 'o' });
    await putUser(engine, hostPrincipal, {
      id: 'user-1',
      username: 'ada',
      email: 'ada@secret.example',
      organization: 'o',
    });
    await box.notifications.create('ws-1', {
      destinationType: 'generic',
      name: 'hook',
      url: 'https://hooks.example.net/U-SECRET',
      token: 'H-SECRET',
      triggers: ['run:errored'],
      delivery: { headers: { 'x-key': 'O-SECRET' } },
    } as never);
    await box.jobs.register(
      {
        ID: 'j',
        TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: 'x' } }] }],
      } as never,
      {
        submission: { Source: 'S-SECRET', Format: 'hcl2', VariableFlags: { p: 'F-SECRET' }, Variables: '' },
      } as never,
    );
    const exported = await textOf(engine.storage);
    expect(exported).toContain('"ID":"j"');
    expect(exported).toContain('"name":"hook"');
    for (const secret of [
      token.secret,
      'V-SECRET',
      'U-SECRET',
      'H-SECRET',
      'O-SECRET',
      'S-SECRET',
      'F-SECRET',
      'secret.example',
    ])
      expect(exported).not.toContain(secret);
  });

  it('has runs of functions with all that belongs to them; what was under way runs again', async () => {
    const { engine } = world();
    const paid: number[] = [];
    const work = defineFunction<{ n: number; text?: string }, { n: number; text?: string }, unknown>(
      { name: 'work', rate: { limit: 100, per: '1s' } },
      async ({ n, text }, run) => {
        if (n < 3) await run.step('pay', () => void paid.push(n));
        return n === 2 && engine === here ? new Promise(() => undefined) : (text ?? n);
      },
    );
    const later = defineFunction({ name: 'later', cron: '0 2 * * *' }, () => undefined);
    let here: unknown = engine;
    const functions = createFunctions(engine, [work, later]);
    await functions.start();
    const text = 'x'.repeat(2000);
    const ended = await functions.enqueue(work, { n: 1, text }, { idempotencyKey: 'one', meta: { a: 'b' } });
    await ended.result();
    const running = await functions.enqueue(work, { n: 2 });
    await functions.schedule(later, { id: 'more', schedule: '0 3 * * *' });
    await functions.pause(later);
    const delayed = await functions.enqueue(work, { n: 3 }, { delay: '1h', unique: 'three' });
    const paidRuns = () => engine.storage.read((view) => view.list(steps).length);
    while ((await paidRuns())._unsafeUnwrap() < 2) await new Promise((resolve) => setImmediate(resolve));

    const exported = await textOf(engine.storage);
    here = undefined;
    const clock = manualClock();
    const ports = { storage: memoryStorage({ contents: contentsOf(exported) }), clock, ids: sequentialIds() };
    const copied = createFunctions(createEngine({ ...ports, delivery: recordingDelivery({ clock }) }), [work, later]);
    const statusOf = async (id: string) => (await copied.run(id))?.status();
    expect(await statusOf(ended.id)).toEqual(await ended.status());
    expect(await statusOf(running.id)).toMatchObject({ state: 'queued', attempt: 0, interruptions: 0 });
    expect((await copied.enqueue(work, { n: 1, text }, { idempotencyKey: 'one' })).id).toBe(ended.id);
    expect((await copied.enqueue(work, { n: 3 }, { unique: 'three' })).id).toBe(delayed.id);
    await copied.start();
    await clock.settle();
    expect(await statusOf(running.id)).toMatchObject({ state: 'succeeded', result: 2, attempt: 1 });
    expect(paid).toEqual([1, 2]);
    expect(await copied.unschedule(later, 'more')).toBe(true);
    void functions.stop({ deadline: 0 });
    void copied.stop({ deadline: 0 });
  });

  it('has tables of any length whole', async () => {
    const { engine } = world();
    const workspace = (at: number) => ({ id: `ws-${at}`, name: `w${at}`, organization: 'o' });
    for (let at = 0; at < 1001; at += 1) await putWorkspace(engine, hostPrincipal, workspace(at));
    const table = contentsOf(await textOf(engine.storage)).tables.find((each) => each.table.name === 'workspaces');
    expect(new Set(table?.rows.map(({ record }) => (record as { id: string }).id)).size).toBe(1001);
    expect(table?.rows).toHaveLength(1001);
  });
});

describe('a text is refused that', () => {
  const head = '{"signalboxExport":1,"at":"2030-01-01T00:00:00Z","index":9}';
  const table = '{"table":"workspaces","index":9}';
  const row = '{"createIndex":1,"modifyIndex":2,"record":{"id":"w","name":"n","organization":"o"}}';

  it.each([
    ['is empty', [], 1, 'The export is truncated.'],
    ['is no JSON', ['x'], 1, 'Each line must be a JSON object.'],
    ['is something else', ['{"a":1}'], 1, 'This is not an export of a store.'],
    ['has another form', [head.replace('1', '2')], 1, 'The export has format 2; this version reads format 1.'],
    ['has no time', [head.replace('2030', 'x')], 1, 'The header needs a time `at` and an `index`.'],
    ['is cut off', [head, table, row], 4, 'The export is truncated.'],
    ['is cut off in a line', [head, table, row.slice(0, 40)], 3, 'Each line must be a JSON object.'],
    ['lacks a row', [head, table, '{"rows":1}'], 3, 'The export has 0 records; its last line says 1.'],
    ['goes on', [head, '{"rows":0}', table], 3, 'There is content after the last line of the export.'],
    ['has another table', [head, '{"table":"x","index":1}'], 2, 'This version has no table "x".'],
    ['has a row without a table', [head, row], 2, 'A record precedes the first table.'],
    ['has a bad index', [head, table, row.replace('1,', '-1,')], 3, 'A record needs `createIndex` and `modifyIndex`.'],
    [
      'has a record that is none',
      [head, table, '{"createIndex":1,"modifyIndex":1,"record":3}'],
      3,
      'A record must be an object.',
    ],
  ])('%s', (_what, lines, line, message) => {
    expect(readStoreExport(lines.join('\n'))._unsafeUnwrapErr()).toEqual({ type: 'invalid_export', line, message });
  });

  it('but not one that is whole', () => {
    const contents = contentsOf([head, table, row, '{"rows":1}', ''].join('\n'));
    expect(contents).toMatchObject({ index: 9, tables: [{ index: 9, rows: [{ createIndex: 1, modifyIndex: 2 }] }] });
  });
});
