import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import type { StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { authoriseManagement, type PermissionDenied } from '../shared/authorise.js';
import { answerQuery, type Waiting } from '../shared/blocking-query.js';
import type { EngineContext } from '../shared/context.js';
import { readAllocationJob } from '../shared/job-store.js';
import type { Answer } from '../shared/parked-queries.js';

/** One allocation that the node has not finished with, and the job version that it runs. */
export interface NodeWork {
  readonly allocation: Allocation;
  /** Undefined when the job was purged: the allocation must end. */
  readonly job: Job | undefined;
}

/** What the agent of a node has to look after. An allocation that is not listed any more must end. Waits like every read. */
export function listNodeWork(
  context: EngineContext,
  caller: Principal,
  input: { readonly nodeId: string },
  waiting: Waiting = {},
): ResultAsync<Answer<readonly NodeWork[]>, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return answerQuery(
    context,
    {
      key: `node-work:${input.nodeId}`,
      tables: [allocations],
      run: (view) => ({
        index: view.tableIndex(allocations),
        value: view
          .list(allocations, { index: 'open_by_node', prefix: [input.nodeId] })
          .map(({ record }) => ({ allocation: record, job: readAllocationJob(view, record)?.record })),
      }),
    },
    waiting,
  );
}
