import { err, errAsync, ok } from 'neverthrow';
import { allowsNodePool, everyNamespace } from '../../../access/allows.js';
import type { PermissionDenied } from '../../../access/authorise.js';
import type { Principal } from '../../../access/principal.js';
import { declarations } from '../../../functions/declaration.js';
import {
  type RunsOfPrefix,
  runJobId,
  runOfJobId,
  runOutcomeOf,
  runSummary,
  runsOfPrefix,
} from '../../../functions/job-projection.js';
import { runs, type StoredRun } from '../../../functions/run.js';
import type { Job } from '../../../jobs/document/job.js';
import { jobs, namespaceOf } from '../../../jobs/job-record.js';
import {
  type JobListStub,
  jobAsListed,
  jobListStub,
  jobStubs,
  jobSummaries,
} from '../../../jobs/status/job-summary.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { namedPositionOf, namedTokenOf, type Source } from '../../../queries/page.js';
import { type NodePoolNotFound, nodePoolNotFound } from '../../../scheduler/nodes/check-node-pool.js';
import type { EngineContext } from '../../context/engine-context.js';
import {
  answerList,
  chainedSource,
  type ListAnswer,
  type ListRequest,
  type NamespacedRequest,
  namespacedSource,
} from '../../listing/answer-list.js';
import { compileFilter } from '../../listing/filters.js';
import { hasCurrentStubs, readOutcome } from '../../reactions/jobs.js';
import { readNodePool } from '../../records/declared-rows.js';
import { childrenTables, FunctionChildren, readFunctionJob, runOfRow } from '../../records/function-jobs.js';
import { rowsUnder } from '../../waiting/parked-queries.js';
import { type NamespaceQuery, showsOutcomes, visibilityOf } from './read-query.js';

/** Selects the jobs of `listJobs`, and whether it waits for a change. */
export interface ListJobsInput extends NamespaceQuery, ListRequest {
  /** Adds each job's meta. */
  readonly meta?: boolean;
  /** Only jobs of this node pool. */
  readonly pool?: string;
}

/** A job's list entry, with its JSON text. */
interface ListedJob {
  readonly record: JobListStub;
  /** The JSON text of the record, which is relayed without parsing. */
  readonly text: string;
}

/**
 * The jobs of a namespace, or of all that the caller may list, by namespace and ID, including instances. Index: that
 * of the jobs and summaries tables. Reads the stubs of jobs, and the jobs themselves only for a filter or the meta. A filter
 * sees the jobs themselves only where the caller may read them. With a prefix of `NAME/` of a function, or a filter for its instances, the list
 * has its runs, too, on pages of at most a thousand.
 */
export function listJobs(context: EngineContext, caller: Principal, input: ListJobsInput): ListAnswer<ListedJob> {
  const selected = runsOfPrefix(input.prefix ?? '') ?? runsOfFilter(input);
  if (selected === undefined) return listStoredJobs(context, caller, input);
  return context.storage
    .read((view) => functionOf(view, namespaceOf(input), selected) !== undefined)
    .andThen((isThere) =>
      isThere ? listJobsAndRuns(context, caller, input, selected) : listStoredJobs(context, caller, input),
    );
}

/** A filter that asks for the instances of a function by `ParentID` selects its runs, too. */
function runsOfFilter({ filter = '', prefix = '' }: ListJobsInput): RunsOfPrefix | undefined {
  if (!filter.includes('ParentID')) return undefined;
  const parent = compileFilter.job(filter).map((compiled) => compiled.required('ParentID'));
  const runsOf = `${parent.unwrapOr(undefined) ?? ''}/`;
  return runsOf.startsWith(prefix) ? runsOfPrefix(runsOf) : undefined;
}

