import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listFiles } from '../../../../adapters/runner/commands/allocation-files.js';
import { channelBounds } from '../../../../src/channels/channel.js';
import { encodeItem } from '../../../../src/channels/frame.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-list-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the listing of a folder with long names fits into one answer of an agent, and holds the first of them', async () => {
  const names = Array.from({ length: 6000 }, (_, at) => `${String(at).padStart(5, '0')}-${'\u0001'.repeat(240)}`);
  for (const name of names) writeFileSync(join(folder, name), '');
  const value = (await listFiles(folder, '/'))._unsafeUnwrap();
  expect(encodeItem({ type: 'value', value }).length).toBeLessThan(channelBounds.item);
  expect(value.length).toBeGreaterThan(500);
  expect(value.map(({ Name }) => Name)).toEqual(names.slice(0, value.length));
});
