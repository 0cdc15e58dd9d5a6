import type { ResultAsync } from 'neverthrow';
import type { Principal, Workload } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { readWorkload } from '../books/workload-rules.js';
import type { EngineContext } from '../context/engine-context.js';

/**
 * The caller that a task is when it acts for itself: it reads the variables of its own job, group and task, and has what the policies
 * for its job grant. Who calls this vouches that the task is what the workload says.
 */
export function workloadCaller(context: EngineContext, workload: Workload): ResultAsync<Principal, StorageError> {
  return context.storage.read((view) => readWorkload(view, workload));
}
