import type { ResultAsync } from 'neverthrow';
import { allows } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import type { Row, StorageError } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { type AllocationDocument, allocationDocument } from '../../scheduler/allocation-views.js';
import type { EngineContext } from '../context/engine-context.js';
import { readAllocationJob } from '../records/jobs/job-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../waiting/parked-queries.js';

/**
 * Every stored allocation of the node, current or past, with the job version that it runs. Index: that of the last change of
 * one of them; 1 when there are none.
 */
export function listNodeAllocations(
  context: EngineContext,
  caller: Principal,
  input: MayWait & { readonly nodeId: string },
): ResultAsync<
  Answer<readonly { readonly document: AllocationDocument; readonly job: Row<Job> | undefined }[]>,
  StorageError
> {
  return answerQuery(
    context,
    {
      key: JSON.stringify(['node-allocations', input.nodeId, caller.management ? '' : caller.namespaces]),
      tables: [rowsUnder(allocations, [input.nodeId], 'by_node')],
      run: (view) => {
        const rows = view.list(allocations, { index: 'by_node', prefix: [input.nodeId] });
        return {
          index: rows.reduce((highest, { record }) => Math.max(highest, record.ModifyIndex), 1),
          value: rows
            .filter(({ record }) => allows(caller, record.Namespace, ['read-job']))
            .map(({ record }) => ({ document: allocationDocument(record), job: readAllocationJob(view, record) })),
        };
      },
    },
    input.waiting,
  );
}
