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

/** Whether the engine's keys can decrypt the secrets in its store. */
export interface StoredSecretsCheck {
  /** Notification configurations and variables that the engine's keys cannot decrypt. */
  readonly unreadable: number;
  /** The first of these records. */
  readonly example: string | null;
  /**
   * Readable records, including tokens, that `resealStoredSecrets` would encrypt again; plus one if its last call was interrupted before
   * the store had overwritten the replaced data.
   */
  readonly outdated: number;
}

/**
 * Checks that the engine can decrypt the secrets in its store. Without a key, nothing can be delivered to its
 * configurations, and no task can read its variables, so call this before the service starts.
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
