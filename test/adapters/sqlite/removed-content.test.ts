import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { threadedCheckpoints } from '../../../adapters/sqlite/checkpoints.js';
import { type SqliteStorage, sqliteStorage } from '../../../adapters/sqlite/index.js';
import { driverOf } from '../../../adapters/sqlite/sqlite-handle.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { eraseNotificationEvent } from '../../../src/operations/notifications/events/events-log.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { listDeliveries } from '../../../src/operations/notifications/log/list-deliveries.js';
import { putVariable, removeVariable } from '../../../src/operations/variables/write-variable.js';

import { commit, store, things, valueFrom } from '../../conformance/storage/storage-subject.js';
import { create, must, owner, runEvent, testEngine, workspaceId } from '../../operations/notifications/engine-setup.js';
import { fileOpener, scratchFolder } from './sqlite-files.js';

const folder = scratchFolder();
afterAll(() => folder.remove());
const openFile = fileOpener();

/** The bytes of all files of a store. */
const bytesOf = (path: string): string =>
  ['', '-wal', '-shm']
    .map((ending) => path + ending)
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'latin1'))
    .join('');
const found = (path: string, secrets: readonly string[]): string[] => {
  const bytes = bytesOf(path);
  return secrets.filter((secret) => bytes.includes(secret));
};
const passes = async (check: () => boolean): Promise<boolean> => {
  for (let tries = 0; tries < 500 && !check(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  return check();
};
const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const secretOf = (word: string, at: number): string => `${word}-${at}-${'q'.repeat((at * 37) % 3000)}-end`;

/** Rows of many lengths that grow, shrink and go: pages are split, joined and freed. Gives what is no longer in any row. */
async function churn(storage: SqliteStorage, rounds: number): Promise<string[]> {
  const live = new Map<number, string>();
  const gone: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const key = (round * 7919) % 211;
    const before = live.get(key);
    if (before !== undefined) gone.push(before);
    if (round % 3 === 2 && before !== undefined) {
      live.delete(key);
      await commit(storage, (view) => view.remove(things, [key]));
    } else {
      const text = `secret-${round}-${'q'.repeat((round * 7877) % 3000)}`;
      live.set(key, text);
      await store(storage, { key: [key], rank: [-key], text });
    }
  }
  return gone.map((text) => text.replace(/q+$/, ''));
}

describe('content that was removed or replaced', () => {
  test('is in no file of the store after `overwriteRemoved`, however the rows have moved', async () => {
    const path = folder.path('overwritten.db');
    const storage = valueFrom(await sqliteStorage(path));
    const gone = await churn(storage, 500);
    expect(found(path, gone)).not.toEqual([]);
    valueFrom(await (storage.overwriteRemoved as NonNullable<typeof storage.overwriteRemoved>)());
    expect(found(path, gone)).toEqual([]);
    await store(storage, { key: [1], text: 'written afterwards' });
    await storage.close();
    expect(found(path, ['written afterwards'])).toEqual(['written afterwards']);
  });

  test('is in no file when another process reads and writes meanwhile', async () => {
    const path = folder.path('shared.db');
    const [one, two] = [valueFrom(await sqliteStorage(path)), valueFrom(await sqliteStorage(path))];
    const gone = await churn(one, 300);
    await two.read((view) => view.list(things).length);
    const writes = range(20).map((at) => store(two, { key: [1000 + at], text: `kept-${at}` }));
    valueFrom(await (one.overwriteRemoved as NonNullable<typeof one.overwriteRemoved>)());
    await Promise.all(writes);
    expect(found(path, gone)).toEqual([]);
    expect(valueFrom(await two.read((view) => view.list(things, { from: [1000] }).length))).toBe(20);
    await Promise.all([one.close(), two.close()]);
  });

  test('is in no file of a connection of the host after `overwriteRemoved`', async () => {
    const path = folder.path('hosts.db');
    const handle = openFile(path, false);
    const storage = valueFrom(await sqliteStorage(handle));
    const gone = await churn(storage, 300);
    valueFrom(await (storage.overwriteRemoved as NonNullable<typeof storage.overwriteRemoved>)());
    expect(found(path, gone)).toEqual([]);
    await storage.close();
    handle.close();
  });

  test('is overwritten in the file when rows are removed or replaced', async () => {
    const path = folder.path('removed.db');
    const storage = valueFrom(await sqliteStorage(path));
    for (const at of range(200)) await store(storage, { key: [at], text: secretOf('removed', at) });
    for (const at of range(200)) await store(storage, { key: [-1 - at], text: secretOf('replaced', at) });
    for (const at of range(200)) await commit(storage, (view) => view.remove(things, [at]));
    for (const at of range(200)) await store(storage, { key: [-1 - at], text: 'new' });
    await storage.close();
    const gone = range(200).flatMap((at) => [`removed-${at}-`, `replaced-${at}-`]);
    expect(found(path, gone)).toEqual([]);
  });
});

describe('the log is emptied', () => {
  const terms = { after: 30, again: 10 };

  function connection(name: string, options = terms) {
    const path = folder.path(name);
    const handle = openFile(path, false);
    handle.exec('PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; CREATE TABLE t (c TEXT)');
    return { path, handle, checkpoints: threadedCheckpoints({ handle, path, driver: driverOf(undefined) }, options) };
  }

  test('some time after a commit, with few pages in it', async () => {
    const { path, handle, checkpoints } = connection('emptied.db');
    handle.exec("INSERT INTO t VALUES ('a-secret'); DELETE FROM t");
    checkpoints.wrote(2);
    expect(found(path, ['a-secret'])).toEqual(['a-secret']);
    expect(await passes(() => found(path, ['a-secret']).length === 0)).toBe(true);
    await checkpoints.end();
    handle.close();
  });

  test('as soon as no other connection reads from it', async () => {
    const { path, handle, checkpoints } = connection('read.db');
    const reader = openFile(path, true);
    handle.exec("INSERT INTO t VALUES ('a-secret')");
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM t').all();
    handle.exec('DELETE FROM t');
    checkpoints.wrote(2);
    expect(found(path, ['a-secret'])).toEqual(['a-secret']);
    reader.exec('COMMIT');
    expect(await passes(() => found(path, ['a-secret']).length === 0)).toBe(true);
    reader.close();
    await checkpoints.end();
    handle.close();
  });

  test('after a process was killed that left it', async () => {
    const { path, handle, checkpoints } = connection('left.db', { after: 60_000, again: 10 });
    handle.exec("INSERT INTO t VALUES ('a-secret'); DELETE FROM t");
    await checkpoints.end();
    const next = openFile(path, false);
    const emptying = threadedCheckpoints({ handle: next, path, driver: driverOf(undefined) }, terms);
    expect(await passes(() => found(path, ['a-secret']).length === 0)).toBe(true);
    await emptying.end();
    next.close();
    handle.close();
  });
});

test('variables that were removed and events that were erased are in no file', async () => {
  const path = folder.path('engine.db');
  const storage = valueFrom(await sqliteStorage(path));
  const engine = await testEngine({}, { ports: { storage } });
  const { id } = await must(create(engine, {}));
  engine.delivery.answer((request) => ({
    status: 200,
    body: `answer to ${JSON.stringify(request).length} ${'z'.repeat(300)}`,
  }));
  engine.start();
  const secrets = range(150).map((at) => `secret-${at}-of-somebody-`);
  const events: string[] = [];
  for (const [at, secret] of secrets.entries()) {
    await must(putVariable(engine, hostPrincipal, { path: `app/${at}`, items: { password: `variable ${secret}` } }));
    const message = `event ${secret}${'m'.repeat((at * 7) % 400)}`;
    const sent = await must(
      sendNotificationEvent(engine, owner, { workspaceId, event: runEvent({ runId: `run-${at}`, message }) }),
    );
    events.push(sent.eventId);
  }
  await engine.clock.advance(60_000);
  await engine.stop();
  expect(found(path, secrets)).toEqual(secrets);
  for (const [at, eventId] of events.entries()) {
    await must(removeVariable(engine, hostPrincipal, { path: `app/${at}` }));
    await must(eraseNotificationEvent(engine, owner, { eventId }));
  }
  expect((await must(listDeliveries(engine, owner, { configurationId: id }))).items.length).toBeGreaterThan(0);
  await storage.close();
  expect(found(path, secrets)).toEqual([]);
});
