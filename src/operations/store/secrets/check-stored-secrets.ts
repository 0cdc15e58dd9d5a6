import { okAsync, type ResultAsync } from 'neverthrow';
import type { StorageError } from '../../../ports/storage.js';
import type { Key } from '../../../shared/table.js';
import type { StoredText } from '../../../variables/variable.js';
import type { EngineContext } from '../../context/engine-context.js';
import {
  isOutdated,
  isReadable,
  pieceOf,
  replacedSecrets,
  type SealedRecords,
  throughKinds,
} from './sealed-records.js';

/** Whether the keys of the engine fit the secrets of its store. */
export interface StoredSecretsCheck {
  /** Notification configurations and variables with a string that cannot be opened with the keys that the engine has. */
  readonly unreadable: number;
  /** The first of them. */
  readonly example: string | null;
  /**
   * Readable records, tokens among them, that `resealStoredSecrets` would write anew; and one more if the last call was interrupted before
   * the store had overwritten what was replaced.
   */
  readonly outdated: number;
}

/**
 * Whether the engine can read what its store holds. With a missing key nothing could be delivered to the configurations that it
 * sealed, and no task could read the variables, so a service looks before it starts.
 */
export function checkStoredSecrets(context: EngineContext): ResultAsync<StoredSecretsCheck, StorageError> {
  const nothing: StoredSecretsCheck = { unreadable: 0, example: null, outdated: 0 };
  return throughKinds(nothing, (kind, found) => checkKind(context, kind, found)).andThen((found) =>
    context.storage
      .read((view) => view.list(replacedSecrets, { limit: 1 }).length)
      .map((notes) => ({ ...found, outdated: found.outdated + notes })),
  );
}

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
  found: StoredSecretsCheck,
): StoredSecretsCheck {
  const texts: StoredText[] = [];
  kind.map(record, (text) => {
    texts.push(text);
    return text;
  });
  if (!texts.every((text) => isReadable(context, text))) {
    if (!kind.isNeeded) return found;
    return { ...found, unreadable: found.unreadable + 1, example: found.example ?? kind.nameOf(record) };
  }
  const isOld = texts.some((text) => isOutdated(context, text));
  return isOld ? { ...found, outdated: found.outdated + 1 } : found;
}
