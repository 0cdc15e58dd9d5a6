import { errAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-record.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import { type EvaluationStub, relatedEvaluations } from '../../../scheduler/related-evaluations.js';
import type { EngineContext } from '../../context/engine-context.js';
import { answerList, type FilterFault, type ListAnswer, type ListRequest } from '../../listing/answer-list.js';
import { createdSource } from '../../listing/created-source.js';
import { compileFilter } from '../../listing/filters.js';
import {
  type JobQuery,
  type NamespaceQuery,
  type Read,
  type RecordQuery,
  readOfJob,
  readRecord,
  visibilityOf,
} from './read-query.js';

/** Selects the evaluations of `listEvaluations`, and whether it waits for a change. */
interface ListEvaluationsInput extends NamespaceQuery, ListRequest {
  /** Exact status. */
  readonly status?: string;
  /** Exact job ID. */
  readonly job?: string;
}

/**
 * The evaluations of a namespace, or of all that the caller may read. A filter cannot be combined with `status` or `job`, which it
 * can express itself. Index: that of the evaluations table.
 */
export function listEvaluations(
  context: EngineContext,
  caller: Principal,
  input: ListEvaluationsInput,
): ListAnswer<Row<Evaluation>, InvalidRequest> {
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['read-job']);
  const { status = '', job = '', filter = '' } = input;
  if (filter !== '' && (status !== '' || job !== '')) return errAsync(invalidRequest('filter', withOthers));
  return answerList(context, input, {
    key: ['evaluations', namespace, key, status, job],
    tables: rows(evaluations),
    source: (view: ReadView) =>
      createdSource(view, evaluations, { ...input, namespace, sees }, ({ Status, JobID }) => {
        return (status === '' || Status === status) && (job === '' || JobID === job);
      }),
    filters: compileFilter.evaluation,
    filtered: (_, { record }) => record,
    show: (_, row) => row,
  });
}

const withOthers = 'a filter cannot be combined with status or job; put them into the filter';

/**
 * One evaluation; undefined when it does not exist or is in a namespace that the caller may not read: nothing, not
 * even the index, distinguishes the two cases.
 */
export function readEvaluation(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery & { readonly related?: boolean },
): Read<EvaluationRow | undefined, InvalidRequest> {
  const related = input.related === true;
  return readRecord<Evaluation, EvaluationRow>(context, caller, input, {
    table: evaluations,
    key: [related],
    show: (view, row) => (related ? withRelated(view, row) : row),
  });
}

/** An evaluation, with its related evaluations if they were requested and there are any. */
export interface EvaluationRow {
  readonly record: Evaluation & { readonly RelatedEvals?: readonly EvaluationStub[] };
  /** The JSON text of the record, which is relayed without parsing. */
  readonly text: string;
}

function withRelated(view: ReadView, { record, text }: Row<Evaluation>): EvaluationRow {
  const RelatedEvals = relatedEvaluations(record, (id) => view.get(evaluations, [id])?.record);
  if (RelatedEvals.length === 0) return { record, text };
  return {
    record: { ...record, RelatedEvals },
    text: `${text.slice(0, -1)},"RelatedEvals":${JSON.stringify(RelatedEvals)}}`,
  };
}

/** The evaluations of one job. Index: that of the evaluations table. */
export function listJobEvaluations(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery,
): Read<readonly Row<Evaluation>[]> {
  return readOfJob(context, input, {
    key: ['job-evaluations'],
    tables: [evaluations],
    run: (view, namespace) => ({
      index: view.tableIndex(evaluations),
      value: view.list(evaluations, { index: 'by_job', prefix: [namespace, input.jobId] }),
    }),
  });
}

export interface EvaluationCount {
  readonly count: number;
}

/** The number of evaluations in the list. */
export function countEvaluations(
  context: EngineContext,
  caller: Principal,
  input: Omit<ListEvaluationsInput, 'perPage' | 'nextToken' | 'reverse'>,
): Read<EvaluationCount, InvalidRequest | FilterFault> {
  return listEvaluations(context, caller, input).map(({ index, value }) => ({
    index,
    value: { count: value.items.length },
  }));
}
