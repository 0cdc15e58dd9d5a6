import { existsSync } from 'node:fs';
import { okAsync, type ResultAsync } from 'neverthrow';
import type { Logger, Storage, StorageError } from '../../../src/ports/index.js';
import { orStop } from '../settings/config-command.js';
import { readFlags } from '../settings/read-flags.js';
import { resolveSettings } from '../settings/resolve-settings.js';
import { readSettingsFile } from '../settings/settings-file.js';
import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';
import { type StoreOptions, storeOptionsFrom, valueInForce } from './serve-options.js';

/** Opens the store of the options. The adapter and its driver are loaded only if used. */
export async function openStore(
  { place, busyMs, listenUrl }: StoreOptions,
  logger: Pick<Logger, 'warn' | 'error'>,
): Promise<ResultAsync<Storage, StorageError>> {
  switch (place.type) {
    case 'memory': {
      const { memoryStorage } = await import('../../memory/index.js');
      return okAsync(memoryStorage());
    }
    case 'sqlite': {
      const { sqliteStorage } = await import('../../sqlite/index.js');
      return sqliteStorage(place.path, { busyMs });
    }
    case 'postgres': {
      const { postgresStorage } = await import('../../postgres/index.js');
      const { schema, url } = place;
      return postgresStorage(url, { schema, busyMs, logger, ...(listenUrl === null ? {} : { listenUrl }) });
    }
  }
}

/**
 * The store of options, environment or settings file, for a command that reads what a server keeps there. Rejects with `Stopped` for a store
 * in memory and for one that does not exist: opening would create it.
 */
export async function keptStore(args: readonly string[], { environment }: Terminal): Promise<StoreOptions> {
  const { flags, config } = orStop(readFlags(args));
  const file = await readSettingsFile(config, environment);
  const settings = orStop(resolveSettings({ flags, environment, file }).mapErr((faults) => faults.join('\n')));
  const store = storeOptionsFrom((key) => valueInForce(settings, key));
  if (store.place.type === 'memory') {
    throw new Stopped(
      'a store in memory is accessible only to its server: name a store in a file with --store sqlite:PATH, or in a database with --store postgres://USER@HOST/DATABASE',
      2,
    );
  }
  await checkPresence(store);
  return store;
}

async function checkPresence({ place }: StoreOptions): Promise<void> {
  if (place.type === 'sqlite' && !existsSync(place.path)) throw new Stopped(`there is no store at ${place.path}`);
  if (place.type !== 'postgres') return;
  const { hasPostgresStore } = await import('../../postgres/session.js');
  const found = await hasPostgresStore(place.url, place.schema);
  if (found.isErr()) throw new Stopped(`the store cannot be opened: ${found.error.message}`);
  if (!found.value) throw new Stopped(`there is no store in the schema ${place.schema} of the database`);
}
