/*
 * What can be wrong with a request about policies, roles and tokens. `message` is fit for the caller.
 */

/** The policy, role or token breaks rules; `errors` lists all of them. */
export interface InvalidAccess {
  readonly type: 'invalid_access';
  readonly errors: readonly string[];
  readonly message: string;
}

export interface RoleNotFound {
  readonly type: 'role_not_found';
  readonly id: string;
}

/** There is no token with this accessor. */
export interface TokenNotFound {
  readonly type: 'token_not_found';
  readonly accessor: string;
}

/** An accessor is a UUID, and its beginning that of one. */
export interface MalformedAccessor {
  readonly type: 'malformed_accessor';
  readonly message: string;
}

/** The first management token was made before. */
export interface BootstrapDone {
  readonly type: 'bootstrap_done';
  readonly message: string;
}

export type AccessError = InvalidAccess | RoleNotFound | TokenNotFound | MalformedAccessor | BootstrapDone;

/** One error that tells all that is wrong with a policy, role or token. */
export function invalidAccess(what: string, errors: readonly string[]): InvalidAccess {
  const heading = errors.length === 1 ? '1 error occurred:' : `${errors.length} errors occurred:`;
  const message = `${what} invalid: ${heading}${errors.map((error) => `\n\t* ${error}`).join('')}\n\n`;
  return { type: 'invalid_access', errors, message };
}

/** Something that the request names is not there, or does not fit. */
export function unfitAccess(message: string): InvalidAccess {
  return { type: 'invalid_access', errors: [message], message };
}
