import { err, ok, type ResultAsync } from 'neverthrow';
import type { NamespaceRule, Principal, WorkspaceRight } from '../../access/principal.js';
import { type StoredToken, tokens } from '../../access/tokens.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../shared/authorise.js';
import type { EngineContext } from '../shared/context.js';
import { secretHash } from './secret-hash.js';

export interface TokenInput {
  /**
   * What the caller will present; a random one is made when absent. 1 to 256 visible ASCII characters; it is the
   * only protection of what the token allows, so it should be long and random.
   */
  readonly secret?: string;
  readonly name: string;
  readonly management?: boolean;
  readonly namespaces?: Readonly<Record<string, NamespaceRule>>;
  readonly workspaces?: Readonly<Record<string, WorkspaceRight>>;
}

/** A token as it may be shown: everything but the secret. */
export interface TokenInfo {
  readonly accessor: string;
  readonly name: string;
  readonly management: boolean;
  readonly namespaces: Readonly<Record<string, NamespaceRule>>;
  readonly workspaces: Readonly<Record<string, WorkspaceRight>>;
  readonly createdAt: number;
}

/** The only moment at which the secret can be read back. */
export interface IssuedToken {
  readonly token: TokenInfo;
  readonly secret: string;
}

export interface UnfitSecret {
  readonly type: 'unfit_secret';
  readonly message: string;
}

/**
 * Stores a token; one with the same secret is replaced and keeps its accessor. Only management callers may do this.
 * The secret itself is not stored.
 */
export function putToken(
  context: EngineContext,
  caller: Principal,
  input: TokenInput,
): ResultAsync<IssuedToken, PermissionDenied | UnfitSecret | StorageError> {
  const secret = input.secret ?? context.ids.next('token_secret');
  const fresh = context.ids.next('token_accessor');
  const now = context.clock.now();
  const hash = secretHash(secret);
  return authoriseManagement(caller)
    .andThen(() => checkSecret(secret))
    .asyncAndThen(() =>
      context.storage.write((view) => {
        const existing = view.list(tokens, { index: 'by_secret', prefix: [hash], limit: 1 })[0]?.record;
        const token: StoredToken = {
          accessor: existing?.accessor ?? fresh,
          secretHash: hash,
          name: input.name,
          management: input.management ?? false,
          namespaces: input.namespaces ?? {},
          workspaces: input.workspaces ?? {},
          createdAt: existing?.createdAt ?? now,
        };
        if (existing === undefined || !sameToken(existing, token)) view.put(tokens, token);
        return ok(token);
      }),
    )
    .map(({ value }) => ({ token: tokenInfo(value), secret }));
}

/** What may be shown of a stored token. */
export function tokenInfo(token: StoredToken): TokenInfo {
  const { accessor, name, management, namespaces, workspaces, createdAt } = token;
  return { accessor, name, management, namespaces, workspaces, createdAt };
}

/** Secrets travel in a header. */
function checkSecret(secret: string) {
  if (/^[\x21-\x7e]{1,256}$/.test(secret)) return ok(undefined);
  return err<never, UnfitSecret>({
    type: 'unfit_secret',
    message: 'a token secret is 1 to 256 visible ASCII characters without blanks',
  });
}

function sameToken(a: StoredToken, b: StoredToken): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
