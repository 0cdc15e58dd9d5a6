import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { afterAll, expect, test } from 'vitest';
import { sqliteStorage } from '../../../../adapters/sqlite/index.js';
import { eventTypes } from '../../../../src/notifications/events/event-type.js';
import { endAll, signalbox } from '../cli-process.js';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-event-types-'));
afterAll(() => {
  endAll();
  rmSync(folder, { recursive: true });
});

test('a type that is stored with a pattern that is refused now is told at the start', async () => {
  const path = join(folder, 'store.sqlite');
  const storage = (await sqliteStorage(path))._unsafeUnwrap();
  const type = {
    name: 'order.made',
    description: '',
    example: null,
    body: 'envelope',
    createdAt: 0,
    updatedAt: 0,
  } as const;
  const schema = { properties: { id: { pattern: '(a)\\1' } } };
  (await storage.write((view) => ok(view.put(eventTypes, { ...type, schema }))))._unsafeUnwrap();
  await storage.close();

  const store = ['--store', `sqlite:${path}`, '--access', 'open', '--no-runner'];
  const server = signalbox(['serve', '--listen', '127.0.0.1:0', ...store]);
  await server.origin();
  server.process.kill('SIGTERM');
  await server.ended;
  expect(server.error()).toMatch(
    /"level":"warn".*partly invalid: its events are checked against the valid part only","eventType":"order\.made"/,
  );
  expect(server.error()).toContain('it refers back to a group');
});
