import { ok, okAsync, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../../access/principal.js';
import type { StorageError } from '../../../ports/storage.js';
import type { Key } from '../../../shared/table.js';
import type { StoredText } from '../../../variables/variable.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { isOutdated, pieceOf, replacedSecrets, type SealedRecords, throughKinds } from './sealed-records.js';

/**
 * Encrypts all secrets that are unencrypted or encrypted with another key with the cipher's current key: tokens and URLs of destinations,
 * items of variables, secrets of tokens. When it resolves, the replaced data is gone from the store's medium
 * (`Storage.overwriteRemoved`); the next call completes an interrupted one. Afterwards the other keys are needed for backups
 * only, if all processes on the store have the same current key. Undecryptable secrets are unchanged, as are the versions and indexes that
 * clients see in the records. Returns the number of records written.
 */
export function resealStoredSecrets(context: EngineContext): ResultAsync<number, StorageError> {
  const resealed = context.cipher === undefined ? okAsync(0) : resealAll(context);
  return resealed.andThen((written) => overwriteReplaced(context).map(() => written));
}

function resealAll(context: EngineContext): ResultAsync<number, StorageError> {
  return throughKinds(0, (kind, written) => resealKind(context, kind, written));
}

/** Removes the note only when none of the replaced data is left. */
function overwriteReplaced(context: EngineContext): ResultAsync<void, StorageError> {
  return context.storage
    .read((view) => view.list(replacedSecrets, { limit: 1 }).length > 0)
    .andThen((isDue) => {
      if (!isDue) return okAsync(undefined);
      const overwritten = context.storage.overwriteRemoved?.() ?? okAsync(undefined);
      return overwritten
        .andThen(() =>
          commit<void, never>(context, hostPrincipal, (tx) => ok(void tx.remove(replacedSecrets, ['secrets']))),
        )
        .map(() => undefined);
    });
}

function resealKind<R>(
  context: EngineContext,
  kind: SealedRecords<R>,
  before: number,
  from: Key = [],
): ResultAsync<number, StorageError> {
  return commit(context, hostPrincipal, (tx) => {
    const { records, next } = pieceOf(tx, kind, from);
    let written = before;
    for (const record of records) {
      const changed = resealed(context, kind, record);
      if (changed === undefined) continue;
      tx.put(kind.table, changed);
      written += 1;
    }
    if (written > before) tx.put(replacedSecrets, { id: 'secrets' });
    return ok({ written, next });
  }).andThen(({ value: { written, next } }) =>
    next === null ? okAsync(written) : resealKind(context, kind, written, next),
  );
}

/** Undefined if all strings are already encrypted with the current key or cannot be decrypted. */
function resealed<R>(context: EngineContext, kind: SealedRecords<R>, record: R): R | undefined {
  let changes = 0;
  const next = kind.map(record, (text) => {
    const sealed = isOutdated(context, text) ? sealedAnew(context, text) : undefined;
    if (sealed === undefined) return text;
    changes += 1;
    return sealed;
  });
  return changes === 0 ? undefined : next;
}

function sealedAnew({ cipher }: EngineContext, text: StoredText): StoredText | undefined {
  if (cipher === undefined) return undefined;
  if ('plain' in text) return { sealed: cipher.seal(text.plain) };
  return cipher.open(text.sealed).match(
    (plain) => ({ sealed: cipher.seal(plain) }),
    () => undefined,
  );
}
