import Database from 'better-sqlite3';
import { afterAll, describe, test } from 'vitest';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { storageConformance } from '../../conformance/storage/index.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';
import { fileSubject, scratchFolder } from './sqlite-files.js';

const folder = scratchFolder();
afterAll(() => folder.remove());

describe('a file through better-sqlite3', () => {
  storageConformance(test, fileSubject(folder.path, { driver: 'better-sqlite3' }));
});

describe('a file through better-sqlite3, relaxed', () => {
  storageConformance(
    test,
    fileSubject((name) => folder.path(`relaxed-${name}`), { durability: 'relaxed' }),
  );
});

describe('a connection of the caller', () => {
  storageConformance(test, { open: async () => valueFrom(await sqliteStorage(new Database(':memory:'))) });
});

const hasNodeSqlite = process.getBuiltinModule?.('node:sqlite') !== undefined;
describe.skipIf(!hasNodeSqlite)('a file through node:sqlite', () => {
  storageConformance(test, fileSubject(folder.path, { driver: 'node:sqlite' }));
});
