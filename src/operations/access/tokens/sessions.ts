import { err, ok, okAsync, type Result, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../../access/allows.js';
import { hostPrincipal } from '../../../access/principal.js';
import { isExpired, oneTimeTokens, type StoredToken, sessions } from '../../../access/tokens.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { hour } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import { commitValue } from '../../commit.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import { credentialOf, isOver, tokenRowOf } from '../../records/caller-standing.js';
import { secretHash } from '../../records/presented-secret.js';
import type { Transaction } from '../../write-transaction.js';
import { secretBehind } from './one-time-token.js';

const longest = 12 * hour;
/** The most sessions of one token; the next one ends the oldest. */
const mostOfToken = 20;
/** Expired ones removed with each new one, so that they do not accumulate. */
const removedAtOnce = 100;

/** What is exchanged for a session: the secret of a token or of a one-time token. */
type SessionCredential = { readonly token: string } | { readonly oneTimeToken: string };

/** A session as its holder gets it, once. */
interface NewSession {
  readonly secret: string;
  readonly expiresAt: Instant;
}

/** Creates a session for a token, or for the token behind a one-time token, which is removed. */
export function createSession(
  context: EngineContext,
  credential: SessionCredential,
): ResultAsync<NewSession, PermissionDenied | StorageError> {
  // A guess is refused by a read, so it delays no writer.
  return readResult(context, (view) => tokenBehind(view, credential, context.clock.now())).andThen(() =>
    commitValue(context, hostPrincipal, (tx) => storeSession(tx, credential)),
  );
}

function storeSession(tx: Transaction, credential: SessionCredential): Result<NewSession, PermissionDenied> {
  return tokenBehind(tx, credential, tx.now).map((token) => {
    if ('oneTimeToken' in credential) tx.remove(oneTimeTokens, [token.accessor]);
    const expired = tx.list(sessions, { index: 'by_expiry', to: [tx.now + 1], limit: removedAtOnce });
    const others = tx.list(sessions, { index: 'by_token', prefix: [token.secretHash] });
    const oldest = others.slice(0, Math.max(0, others.length + 1 - mostOfToken));
    for (const { record } of [...expired, ...oldest]) tx.remove(sessions, [record.secretHash]);
    const secret = tx.ids.next('token_secret');
    const expiresAt = Math.min(tx.now + longest, token.expiresAt ?? Number.POSITIVE_INFINITY);
    const digests = { secretHash: secretHash(secret), tokenHash: token.secretHash };
    tx.put(sessions, { ...digests, madeAt: tx.index, expiresAt });
    return { secret, expiresAt };
  });
}

function tokenBehind(
  view: ReadView,
  credential: SessionCredential,
  now: Instant,
): Result<StoredToken, PermissionDenied> {
  const secret = 'token' in credential ? credential.token : secretBehind(view, credential.oneTimeToken, now);
  const token = secret === undefined ? undefined : tokenRowOf(view, secret)?.record;
  return token === undefined || isExpired(token, now) ? err({ type: 'permission_denied' }) : ok(token);
}

/** When the session with this secret ends; undefined if there is none, or none any more. */
export function readSession(context: EngineContext, secret: string): ResultAsync<Instant | undefined, StorageError> {
  return context.storage.read((view) => {
    const expiresAt = credentialOf(view, { session: secretHash(secret) })?.expiresAt;
    return isOver(expiresAt, context) ? undefined : expiresAt;
  });
}

/** Ends the session with this secret, if there is one. */
export function removeSession(context: EngineContext, secret: string): ResultAsync<void, StorageError> {
  const key = [secretHash(secret)];
  return context.storage
    .read((view) => view.get(sessions, key) !== undefined)
    .andThen((isKnown) =>
      isKnown
        ? commitValue<void, never>(context, hostPrincipal, (tx) => ok(void tx.remove(sessions, key)))
        : okAsync(undefined),
    );
}
