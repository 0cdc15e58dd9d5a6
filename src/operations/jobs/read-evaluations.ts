import { errAsync } from 'neverthrow';
import { everyNamespace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { type InvalidRequest, invalidRequest } from '../../jobs/errors.js';
import type { ReadView, Row } from '../../ports/storage.js';
import { isUuid } from '../../queries/list-tokens.js';
import type { Page, PageRequest } from '../../queries/page.js';
import { allocations } from '../../scheduler/allocation.js';
import { type AllocationListStub, allocationListStub } from '../../scheduler/allocation-stub.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { EngineContext } from '../shared/context.js';
import { readCreatedPage } from './created-list.js';
import { namespaceOf } from './job-reference.js';
import type { JobQuery } from './read-job.js';
import { type NamespaceQuery, queryKey, type Read, readQuery, visibilityOf } from './read-query.js';

export interface ListEvaluationsInput extends NamespaceQuery, PageRequest {
  /** Beginning of the IDs. */
  readonly prefix?: string;
  /** Exact status. */
  readonly status?: string;
  /** Exact job ID. */
  readonly job?: string;
}

/** The evaluations of a namespace, or of all that the caller may read. Index: that of the evaluations table. */
export function listEvaluations(
  context: EngineContext,
  caller: Principal,
  input: ListEvaluationsInput,
): Read<Page<Row<Evaluation>>> {
  const namespace = namespaceOf(input);
  const visibility = visibilityOf(caller, namespace, ['read-job']);
  const { prefix = '', status = '', job = '', perPage = 0, nextToken = '', reverse = false } = input;
  const query = {
    key: queryKey('evaluations', namespace, visibility.key, prefix, status, job, perPage, nextToken, reverse),
    tables: [evaluations],
    run: (view: ReadView) => {
      const accept = (record: Evaluation) =>
        (status === '' || record.Status === status) && (job === '' || record.JobID === job);
      const request = { namespace, visibility, prefix, accept, perPage, nextToken, reverse };
      return { index: view.tableIndex(evaluations), value: readCreatedPage(view, evaluations, request) };
    },
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

export interface RecordQuery extends NamespaceQuery {
  readonly id: string;
}

/**
 * One evaluation; undefined when there is none, and when it is in a namespace where the caller may not read: nothing, not
 * even the index, tells the two apart.
 */
export function readEvaluation(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
): Read<Row<Evaluation> | undefined, InvalidRequest> {
  const fault = faultOfId(input.id);
  if (fault !== undefined) return errAsync(fault);
  const visible = visibilityOf(caller, everyNamespace, ['read-job']);
  const query = {
    key: queryKey('evaluation', input.id, visible.key),
    tables: [evaluations],
    run: (view: ReadView) => {
      const row = view.get(evaluations, [input.id.toLowerCase()]);
      const shown = row !== undefined && visible.sees(row.record.Namespace) ? row : undefined;
      return { index: shown?.modifyIndex ?? view.tableIndex(evaluations), value: shown };
    },
  };
  return readQuery(context, caller, namespaceOf(input), ['read-job'], query, input.waiting);
}

/** The evaluations of one job. Index: that of the evaluations table. */
export function listJobEvaluations(
  context: EngineContext,
  caller: Principal,
  input: JobQuery,
): Read<readonly Row<Evaluation>[]> {
  const namespace = namespaceOf(input);
  const query = {
    key: queryKey('job-evaluations', namespace, input.jobId),
    tables: [evaluations],
    run: (view: ReadView) => ({
      index: view.tableIndex(evaluations),
      value: view.list(evaluations, { index: 'by_job', prefix: [namespace, input.jobId] }),
    }),
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

/** The allocations that an evaluation made; empty when there is no such evaluation. */
export function listEvaluationAllocations(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
): Read<readonly AllocationListStub[], InvalidRequest> {
  const fault = faultOfId(input.id);
  if (fault !== undefined) return errAsync(fault);
  const namespace = namespaceOf(input);
  const visible = visibilityOf(caller, everyNamespace, ['read-job']);
  const query = {
    key: queryKey('evaluation-allocations', input.id, visible.key),
    tables: [allocations],
    run: (view: ReadView) => ({
      index: view.tableIndex(allocations),
      value: view
        .list(allocations, { index: 'by_evaluation', prefix: [input.id.toLowerCase()] })
        .filter(({ record }) => visible.sees(record.Namespace))
        .map(({ record }) => allocationListStub(record)),
    }),
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

/** Evaluations, allocations and deployments are looked up by their whole ID only. */
export function faultOfId(id: string): InvalidRequest | undefined {
  return isUuid(id) ? undefined : invalidRequest('id', 'the ID must be a UUID of 36 characters');
}
