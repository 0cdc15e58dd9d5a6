/*
 * Errors of requests about policies, roles and tokens. `message` may be shown to the caller.
 */

/** The policy, role or token is invalid; `errors` lists all problems. */
export interface InvalidAccess {
  readonly type: 'invalid_access';
  /** All problems, one string each. */
  readonly errors: readonly string[];
  readonly message: string;
}

/** There is no role with this ID. */
export interface RoleNotFound {
  readonly type: 'role_not_found';
  /** The requested ID. */
  readonly id: string;
}

/** There is no token with this accessor. */
export interface TokenNotFound {
  readonly type: 'token_not_found';
  /** The requested accessor. */
  readonly accessor: string;
}

/** An accessor must be a UUID, and a prefix of one the beginning of a UUID. */
export interface MalformedAccessor {
  readonly type: 'malformed_accessor';
  readonly message: string;
}

/** The first management token already exists. */
export interface BootstrapDone {
  readonly type: 'bootstrap_done';
  readonly message: string;
}

/** All errors of requests about policies, roles and tokens, apart from missing rights. */
export type AccessError = InvalidAccess | RoleNotFound | TokenNotFound | MalformedAccessor | BootstrapDone;

/** An object named by the request does not exist or does not match. */
export function unfitAccess(message: string): InvalidAccess {
  return { type: 'invalid_access', errors: [message], message };
}
