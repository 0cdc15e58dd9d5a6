import { ok, okAsync, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { type StoredToken, tokens } from '../../access/tokens.js';
import { configurations, type NotificationConfiguration } from '../../notifications/configurations/configuration.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Key, type Table, table } from '../../shared/table.js';
import { type StoredText, type StoredVariable, variables } from '../../variables/variable.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/** Whether the engine's keys can decrypt the secrets in its store. */
export interface StoredSecretsCheck {
  /** Notification configurations and variables that the engine's keys cannot decrypt. */
  readonly unreadable: number;
  /** The first of them. */
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

/**
 * Encrypts all secrets that are in the clear or encrypted with another key with the cipher's current key: tokens and URLs of destinations,
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

/** Removes the note only when no replaced data is left. */
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

/** Undefined when all strings have their current form or cannot be decrypted. */
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

/** A kind of record with strings that the host's cipher encrypts. */
interface SealedRecords<R> {
  readonly table: Table<R>;
  /** The name of a record in messages. */
  readonly nameOf: (record: R) => string;
  /** Whether the record is useless when one of its strings cannot be decrypted. */
  readonly isNeeded: boolean;
  /** The record with `change` applied to each of its strings. */
  readonly map: (record: R, change: (text: StoredText) => StoredText) => R;
}

const sealedConfigurations: SealedRecords<NotificationConfiguration> = {
  table: configurations,
  isNeeded: true,
  nameOf: ({ id }) => id,
  map: (record, change) => {
    const { url, token, retiredTokens, response, options } = record;
    return {
      ...record,
      url: url && change(url),
      token: token && change(token),
      retiredTokens: retiredTokens.map((retired) => ({ ...retired, token: change(retired.token) })),
      response: response && { ...response, url: change(response.url) },
      ...(options === undefined
        ? {}
        : { options: { ...options, secrets: options.secrets && change(options.secrets) } }),
    };
  },
};

const sealedVariables: SealedRecords<StoredVariable> = {
  table: variables,
  isNeeded: true,
  nameOf: ({ Namespace, Path }) => `variable ${Path} in namespace ${Namespace}`,
  map: (record, change) => ({ ...record, items: change(record.items) }),
};

/** Their secrets are stored for display only: a token is found by a digest. */
const sealedTokens: SealedRecords<StoredToken> = {
  table: tokens,
  isNeeded: false,
  nameOf: ({ accessor }) => `token ${accessor}`,
  map: (record, change) => {
    if (record.sealedSecret === undefined) return record;
    const text = change({ sealed: record.sealedSecret });
    return 'sealed' in text ? { ...record, sealedSecret: text.sealed } : record;
  },
};

/** Marks that records were encrypted again, and that the replaced data may still be on the store's medium. */
interface ReplacedSecrets {
  readonly id: 'secrets';
}

/** Written together with the records, so that an interrupted start is completed by the next one. */
const replacedSecrets = table<ReplacedSecrets>('replaced_secrets', ({ id }) => [id]);

/** Processes all kinds one after the other; `step` receives the position that the previous step reached. */
function throughKinds<T>(
  first: T,
  step: <R>(kind: SealedRecords<R>, before: T) => ResultAsync<T, StorageError>,
): ResultAsync<T, StorageError> {
  return step(sealedConfigurations, first)
    .andThen((before) => step(sealedVariables, before))
    .andThen((before) => step(sealedTokens, before));
}

/** Records read at once, between which the event loop runs. */
const chunk = 100;

/** The records from a key on, and the key of the next batch; null after the last one. */
function pieceOf<R>(
  view: ReadView,
  { table }: SealedRecords<R>,
  from: Key,
): { readonly records: readonly R[]; readonly next: Key | null } {
  const records = view.list(table, { from, limit: chunk }).map(({ record }) => record);
  const last = records.at(-1);
  if (last === undefined || records.length < chunk) return { records, next: null };
  const key = table.key(last);
  // The keys of these tables end with a string: this is the first key after it.
  return { records, next: [...key.slice(0, -1), `${String(key.at(-1))}\u0000`] };
}

function isReadable({ cipher }: EngineContext, text: StoredText): boolean {
  return 'plain' in text || cipher?.open(text.sealed).isOk() === true;
}

/** Whether the string is in the clear although there is a cipher, or encrypted with a key that is not the current one. */
function isOutdated({ cipher }: EngineContext, text: StoredText): boolean {
  if (cipher === undefined) return false;
  return 'plain' in text || cipher.isCurrent?.(text.sealed) === false;
}
