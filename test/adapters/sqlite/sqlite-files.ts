import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import type { SqliteStorageOptions } from '../../../adapters/sqlite/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { loadDriver, type OpenFile } from '../../../adapters/sqlite/sqlite-handle.js';
import type { Storage } from '../../../src/ports/storage.js';
import { type StorageSubject, valueFrom } from '../../conformance/storage/storage-subject.js';

/** A directory for one test file's databases; call `remove` at its end. */
export function scratchFolder(): { readonly path: (name: string) => string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-sqlite-'));
  return { path: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Opens files by the driver of this Node, once the tests of a file have begun. */
export function fileOpener(): OpenFile {
  let open: OpenFile | undefined;
  beforeAll(async () => {
    const driver = await loadDriver(undefined);
    if (typeof driver !== 'function') throw new Error(driver.message);
    open = driver;
  });
  return (path, readOnly) => {
    if (open === undefined) throw new Error('the tests have not begun');
    return open(path, readOnly);
  };
}

/** Stores in files of a folder: each opened anew, opened again or opened twice. */
export function fileSubject(path: (name: string) => string, options: SqliteStorageOptions): StorageSubject {
  const files = new WeakMap<Storage, string>();
  let opened = 0;
  const openFile = async (file: string) => {
    const storage = valueFrom(await sqliteStorage(file, options));
    files.set(storage, file);
    return storage;
  };
  const fileOf = (storage: Storage) => files.get(storage) as string;
  return {
    open: () => openFile(path(`${options.driver ?? 'any'}-${opened++}.db`)),
    reopen: (closed) => openFile(fileOf(closed)),
    share: (storage) => openFile(fileOf(storage)),
  };
}
