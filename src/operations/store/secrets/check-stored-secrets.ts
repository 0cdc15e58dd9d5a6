import { okAsync, type ResultAsync } from 'neverthrow';
import type { StorageError } from '../../../ports/storage.js';
import type { Key } from '../../../shared/table.js';
import type { StoredText } from '../../../variables/variable.js';
import type { EngineContext } from '../../context/engine-context.js';
import {
  isOutdated,
  isReadable,
  pieceOf,
  type SealedRecords,
  sealedConfigurations,
  sealedTokens,
  sealedVariables,
} from './sealed-records.js';

export interface StoredSecretsCheck {
  /** Notification configurations and variables with a text that cannot be opened with the keys that the engine has. */
  readonly unreadable: number;
  /** The first of them. */
  readonly example: string | null;
  /** Readable records, tokens among them, that `resealStoredSecrets` would write anew. */
  readonly outdated: number;
}

/**
 * Whether the engine can read what its store holds. With a missing key nothing could be delivered to the configurations that it
 * sealed, and no task could read the variables, so a service looks before it starts.
 */
export function checkStoredSecrets(context: EngineContext): ResultAsync<StoredSecretsCheck, StorageError> {
  return checkKind(context, sealedConfigurations, nothing)
    .andThen((found) => checkKind(context, sealedVariables, found))
    .andThen((found) =>
      // A token works without the secret that is kept for display.
      checkKind(context, sealedTokens, nothing).map(({ outdated }) => ({
        ...found,
        outdated: found.outdated + outdated,
      })),
    );
}

const nothing: StoredSecretsCheck = { unreadable: 0, example: null, outdated: 0 };

function checkKind<R>(
  context: EngineContext,
  kind: SealedRecords<R>,
  found: StoredSecretsCheck,
  from: Key = [],
): ResultAsync<StoredSecretsCheck, StorageError> {
  return context.storage
    .read((view) => {
      const { records, next } = pieceOf(view, kind, from);
      return { next, sum: records.reduce((sum, record) => withRecord(context, kind, record, sum), found) };
    })
    .andThen(({ next, sum }) => (next === null ? okAsync(sum) : checkKind(context, kind, sum, next)));
}

function withRecord<R>(
  context: EngineContext,
  kind: SealedRecords<R>,
  record: R,
  { unreadable, example, outdated }: StoredSecretsCheck,
): StoredSecretsCheck {
  const texts: StoredText[] = [];
  kind.map(record, (text) => {
    texts.push(text);
    return text;
  });
  if (!texts.every((text) => isReadable(context, text))) {
    return { unreadable: unreadable + 1, example: example ?? kind.nameOf(record), outdated };
  }
  const isOld = texts.some((text) => isOutdated(context, text));
  return { unreadable, example, outdated: outdated + (isOld ? 1 : 0) };
}
