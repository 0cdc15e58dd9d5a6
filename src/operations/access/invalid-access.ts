import type { InvalidAccess } from '../../access/errors.js';
import { errorsText } from '../../jobs/validation/problems.js';

/** One error with all problems of a policy, role or token, as `what` names it. */
export function invalidAccess(what: string, errors: readonly string[]): InvalidAccess {
  return { type: 'invalid_access', errors, message: `${what} invalid: ${errorsText(errors)}` };
}
