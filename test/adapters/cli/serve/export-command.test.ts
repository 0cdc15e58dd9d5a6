import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exportCommand } from '../../../../adapters/cli/serve/export-command.js';
import { sqliteStorage } from '../../../../adapters/sqlite/index.js';
import { readStoreExport } from '../../../../src/operations/store/export/read-store-export.js';

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-export-'));
  await (await sqliteStorage(join(folder, 'store.db')))._unsafeUnwrap().close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function exportTo(out: string): Promise<number> {
  const terminal = { out: () => undefined, error: () => undefined, colours: false, environment: {} };
  const args = ['--store', `sqlite:${join(folder, 'store.db')}`, '--out', out];
  return exportCommand(args, { ...terminal, read: () => Promise.reject(new Error('nothing is read')) });
}

describe('the file of an export', () => {
  it('replaces what a link leads to, and the link stays', async () => {
    const [target, link] = [join(folder, 'target'), join(folder, 'link')];
    writeFileSync(target, 'earlier');
    symlinkSync(target, link);
    expect(await exportTo(link)).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readStoreExport(readFileSync(target, 'utf8')).isOk()).toBe(true);
  });

  it('is not put in the place of a device or a folder', async () => {
    const link = join(folder, 'output');
    symlinkSync('/dev/null', link);
    for (const out of [link, folder])
      await expect(exportTo(out)).rejects.toThrow(`${out} is not a regular file: name another`);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder).filter((name) => name.endsWith('.new'))).toEqual([]);
  });
});
