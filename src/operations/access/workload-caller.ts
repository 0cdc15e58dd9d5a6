import type { ResultAsync } from 'neverthrow';
import type { Principal, Workload } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import type { EngineContext } from '../context/engine-context.js';
import { readWorkload } from '../records/caller-standing.js';

/**
 * The principal of a task: it may read the variables of its job, group and task, and has the rights that the policies for
 * its job grant. Verify the task's identity before calling this.
 */
export function workloadCaller(context: EngineContext, workload: Workload): ResultAsync<Principal, StorageError> {
  return context.storage.read((view) => readWorkload(view, workload));
}
