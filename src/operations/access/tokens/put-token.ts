import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../../access/allows.js';
import type { NamespaceRule, Principal, WorkspaceRight } from '../../../access/principal.js';
import { type StoredToken, tokens } from '../../../access/tokens.js';
import { tokenSecret } from '../../../options/option-kinds.js';
import type { StorageError } from '../../../ports/storage.js';
import { commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { contentHash } from '../../records/content-hash.js';
import { secretHash } from '../../records/presented-secret.js';
import type { Transaction } from '../../write-transaction.js';

/** A token with its rights, as the host defines it for `putToken`. */
export interface TokenInput {
  /**
   * The secret that callers present; random when absent. 1 to 256 visible ASCII characters. It is the
   * only protection of the token's rights, so it should be long and random.
   */
  readonly secret?: string;
  /** For people; need not be unique. */
  readonly name: string;
  /** Allows everything; false when absent. */
  readonly management?: boolean;
  /** Rules by namespace or glob; none when absent. */
  readonly namespaces?: Readonly<Record<string, NamespaceRule>>;
  /** Rights by workspace ID or glob; none when absent. */
  readonly workspaces?: Readonly<Record<string, WorkspaceRight>>;
  /** Names of policies, whose rights are added to the token's own rules. */
  readonly policies?: readonly string[];
}

/** A token without its secret. */
export interface TokenInfo extends Pick<Principal, 'accessor' | 'name' | 'management' | 'namespaces' | 'workspaces'> {
  /** Names of the policies whose rights are added. */
  readonly policies: readonly string[];
  /** When it was first stored. */
  readonly createdAt: number;
}

/** A stored token with its secret, which cannot be read later. */
export interface IssuedToken {
  readonly token: TokenInfo;
  /** The secret to send with each call. */
  readonly secret: string;
}

/** The secret is invalid: it must be 1 to 256 visible ASCII characters. */
export interface UnfitSecret {
  readonly type: 'unfit_secret';
  readonly message: string;
}

/**
 * Stores a token; one with the same secret is replaced and keeps its accessor. Only management callers may do this.
 * The secret is stored only if the host gave a cipher, encrypted.
 */
export function putToken(
  context: EngineContext,
  caller: Principal,
  input: TokenInput,
): ResultAsync<IssuedToken, PermissionDenied | UnfitSecret | StorageError> {
  const { secret } = input;
  if (!caller.management) return errAsync({ type: 'permission_denied' });
  return (secret === undefined ? ok(undefined) : checkSecret(secret)).asyncAndThen(() =>
    commitValue(context, caller, (tx) => ok<IssuedToken, never>(storeToken(context, tx, input))),
  );
}

function storeToken(context: EngineContext, tx: Transaction, input: TokenInput): IssuedToken {
  const secret = input.secret ?? tx.ids.next('token_secret');
  const hash = secretHash(secret);
  const existing = tx.list(tokens, { index: 'by_secret', prefix: [hash], limit: 1 })[0]?.record;
  const sealed = existing === undefined ? context.cipher?.seal(secret) : existing.sealedSecret;
  const token: StoredToken = {
    ...(existing === undefined ? freshToken(tx) : keptOf(existing, tx)),
    secretHash: hash,
    ...(sealed === undefined ? {} : { sealedSecret: sealed }),
    ...statedRights(input, existing),
  };
  if (existing === undefined || !sameToken(existing, token)) tx.put(tokens, token);
  return { token: tokenInfo(token), secret };
}

function freshToken(tx: Transaction): Pick<StoredToken, 'accessor' | 'createdAt' | 'madeAt'> {
  return { accessor: tx.ids.next('token_accessor'), createdAt: tx.now, madeAt: tx.index };
}

/**
 * The members of an existing token that are kept when its secret is given again. Its rights are replaced, and it has no roles.
 */
function keptOf({ roles: _replaced, ...kept }: StoredToken, tx: Transaction): Omit<StoredToken, 'roles'> {
  return { ...kept, madeAt: kept.madeAt ?? tx.index };
}

function statedRights(
  { name, management = false, namespaces = {}, workspaces = {}, policies = [] }: TokenInput,
  existing: StoredToken | undefined,
): Pick<StoredToken, 'name' | 'management' | 'namespaces' | 'workspaces' | 'policies' | 'hash'> {
  const hash = contentHash(name, management, namespaces, workspaces, policies);
  const rights = { name, management, namespaces, workspaces, hash };
  return policies.length === 0 && existing?.policies === undefined ? rights : { ...rights, policies };
}

/** A stored token without its secret. */
export function tokenInfo(token: StoredToken): TokenInfo {
  const { accessor, name, management, namespaces, workspaces, policies = [], createdAt } = token;
  return { accessor, name, management, namespaces, workspaces, policies, createdAt };
}

function checkSecret(secret: string) {
  if (tokenSecret.fits(secret)) return ok(undefined);
  return err<never, UnfitSecret>({ type: 'unfit_secret', message: `a token secret is ${tokenSecret.takes}` });
}

function sameToken(a: StoredToken, b: StoredToken): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** All tokens in order of accessors, without secrets. Only management callers may do this. */
export function listTokens(
  context: EngineContext,
  caller: Principal,
): ResultAsync<readonly TokenInfo[], PermissionDenied | StorageError> {
  if (!caller.management) return errAsync({ type: 'permission_denied' });
  return context.storage.read((view) => view.list(tokens).map((row) => tokenInfo(row.record)));
}
