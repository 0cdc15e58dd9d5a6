import { err, errAsync, ok, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import type { FieldFault, InvalidAttributes, NotFound } from '../../../notifications/errors.js';
import { isMailAddress, type User, users } from '../../../notifications/user.js';
import type { StorageError } from '../../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../../authorise.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { checkIdentifier, checkName } from './put-workspace.js';

/** Stores a user of the host, new or changed. Management only. */
export function putUser(
  context: EngineContext,
  caller: Principal,
  input: User,
): ResultAsync<User, PermissionDenied | InvalidAttributes | StorageError> {
  const allowed = authoriseManagement(caller).andThen(() => {
    const faults = faultsOf(input);
    return faults.length === 0 ? ok(undefined) : err<void, InvalidAttributes>({ type: 'invalid_attributes', faults });
  });
  if (allowed.isErr()) return new ResultAsync(Promise.resolve(err(allowed.error)));
  const { id, username, email, organization } = input;
  const user: User = { id, username, email, organization };
  return commit<User, never>(context, caller, (tx) => {
    if (JSON.stringify(tx.get(users, [id])?.record) !== JSON.stringify(user)) tx.put(users, user);
    return ok(user);
  }).map(({ value }) => value);
}

/** `putUser` for the user that a document describes. */
export function putUserOfDocument(
  context: EngineContext,
  caller: Principal,
  {
    id,
    user,
    faults,
  }: { readonly id: string; readonly user: Omit<User, 'id'>; readonly faults: readonly FieldFault[] },
): ReturnType<typeof putUser> {
  if (faults.length > 0) return errAsync({ type: 'invalid_attributes', faults });
  return putUser(context, caller, { ...user, id });
}

/** Removes a user. Configurations that name the user keep working for their other users. Management only. */
export function removeUser(
  context: EngineContext,
  caller: Principal,
  request: { readonly userId: string },
): ResultAsync<void, PermissionDenied | NotFound | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return new ResultAsync(Promise.resolve(err(allowed.error)));
  const id = request.userId;
  return commit<void, NotFound>(context, caller, (tx) =>
    tx.remove(users, [id]) ? ok(undefined) : err({ type: 'not_found', resource: 'user', id }),
  ).map(() => undefined);
}

function faultsOf(input: User): FieldFault[] {
  const faults: FieldFault[] = [];
  checkIdentifier(input.id, faults);
  checkName(input.username, 'username', faults);
  checkName(input.organization, 'organization', faults);
  if (!isMailAddress(input.email)) {
    faults.push({
      pointer: '/data/attributes/email',
      message: 'email must be a single address such as dana@example.org',
    });
  }
  return faults;
}
