import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import {
  isExpired,
  type OneTimeToken,
  oneTimeLifetime,
  oneTimeTokens,
  type TokenDocument,
  tokenDocument,
  tokens,
} from '../../../access/tokens.js';
import type { Indexed } from '../../../api/answers.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { commit, commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { tokenRowOf } from '../../records/caller-standing.js';
import { presentedBy, secretHash } from '../../records/presented-secret.js';
import type { Transaction } from '../../write-transaction.js';
import { tokenLookup } from './read-token.js';

const denied: PermissionDenied = { type: 'permission_denied' };

/** Expired ones removed with each new one, so that they do not accumulate. */
const removedAtOnce = 100;

/**
 * Creates a one-time token for the caller's token; it replaces the previous one. Only callers that presented the secret of a stored token
 * can do this.
 */
export function createOneTimeToken(
  context: EngineContext,
  caller: Principal,
): ResultAsync<Indexed<OneTimeToken>, PermissionDenied | StorageError> {
  const presented = presentedBy(caller)?.secret;
  if (presented === undefined) return errAsync(denied);
  return commit(context, caller, (tx): Result<OneTimeToken, PermissionDenied> => {
    const { accessor } = caller;
    const token = tx.get(tokens, [accessor])?.record;
    if (token === undefined || isExpired(token, tx.now)) return err(denied);
    removeExpired(tx);
    const secret = tx.ids.next('token_secret');
    const sealedSecret = sealBySecret(presented, secret);
    const expiresAt = tx.now + oneTimeLifetime;
    tx.put(oneTimeTokens, { accessor, secretHash: secretHash(secret), sealedSecret, expiresAt });
    const indexes = { CreateIndex: tx.index, ModifyIndex: tx.index };
    return ok({ OneTimeSecretID: secret, AccessorID: accessor, ExpiresAt: isoFromInstant(expiresAt), ...indexes });
  }).map(({ value }) => ({ index: value.ModifyIndex, value }));
}

function removeExpired(tx: Transaction): void {
  for (const { record } of tx.list(oneTimeTokens, { index: 'by_expiry', to: [tx.now + 1], limit: removedAtOnce })) {
    tx.remove(oneTimeTokens, [record.accessor]);
  }
}

/** Exchanges a one-time token: returns its token, with the secret, and removes the one-time token. */
export function exchangeOneTimeToken(
  context: EngineContext,
  caller: Principal,
  { secret }: { readonly secret: string },
): ResultAsync<Indexed<TokenDocument>, PermissionDenied | StorageError> {
  return commitValue(context, caller, (tx): Result<Indexed<TokenDocument>, PermissionDenied> => {
    const own = secretBehind(tx, secret, tx.now);
    const row = own === undefined ? undefined : tokenRowOf(tx, own);
    if (own === undefined || row === undefined || isExpired(row.record, tx.now)) return err(denied);
    tx.remove(oneTimeTokens, [row.record.accessor]);
    return ok({ index: tx.index, value: tokenDocument(row.record, own, tokenLookup(tx, row)) });
  });
}

/** The secret of the token behind a one-time token that can still be exchanged. */
export function secretBehind(view: ReadView, secret: string, now: Instant): string | undefined {
  const query = { index: 'by_secret', prefix: [secretHash(secret)], limit: 1 };
  const found = view.list(oneTimeTokens, query)[0]?.record;
  return found === undefined || found.expiresAt <= now ? undefined : openBySecret(found.sealedSecret, secret);
}

/*
 * Encrypts strings with a secret: AES-256-GCM with the SHA-256 of a label and the secret as key. The secret is random
 * and used for one string, so the key needs no stretching; the label makes it differ from the digest by which the secret is looked up.
 */

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

export function sealBySecret(plain: string, secret: string): string {
  const crypto = process.getBuiltinModule('node:crypto');
  const nonce = crypto.randomBytes(nonceLength);
  const cipher = crypto.createCipheriv(algorithm, keyOf(secret), nonce);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Undefined for another secret or a modified ciphertext. */
export function openBySecret(text: string, secret: string): string | undefined {
  const crypto = process.getBuiltinModule('node:crypto');
  const bytes = Buffer.from(text, 'base64');
  try {
    const decipher = crypto.createDecipheriv(algorithm, keyOf(secret), bytes.subarray(0, nonceLength));
    decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength));
    const plain = [decipher.update(bytes.subarray(nonceLength + tagLength)), decipher.final()];
    return Buffer.concat(plain).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyOf(secret: string): Buffer {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(`one-time token\n${secret}`).digest();
}
