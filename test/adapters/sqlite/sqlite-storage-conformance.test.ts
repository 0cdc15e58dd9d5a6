import Database from 'better-sqlite3';
import { afterAll, describe, test } from 'vitest';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { storageConformance } from '../../conformance/storage/index.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';
import { fileSubject, scratchFolder } from './sqlite-files.js';

const folder = scratchFolder();
afterAll(() => folder.remove());

/** Its native part is built for one version of Node: under another one it does not load. */
function hasBetterSqlite(): boolean {
  try {
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasBetterSqlite())('a file through better-sqlite3', () => {
  storageConformance(test, fileSubject(folder.path, { driver: 'better-sqlite3' }));
});

describe('a file through the driver of this Node, relaxed', () => {
  storageConformance(
    test,
    fileSubject((name) => folder.path(`relaxed-${name}`), { durability: 'relaxed' }),
  );
});

describe.skipIf(!hasBetterSqlite())('a connection of the caller', () => {
  storageConformance(test, { open: async () => valueFrom(await sqliteStorage(new Database(':memory:'))) });
});

const hasNodeSqlite = process.getBuiltinModule?.('node:sqlite') !== undefined;
describe.skipIf(!hasNodeSqlite)('a file through node:sqlite', () => {
  storageConformance(test, fileSubject(folder.path, { driver: 'node:sqlite' }));
});
