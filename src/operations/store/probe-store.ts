import { ok, type ResultAsync } from 'neverthrow';
import type { StorageError } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { EngineContext } from '../shared/context.js';

/** A row that is written only to see that rows can be written. One for each engine over the store. */
interface StoreProbe {
  readonly ID: string;
  readonly WrittenAt: Instant;
}

const storeProbes = table<StoreProbe>('store_probes', (probe) => [probe.ID]);

/**
 * Writes a row and waits until it is durable: an engine whose store can be read and not written (disk full, read-only,
 * locked by another process) cannot do its work. No reader waits for the table, so nobody is woken by it.
 */
export function probeStore(context: EngineContext): ResultAsync<void, StorageError> {
  const probe = { ID: context.owner, WrittenAt: context.clock.now() };
  return context.storage
    .write((view) => {
      // The owner's name is new in every process: what earlier ones left is cleared away.
      for (const { record } of view.list(storeProbes)) view.remove(storeProbes, [record.ID]);
      view.put(storeProbes, probe);
      return ok(undefined);
    })
    .map(() => undefined);
}
