import { errAsync } from 'neverthrow';
import type { variableCalls } from '../../api/calls/variable-calls.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Bindings } from '../binding.js';
import { putVariable } from './put-variable.js';
import { listVariables, readVariable } from './read-variables.js';
import { removeVariable } from './remove-variable.js';
import { renewLock } from './renew-lock.js';

/** The operations of the calls of variables. */
export const variableBindings: Bindings<typeof variableCalls> = {
  list: (context, caller, input, { waiting }) => listVariables(context, caller, { ...input, waiting }),
  read: (context, caller, input, { waiting }) => readVariable(context, caller, { ...input, waiting }),
  put: (context, caller, input) => {
    const { path, cas, items, lock = {}, acquire, renew, release } = input;
    const namespace = input.itsNamespace ?? input.namespace;
    const named = { path, ...(namespace === undefined ? {} : { namespace }) };
    const asked = [acquire, renew, release].filter((given) => given === true).length;
    if (asked > 1)
      return errAsync({
        type: 'invalid_variable',
        message: 'a request can acquire, renew or release a lock, but only one of these',
      });
    if (renew === true) return renewLock(context, caller, { ...named, lockId: lock.id ?? '' });
    const doing = acquire === true ? 'acquire' : release === true ? 'release' : undefined;
    return putVariable(context, caller, {
      ...named,
      ...stated({ cas, items, lock: doing, lockId: lock.id || undefined }),
      ttl: nanos(lock.ttl),
      lockDelay: nanos(lock.delay),
    });
  },
  remove: removeVariable,
};

function nanos(duration: Milliseconds | undefined): number {
  return Math.round((duration ?? 0) * 1_000_000);
}

type Stated<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The members with a value. */
function stated<T extends object>(members: T): Stated<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Stated<T>;
}
