import type { ResultAsync } from 'neverthrow';
import { configurations, type NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { EngineContext } from '../../context/engine-context.js';
import { openOptions, openSecret } from './stored-secrets.js';

export interface StoredSecretsCheck {
  /** Configurations whose URL or token cannot be opened with the keys that the engine has. */
  readonly unreadable: number;
  /** The first of them. */
  readonly example: string | null;
}

/** Rows read in one piece. */
const chunk = 500;

/**
 * Whether the engine can read what its store holds. With a missing key nothing could be delivered to the configurations that it
 * sealed, so a service looks before it starts.
 */
export function checkStoredSecrets(context: EngineContext): ResultAsync<StoredSecretsCheck, StorageError> {
  return context.storage.read((view) => {
    let unreadable = 0;
    let example: string | null = null;
    for (const configuration of allConfigurations(view)) {
      if (isReadable(context, configuration)) continue;
      unreadable += 1;
      example ??= configuration.id;
    }
    return { unreadable, example };
  });
}

function isReadable(context: EngineContext, { url, token, options }: NotificationConfiguration): boolean {
  return openSecret(context, url).isOk() && openSecret(context, token).isOk() && openOptions(context, options).isOk();
}

function* allConfigurations(view: ReadView): Generator<NotificationConfiguration> {
  let after: string | null = null;
  for (;;) {
    // Ids are ASCII, so this is the first key after the last one.
    const from: readonly [string] | readonly [] = after === null ? [] : [`${after}\u0000`];
    const rows: readonly { readonly record: NotificationConfiguration }[] = view.list(configurations, {
      from,
      limit: chunk,
    });
    for (const { record } of rows) yield record;
    after = rows.at(-1)?.record.id ?? null;
    if (after === null || rows.length < chunk) return;
  }
}
