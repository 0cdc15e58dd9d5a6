import { err, errAsync, ok } from 'neverthrow';
import { everyNamespace } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { Job } from '../../../jobs/document/job.js';
import { jobs } from '../../../jobs/job-record.js';
import { namespaceOf } from '../../../jobs/job-reference.js';
import { type JobListStub, jobAsListed, jobListStub, jobStubs } from '../../../jobs/status/job-stub.js';
import { jobSummaries } from '../../../jobs/status/job-summary-record.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { compileFilter } from '../../../queries/filters/index.js';
import type { Source } from '../../../queries/page.js';
import { type NodePoolNotFound, nodePoolNotFound } from '../../../scheduler/nodes/check-node-pool.js';
import { authoriseNodePool } from '../../authorise.js';
import { hasCurrentStubs, readOutcome } from '../../books/jobs/job-stub-rows.js';
import { readNodePool } from '../../books/node-pool-rows.js';
import type { EngineContext } from '../../context/engine-context.js';
import { namespacedSource } from '../../listing/keyed-source.js';
import type { ListRequest } from '../../listing/list-request.js';
import { type ListRead, type NamespaceQuery, readList, showsOutcomes, visibilityOf } from './read-query.js';

/** Selects the jobs of `listJobs`, and whether it waits for a change. */
export interface ListJobsInput extends NamespaceQuery, ListRequest {
  /** Adds each job's meta. */
  readonly meta?: boolean;
  /** Only jobs of this node pool. */
  readonly pool?: string;
}

/** A job's list entry, with its JSON text. */
export interface ListedJob {
  readonly record: JobListStub;
  /** The JSON text of the record, which is relayed without parsing. */
  readonly text: string;
}

/**
 * The jobs of a namespace, or of all that the caller may list, by namespace and ID, including instances. Index: that
 * of the jobs and summaries tables. Reads the stubs of jobs, and the jobs themselves only for a filter or the meta. A filter
 * sees the jobs themselves only where the caller may read them.
 */
export function listJobs(context: EngineContext, caller: Principal, input: ListJobsInput): ListRead<ListedJob> {
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['list-jobs']);
  const { meta = false, filter = '', pool } = input;
  const outcomes = showsOutcomes(context);
  const readable = visibilityOf(caller, everyNamespace, ['read-job']);
  const request = { ...input, namespace, sees };
  const fromStubs = (view: ReadView): boolean => !meta && filter === '' && pool === undefined && hasCurrentStubs(view);
  return readList(context, caller, input, {
    key: ['jobs', namespace, key, meta, pool, filter === '' ? '' : readable.key],
    anyOf: ['list-jobs'],
    tables: [...rows(jobs), ...rows(jobSummaries)],
    source: (view: ReadView): Source<StubRow | Row<Job>> =>
      fromStubs(view)
        ? namespacedSource(view, jobStubs, request, ({ ID }) => ID)
        : ofPool(
            namespacedSource(view, jobs, request, ({ ID }) => ID),
            pool,
          ),
    filters: compileFilter.job,
    // With a filter the rows are those of the jobs.
    filtered: (_, { record }) => (readable.sees(record.Namespace) ? record : jobAsListed(record as Job)),
    show: (view: ReadView, row) => {
      if (!fromStubs(view)) return shownJob(view, row as Row<Job>, meta, outcomes);
      return outcomes ? (row as StubRow) : withoutOutcome(row as StubRow);
    },
  });
}

/** The jobs of a node pool, in the form of `listJobs`. Needs `read` on the pool and `list-jobs` in the namespace. */
export function listPoolJobs(
  context: EngineContext,
  caller: Principal,
  input: ListJobsInput & { readonly pool: string },
): ListRead<ListedJob, NodePoolNotFound> {
  const { pool } = input;
  const allowed = authoriseNodePool(caller, pool, 'read');
  if (allowed.isErr()) return errAsync(allowed.error);
  return context.storage
    .read((view) => readNodePool(view, pool) !== undefined)
    .andThen((isThere) => (isThere ? ok(undefined) : err(nodePoolNotFound(pool))))
    .andThen(() => listJobs(context, caller, input));
}

function ofPool(source: Source<Row<Job>>, pool: string | undefined): Source<Row<Job>> {
  if (pool === undefined) return source;
  return { ...source, accept: (row) => row.record.NodePool === pool && source.accept(row) };
}

type StubRow = Row<JobListStub>;

function shownJob(view: ReadView, { record: job }: Row<Job>, meta: boolean, outcomes: boolean): ListedJob {
  const summary = view.get(jobSummaries, [job.Namespace, job.ID])?.record;
  const record = jobListStub(job, summary, meta, outcomes ? readOutcome(view, job) : undefined);
  return { record, text: JSON.stringify(record) };
}

function withoutOutcome(row: StubRow): ListedJob {
  const { Outcome, ...record } = row.record;
  return Outcome === undefined ? row : { record, text: JSON.stringify(record) };
}