function listStoredJobs(context: EngineContext, caller: Principal, input: ListJobsInput): ListAnswer<ListedJob> {
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['list-jobs']);
  const { meta = false, filter = '', pool } = input;
  const outcomes = showsOutcomes(input);
  const readable = visibilityOf(caller, everyNamespace, ['read-job']);
  const request = { ...input, namespace, sees };
  const children = new FunctionChildren();
  const isPlain = !meta && filter === '' && pool === undefined;
  // The same for all rows that one view gives.
  let seen: { readonly view: ReadView; readonly fromStubs: boolean } | undefined;
  const fromStubs = (view: ReadView): boolean => {
    if (seen?.view !== view) seen = { view, fromStubs: isPlain && hasCurrentStubs(view) };
    return seen.fromStubs;
  };
  return answerList(context, input, {
    key: ['jobs', namespace, key, meta, pool, outcomes, filter === '' ? '' : readable.key],
    tables: [...rows(jobs), ...rows(jobSummaries), ...childrenTables],
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
      const stub = fromStubs(view) ? (row as StubRow) : shownJob(view, row as Row<Job>, meta, outcomes);
      return withChildren(view, outcomes ? stub : withoutOutcome(stub), children);
    },
  });
}

/** The jobs of a node pool, in the form of `listJobs`. Needs `read` on the pool and `list-jobs` in the namespace. */
export function listPoolJobs(
  context: EngineContext,
  caller: Principal,
  input: ListJobsInput & { readonly pool: string },
): ListAnswer<ListedJob, PermissionDenied | NodePoolNotFound> {
  const { pool } = input;
  if (!allowsNodePool(caller, pool, 'read')) return errAsync({ type: 'permission_denied' });
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

/** The present numbers of instances of a function. */
function withChildren(view: ReadView, row: ListedJob, children: FunctionChildren): ListedJob {
  // Without functions the stored text is the answer, and no row is parsed.
  if (!children.areThere(view)) return row;
  const { record } = row;
  if (record.Type !== 'batch' || !(record.Periodic || record.ParameterizedJob)) return row;
  const JobSummary = children.counted(view, record.JobSummary);
  return JobSummary === record.JobSummary ? row : listed({ ...record, JobSummary });
}

function listed(record: JobListStub): ListedJob {
  return { record, text: JSON.stringify(record) };
}

function withoutOutcome(row: ListedJob): ListedJob {
  const { Outcome, ...record } = row.record;
  return Outcome === undefined ? row : listed(record);
}

/** The most runs of a function on one page. */
const longestPage = 1000;

/** The stored jobs of the prefix, and then the runs of its function by number. */
function listJobsAndRuns(
  context: EngineContext,
  caller: Principal,
  { perPage = 0, ...input }: ListJobsInput,
  selected: RunsOfPrefix,
): ListAnswer<ListedJob> {
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['list-jobs']);
  const { meta = false, filter = '', pool } = input;
  const outcomes = showsOutcomes(input);
  const readable = visibilityOf(caller, everyNamespace, ['read-job']);
  const page = { ...input, perPage: perPage > 0 ? Math.min(perPage, longestPage) : longestPage };
  const children = new FunctionChildren();
  return answerList(context, page, {
    key: ['jobs-and-runs', namespace, key, meta, pool, outcomes, filter === '' ? '' : readable.key],
    tables: [
      ...[...rows(jobs), ...rows(jobSummaries), ...childrenTables],
      ...[rowsUnder(runs, [selected.function], 'by_function'), rowsUnder(declarations, [selected.function])],
    ],
    source: (view: ReadView): Source<JobOrRun> => {
      const request = { ...input, namespace, sees };
      const parent = functionOf(view, namespace, selected);
      const source = jobsThenRuns(view, request, sees(parent?.Namespace ?? '') ? parent : undefined, selected);
      return pool === undefined
        ? source
        : { ...source, accept: (row) => jobOf(view, row).NodePool === pool && source.accept(row) };
    },
    filters: compileFilter.job,
    filtered: (view, row) => {
      const job = jobOf(view, row);
      return readable.sees(job.Namespace) ? job : jobAsListed(job);
    },
    show: (view: ReadView, row) => {
      if (row.parent === undefined) return withChildren(view, shownJob(view, row.stored, meta, outcomes), children);
      const { job, run } = runOfRow(view, row.parent, row.stored);
      return listed(jobListStub(job, runSummary(job, run), meta, outcomes ? runOutcomeOf(run) : undefined));
    },
  });
}

