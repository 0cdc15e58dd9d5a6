import { err, errAsync, ok } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import type { InvalidRequest } from '../../jobs/errors.js';
import type { ReadView, Row } from '../../ports/storage.js';
import type { Page, PageRequest } from '../../queries/page.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import {
  type AllocationListStub,
  type AllocationStubOptions,
  allocationListStub,
} from '../../scheduler/allocation-stub.js';
import { authorise } from '../shared/authorise.js';
import type { EngineContext } from '../shared/context.js';
import { readAllocationJob, readJobRow } from '../shared/job-store.js';
import { readCreatedPage } from './created-list.js';
import { namespaceOf } from './job-reference.js';
import { faultOfId, type RecordQuery } from './read-evaluations.js';
import type { JobQuery } from './read-job.js';
import { type NamespaceQuery, queryKey, type Read, readQuery, visibilityOf } from './read-query.js';

export interface ListAllocationsInput extends NamespaceQuery, PageRequest, AllocationStubOptions {
  /** Beginning of the IDs. */
  readonly prefix?: string;
}

/** The allocations of a namespace, or of all that the caller may read. Index: that of the allocations table. */
export function listAllocations(
  context: EngineContext,
  caller: Principal,
  input: ListAllocationsInput,
): Read<Page<AllocationListStub>> {
  const namespace = namespaceOf(input);
  const visibility = visibilityOf(caller, namespace, ['read-job']);
  const { prefix = '', perPage = 0, nextToken = '', reverse = false, resources = false, taskStates = true } = input;
  const query = {
    key: queryKey('allocations', namespace, visibility.key, prefix, perPage, nextToken, reverse, resources, taskStates),
    tables: [allocations],
    run: (view: ReadView) => {
      const request = { namespace, visibility, prefix, accept: () => true, perPage, nextToken, reverse };
      const page = readCreatedPage(view, allocations, request);
      const items = page.items.map(({ record }) => allocationListStub(record, { resources, taskStates }));
      return { index: view.tableIndex(allocations), value: { items, nextToken: page.nextToken } };
    },
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

/** The allocations of one job, by ID; without `all`, those of the present registration when there is one. */
export function listJobAllocations(
  context: EngineContext,
  caller: Principal,
  input: JobQuery & { readonly all?: boolean },
): Read<readonly AllocationListStub[]> {
  const namespace = namespaceOf(input);
  const all = input.all === true;
  const query = {
    key: queryKey('job-allocations', namespace, input.jobId, all),
    tables: [allocations],
    run: (view: ReadView) => {
      const present = all ? undefined : readJobRow(view, namespace, input.jobId)?.record.CreateIndex;
      const value = view
        .list(allocations, { index: 'by_job', prefix: [namespace, input.jobId] })
        .filter(({ record }) => present === undefined || record.JobCreateIndex === present)
        .map(({ record }) => allocationListStub(record));
      return { index: view.tableIndex(allocations), value };
    },
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

/** An allocation with the job version that it runs laid in; null when that version is no longer kept. */
export interface AllocationWithJob {
  readonly allocation: Row<Allocation>;
  readonly job: Row<Job> | undefined;
}

/** The caller has no right in the allocation's namespace: it is as if there were none. */
export interface UnknownAllocation {
  readonly type: 'unknown_allocation';
  readonly message: string;
}

/** One allocation; undefined when there is none. */
export function readAllocation(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
): Read<AllocationWithJob | undefined, InvalidRequest | UnknownAllocation> {
  const fault = faultOfId(input.id);
  if (fault !== undefined) return errAsync(fault);
  const query = {
    key: queryKey('allocation', input.id),
    tables: [allocations],
    run: (view: ReadView) => {
      const row = view.get(allocations, [input.id.toLowerCase()]);
      const value = row === undefined ? undefined : { allocation: row, job: readAllocationJob(view, row.record) };
      return { index: row?.modifyIndex ?? view.tableIndex(allocations), value };
    },
  };
  return readQuery(context, caller, namespaceOf(input), ['read-job'], query, input.waiting).andThen((answer) => {
    const found = answer.value?.allocation.record;
    if (found === undefined || authorise(caller, found.Namespace, ['read-job']).isOk()) return ok(answer);
    return err<never, UnknownAllocation>({
      type: 'unknown_allocation',
      message: `Unknown allocation "${found.ID}"`,
    });
  });
}
