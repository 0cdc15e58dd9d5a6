import type { ResultAsync } from 'neverthrow';
import { type StoredToken, tokens } from '../../../access/tokens.js';
import { configurations, type NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { type Key, type Table, table } from '../../../shared/table.js';
import { type StoredText, type StoredVariable, variables } from '../../../variables/variable.js';
import type { EngineContext } from '../../context/engine-context.js';

/** A kind of record with strings that the host's cipher encrypts. */
export interface SealedRecords<R> {
  readonly table: Table<R>;
  /** The name of a record in messages. */
  readonly nameOf: (record: R) => string;
  /** Whether the record is useless if one of its strings cannot be decrypted. */
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

/** Their secrets are kept for display only: a token is recognised by a digest. */
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
export const replacedSecrets = table<ReplacedSecrets>('replaced_secrets', ({ id }) => [id]);

/** Processes all kinds in order; `step` receives the result of the previous one. */
export function throughKinds<T>(
  first: T,
  step: <R>(kind: SealedRecords<R>, before: T) => ResultAsync<T, StorageError>,
): ResultAsync<T, StorageError> {
  return step(sealedConfigurations, first)
    .andThen((before) => step(sealedVariables, before))
    .andThen((before) => step(sealedTokens, before));
}

/** Records per read, in one turn of the event loop. */
const chunk = 100;

/** The records from a key on, and the start key of the next read; null after the last record. */
export function pieceOf<R>(
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

export function isReadable({ cipher }: EngineContext, text: StoredText): boolean {
  return 'plain' in text || cipher?.open(text.sealed).isOk() === true;
}

/** Whether the string must be encrypted again: it is unencrypted, or encrypted with a key other than the current one. */
export function isOutdated({ cipher }: EngineContext, text: StoredText): boolean {
  if (cipher === undefined) return false;
  return 'plain' in text || cipher.isCurrent?.(text.sealed) === false;
}
