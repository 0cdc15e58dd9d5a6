import { ok, okAsync, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../../access/principal.js';
import type { StorageError } from '../../../ports/storage.js';
import type { Key } from '../../../shared/table.js';
import type { StoredText } from '../../../variables/variable.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { isOutdated, pieceOf, type SealedRecords, throughKinds } from './sealed-records.js';

/**
 * Seals with the cipher's current key what the store holds in the clear or sealed with another key: tokens and URLs of destinations,
 * items of variables, secrets of tokens. Afterwards the other keys are needed for backups only, if all processes on the store have
 * the same current key. What cannot be opened stays as it is. Versions and indexes that clients see in the records do not change. Gives
 * the number of records that were written.
 */
export function resealStoredSecrets(context: EngineContext): ResultAsync<number, StorageError> {
  if (context.cipher === undefined) return okAsync(0);
  return throughKinds(0, (kind, written) => resealKind(context, kind, written));
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
    return ok({ written, next });
  }).andThen(({ value: { written, next } }) =>
    next === null ? okAsync(written) : resealKind(context, kind, written, next),
  );
}

/** Undefined when all texts are as they would be kept today, or cannot be opened. */
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
