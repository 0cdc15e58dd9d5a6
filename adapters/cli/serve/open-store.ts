import { existsSync } from 'node:fs';
import { okAsync, type ResultAsync } from 'neverthrow';
import type { Storage, StorageError } from '../../../src/index.js';
import { orStop } from '../settings/config-command.js';
import { readFlags } from '../settings/read-flags.js';
import { resolveSettings } from '../settings/resolve-settings.js';
import { readSettingsFile } from '../settings/settings-file.js';
import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';
import { valueInForce } from './serve-options.js';

/** Opens the store of the options. SQLite and its driver are loaded only if used. */
export async function openStore(path: string | null): Promise<ResultAsync<Storage, StorageError>> {
  if (path === null) {
    const { memoryStorage } = await import('../../memory/index.js');
    return okAsync(memoryStorage());
  }
  const { sqliteStorage } = await import('../../sqlite/index.js');
  return sqliteStorage(path);
}

/** The file of the store from options, environment or settings file. Rejects with `Stopped` for a store in memory or a missing file. */
export async function storeFile(args: readonly string[], { environment }: Terminal): Promise<string> {
  const { flags, config } = orStop(readFlags(args));
  const file = await readSettingsFile(config, environment);
  const settings = orStop(resolveSettings({ flags, environment, file }).mapErr((faults) => faults.join('\n')));
  const store = String(valueInForce(settings, 'store'));
  if (!store.startsWith('sqlite:')) {
    throw new Stopped(
      'a store in memory is accessible only to its server: name a store in a file with --store sqlite:PATH',
      2,
    );
  }
  const path = store.slice('sqlite:'.length);
  // Opening would create it.
  if (!existsSync(path)) throw new Stopped(`there is no store at ${path}`);
  return path;
}
