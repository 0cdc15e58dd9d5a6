import { ok, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/** A row written only to test that the store is writable. One for each engine over the store. */
interface StoreProbe {
  readonly ID: string;
  readonly WrittenAt: Instant;
}

const storeProbes = table<StoreProbe>('store_probes', (probe) => [probe.ID]);

/**
 * Writes a row and waits until it is durable: an engine cannot work on a store that can be read but not written (disk full, read-only,
 * locked by another process). No reader waits for the table, so none is woken.
 */
export function probeStore(context: EngineContext): ResultAsync<void, StorageError> {
  return commit(context, hostPrincipal, (tx) => {
    // Every process has a new owner name, so rows of earlier ones are removed.
    for (const { record } of tx.list(storeProbes)) tx.remove(storeProbes, [record.ID]);
    tx.put(storeProbes, { ID: context.owner, WrittenAt: tx.now });
    return ok(undefined);
  }).map(() => undefined);
}