/** The job of the function whose runs a prefix selects, in the namespace or in any one. */
function functionOf(view: ReadView, namespace: string, selected: RunsOfPrefix): Job | undefined {
  const name = selected.function;
  const own = namespace === everyNamespace ? view.get(declarations, [name])?.record.namespace : namespace;
  return own === undefined ? undefined : readFunctionJob(view, own, name);
}

/** A stored job, or a run with the job of its function. */
type JobOrRun =
  | { readonly parent?: undefined; readonly stored: Row<Job> }
  | { readonly parent: Job; readonly stored: Row<StoredRun> };

const jobOf = (view: ReadView, row: JobOrRun): Job =>
  row.parent === undefined ? row.stored.record : runOfRow(view, row.parent, row.stored).job;

function jobsThenRuns(
  view: ReadView,
  request: NamespacedRequest,
  parent: Job | undefined,
  selected: RunsOfPrefix,
): Source<JobOrRun> {
  const { nextToken = '', namespace, prefix = '' } = request;
  const reverse = request.reverse === true && !(namespace === everyNamespace && prefix !== '');
  const begun = nextToken === '' ? undefined : runOfJobId(namedPositionOf(nextToken)[1]);
  const start = begun?.function === selected.function ? begun.number : undefined;
  const jobsRequest = start === undefined ? request : { ...request, nextToken: '' };
  const stored = storedOnes(namespacedSource(view, jobs, jobsRequest, ({ ID }) => ID));
  const ofRuns = parent === undefined ? noRuns : runsSource(view, { parent, selected, start, reverse });
  return reverse
    ? chainedSource({
        ...{ first: ofRuns, second: stored, isOfSecond: ({ parent: of }) => of === undefined },
        startsInSecond: nextToken !== '' && start === undefined,
      })
    : chainedSource({
        ...{ first: stored, second: ofRuns, isOfSecond: ({ parent: of }) => of !== undefined },
        startsInSecond: start !== undefined,
      });
}

function storedOnes({ slice, accept, token }: Source<Row<Job>>): Source<JobOrRun> {
  return {
    slice: (last, limit) =>
      slice(last?.parent === undefined ? last?.stored : undefined, limit).map((row) => ({ stored: row })),
    accept: (row) => row.parent === undefined && accept(row.stored),
    token: (row) => (row.parent === undefined ? token(row.stored) : ''),
  };
}

const noRuns: Source<JobOrRun> = { slice: () => [], accept: () => false, token: () => '' };

interface RunsWanted {
  readonly parent: Job;
  readonly selected: RunsOfPrefix;
  /** The number of the first one of the page. */
  readonly start: number | undefined;
  readonly reverse: boolean;
}

function runsSource(view: ReadView, { parent, selected, start, reverse }: RunsWanted): Source<JobOrRun> {
  const { launched } = selected;
  const step = reverse ? -1 : 1;
  return {
    slice: (last, limit) => {
      const from = last?.parent === undefined ? start : last.stored.record.number + step;
      return runsIn(view, selected, { from, reverse, limit }).map((row) => ({ parent, stored: row }));
    },
    accept: ({ parent: of, stored }) =>
      of !== undefined && (launched === undefined || launched === (stored.record.schedule !== undefined)),
    token: (row) => (row.parent === undefined ? '' : namedTokenOf(parent.Namespace, runJobId(row.stored.record))),
  };
}

/** The selected runs from a number on, in its direction. */
function runsIn(
  view: ReadView,
  { function: name, ranges }: RunsOfPrefix,
  {
    from,
    reverse,
    limit,
  }: { readonly from: number | undefined; readonly reverse: boolean; readonly limit: number | undefined },
): Row<StoredRun>[] {
  const found: Row<StoredRun>[] = [];
  for (const { first, end } of reverse ? ranges.toReversed() : ranges) {
    const least = reverse || from === undefined ? first : Math.max(first, from);
    const bound = reverse && from !== undefined ? Math.min(end, from + 1) : end;
    if (least >= bound) continue;
    const left = limit === undefined ? {} : { limit: limit - found.length };
    const range = { index: 'by_function', prefix: [name], from: [name, least], to: [name, bound], reverse };
    found.push(...view.list(runs, { ...range, ...left }));
    if (found.length === limit) break;
  }
  return found;
}
