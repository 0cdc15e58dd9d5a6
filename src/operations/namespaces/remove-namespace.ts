import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { NamespaceError } from '../../jobs/errors.js';
import { jobs } from '../../jobs/job-record.js';
import { defaultNamespaceName, namespaces } from '../../jobs/namespaces/namespace.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { allocations, isClientTerminal } from '../../scheduler/allocation.js';
import { variables } from '../../variables/variable.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/** Errors of `removeNamespace`. */
type RemoveNamespaceError = PermissionDenied | Exclude<NamespaceError, { type: 'invalid_namespace' }> | StorageError;

/** Removes a namespace that is not in use. Only management callers may do this. Returns the index of the write. */
export function removeNamespace(
  context: EngineContext,
  caller: Principal,
  input: { readonly name: string },
): ResultAsync<{ readonly index: number }, RemoveNamespaceError> {
  const { name } = input;
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  if (name === defaultNamespaceName) {
    return errAsync({ type: 'namespace_protected', name, message: 'default namespace can not be deleted' });
  }
  return commit(context, caller, (tx): Result<void, RemoveNamespaceError> => {
    if (tx.get(namespaces, [name]) === undefined) {
      return err({ type: 'namespace_not_found', name, message: `namespace "${name.slice(0, 140)}" not found` });
    }
    const use = useOf(tx, name);
    if (use !== undefined) {
      const message = `namespace "${name}" has ${use} in regions: [${context.settings.jobs.region}]`;
      return err({ type: 'namespace_in_use', name, message });
    }
    tx.remove(namespaces, [name]);
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

/** A message that clients match: they retry until the jobs and allocations have ended. */
function useOf(view: ReadView, name: string): string | undefined {
  if (view.list(jobs, { prefix: [name] }).some(({ record }) => record.Status !== 'dead')) return 'non-terminal jobs';
  // An allocation of a stopped job runs until its node has ended it.
  const present = view.list(allocations, { index: 'by_job', prefix: [name] });
  if (present.some(({ record }) => !isClientTerminal(record))) return 'non-terminal allocations';
  return view.list(variables, { prefix: [name], limit: 1 }).length > 0 ? 'variables' : undefined;
}
