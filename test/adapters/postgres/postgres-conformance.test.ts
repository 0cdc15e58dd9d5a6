import { randomUUID } from 'node:crypto';
import { describe, inject, test } from 'vitest';
import { postgresStorage } from '../../../adapters/postgres/index.js';
import type { Storage } from '../../../src/ports/storage.js';
import { storageConformance } from '../../conformance/storage/index.js';
import { valueFrom } from '../../conformance/storage/storage-subject.js';
import { locks } from './postgres-server.js';

const url = inject('postgres');

describe('a schema of a PostgreSQL database', () => {
  const schemas = new WeakMap<Storage, string>();
  const open = async (schema: string): Promise<Storage> => {
    const storage = valueFrom(await postgresStorage(url, { schema, ...locks }));
    schemas.set(storage, schema);
    return storage;
  };
  const again = (storage: Storage): Promise<Storage> => open(schemas.get(storage) as string);
  storageConformance(test, { open: () => open(`s${randomUUID().replaceAll('-', '')}`), reopen: again, share: again });
});
