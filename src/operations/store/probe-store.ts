import { ok, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

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
  return commit(context, hostPrincipal, (tx) => {
    // The owner's name is new in every process: what earlier ones left is cleared away.
    for (const { record } of tx.list(storeProbes)) tx.remove(storeProbes, [record.ID]);
    tx.put(storeProbes, { ID: context.owner, WrittenAt: tx.now });
    return ok(undefined);
  }).map(() => undefined);
}
