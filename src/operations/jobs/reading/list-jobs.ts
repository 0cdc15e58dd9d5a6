import { err, errAsync, ok, type Result } from 'neverthrow';
import { allowsNodePool, everyNamespace, type PermissionDenied } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { FilterEvaluationError } from '../../../filter/value-tests.js';
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
import { type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { jobs, namespaceOf } from '../../../jobs/job-record.js';
import { outcomeWords, type RunOutcome } from '../../../jobs/runs/job-run.js';
import {
  type JobListStub,
  jobAsListed,
  jobListStub,
  jobStubs,
  jobSummaries,
  type OwnStubMembers,
} from '../../../jobs/status/job-summary.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { namedPositionOf, namedTokenOf, type Page, type Source } from '../../../queries/page.js';
import { type NodePoolNotFound, nodePoolNotFound } from '../../../scheduler/nodes/check-node-pool.js';
import { finish, type Steps } from '../../../scheduler/steps.js';
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
import { hasCurrentStubs, readLaunches, readOutcome } from '../../reactions/jobs.js';
import { readNodePool } from '../../records/declared-rows.js';
import { childrenTables, FunctionChildren, readFunctionJob, runOfRow } from '../../records/function-jobs.js';
import { pagesOf } from '../../records/pages.js';
import { answerQuery } from '../../waiting/blocking-query.js';
import { type Answer, atOnce, rowsUnder } from '../../waiting/parked-queries.js';
import { type NamespaceQuery, showsOutcomes, visibilityOf } from './read-query.js';

/** Selects the jobs of `listJobs`, and whether it waits for a change. */
export interface ListJobsInput extends NamespaceQuery, ListRequest {
  /** Adds each job's meta. */
  readonly meta?: boolean;
  /** Only jobs of this node pool. */
  readonly pool?: string;
  /** One of `sortKeys`, after a minus in descending order; by namespace and ID when absent. */
  readonly sort?: string;
  /** Only jobs whose last run had this outcome: the last instance of a parent, or the job itself. */
  readonly lastOutcome?: string;
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
export function listJobs(
  context: EngineContext,
  caller: Principal,
  input: ListJobsInput,
): ListAnswer<ListedJob, InvalidRequest> {
  if (input.sort !== undefined || input.lastOutcome !== undefined) return listSortedJobs(context, caller, input);
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
      return withChildren(view, outcomes ? stub : withoutOwnMembers(stub), children);
    },
  });
}

/** The jobs of a node pool, in the form of `listJobs`. Needs `read` on the pool and `list-jobs` in the namespace. */
export function listPoolJobs(
  context: EngineContext,
  caller: Principal,
  input: ListJobsInput & { readonly pool: string },
): ListAnswer<ListedJob, PermissionDenied | NodePoolNotFound | InvalidRequest> {
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
  const record = jobListStub(job, summary, meta, outcomes ? ownMembers(view, job) : {});
  return { record, text: JSON.stringify(record) };
}

function ownMembers(view: ReadView, job: Job): OwnStubMembers {
  const outcome = readOutcome(view, job);
  return { ...(outcome && { Outcome: outcome }), ...readLaunches(view, job) };
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

function withoutOwnMembers(row: ListedJob): ListedJob {
  const { Outcome, LastRun, NextLaunch, ...record } = row.record;
  return (Outcome ?? LastRun ?? NextLaunch) === undefined ? row : listed(record);
}

/** The values by which jobs are sorted; a job without one is the last in either order. */
const sortKeys: Readonly<Record<string, (stub: JobListStub) => string | number | undefined>> = {
  id: ({ ID }) => ID,
  type: ({ Type }) => Type,
  status: ({ Status }) => Status,
  priority: ({ Priority }) => Priority,
  changed: ({ ModifyIndex }) => ModifyIndex,
  submitted: ({ SubmitTime }) => SubmitTime,
  last_run: ({ LastRun }) => LastRun?.EndedAt,
  last_outcome: lastOutcomeOf,
  next_launch: ({ NextLaunch }) => NextLaunch,
};

function lastOutcomeOf({ LastRun, Outcome }: JobListStub): RunOutcome | undefined {
  return LastRun?.Outcome ?? Outcome;
}

/**
 * A page of the stored jobs in another order, or of those with an outcome. All list entries are read for each page, in steps, and no more of
 * them are held than the page has. A page has 1,000 jobs at most.
 */
function listSortedJobs(
  context: EngineContext,
  caller: Principal,
  input: ListJobsInput,
): ListAnswer<ListedJob, InvalidRequest> {
  const { sort = 'id', lastOutcome, filter = '', prefix = '', pool, meta = false, perPage = 0, nextToken = '' } = input;
  const by = sort.replace(/^-/, '');
  const sortKey = Object.hasOwn(sortKeys, by) ? sortKeys[by] : undefined;
  const known = Object.keys(sortKeys).join(', ');
  if (sortKey === undefined)
    return errAsync(invalidRequest('sort', `sort must be one of ${known}; a minus before it means descending order`));
  if (lastOutcome !== undefined && !Object.hasOwn(outcomeWords, lastOutcome))
    return errAsync(
      invalidRequest('last_outcome', `last_outcome must be one of ${Object.keys(outcomeWords).join(', ')}`),
    );
  const compiled = filter === '' ? ok(undefined) : compileFilter.job(filter);
  if (compiled.isErr()) return errAsync(compiled.error);
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['list-jobs']);
  const readable = visibilityOf(caller, everyNamespace, ['read-job']);
  const outcomes = showsOutcomes(input);
  const positionOf = positions(sortKey, sort.startsWith('-') !== (input.reverse === true));
  const accept = (view: ReadView, stub: JobListStub) => {
    if (!sees(stub.Namespace) || !stub.ID.startsWith(prefix)) return accepted(false);
    if (pool !== undefined && stub.NodePool !== pool) return accepted(false);
    if (lastOutcome !== undefined && lastOutcomeOf(stub) !== lastOutcome) return accepted(false);
    const job = compiled.value === undefined ? undefined : view.get(jobs, jobStubs.key(stub))?.record;
    if (job === undefined || compiled.value === undefined) return accepted(compiled.value === undefined);
    return compiled.value.matches(readable.sees(job.Namespace) ? job : jobAsListed(job));
  };
  const children = new FunctionChildren();
  const show = (view: ReadView, stub: JobListStub): ListedJob => {
    const Meta = meta ? view.get(jobs, jobStubs.key(stub))?.record.Meta : undefined;
    const shown = listed(Meta && Object.keys(Meta).length > 0 ? { ...stub, Meta } : stub);
    return withChildren(view, outcomes ? shown : withoutOwnMembers(shown), children);
  };
  const size = perPage > 0 ? Math.min(perPage, longestPage) : longestPage;
  const steps = function* (current: () => ReadView): Steps<Answer<Page<ListedJob> | FilterEvaluationError>> {
    const index = Math.max(...[jobs, jobSummaries].map((table) => current().tableIndex(table)));
    const best = new Best<JobListStub>(size + 1, Buffer.from(nextToken, 'base64url').toString('utf16le'));
    const scope = namespace === everyNamespace ? {} : { prefix: [namespace] };
    const keyOf = ({ Namespace, ID }: JobListStub): [string, string] => [Namespace, ID];
    for (const page of pagesOf(current, jobStubs, { ...scope, size: 32, keyOf })) {
      for (const stub of page) {
        const matches = accept(current(), stub);
        if (matches.isErr()) return { index: atOnce, value: matches.error };
        if (matches.value) best.add(positionOf(stub), stub);
      }
      yield;
    }
    const [found, next] = best.page();
    const token = next === undefined ? '' : Buffer.from(next, 'utf16le').toString('base64url');
    return { index, value: { items: found.map((stub) => show(current(), stub)), nextToken: token } };
  };
  const asked = [
    namespace,
    key,
    outcomes,
    readable.key,
    sort,
    lastOutcome,
    filter,
    prefix,
    pool,
    meta,
    size,
    nextToken,
  ];
  const query = {
    key: () => JSON.stringify(['sorted-jobs', ...asked, input.reverse === true]),
    tables: [...rows(jobs), ...rows(jobSummaries), ...childrenTables],
    run: (view: ReadView) => finish(steps(() => view)),
    steps,
  };
  return answerQuery(context, query, input.waiting).andThen((answer) =>
    'type' in answer.value ? err(answer.value) : ok({ index: answer.index, value: answer.value }),
  );
}

const accepted = (value: boolean): Result<boolean, FilterEvaluationError> => ok(value);

/** A string for each job whose order is that of the list. Descending order is that of the complements, of numbers or of characters. */
function positions(sortKey: (stub: JobListStub) => string | number | undefined, descending: boolean) {
  const ofNumber = (value: number) => String(descending ? 10n ** 20n - BigInt(value) : value).padStart(20, '0');
  const complement = (unit: string) => String.fromCharCode(0xfffe - unit.charCodeAt(0));
  // A complement ends with the greatest character, because a longer string is before its beginning.
  const ofText = (text: string) => (descending ? `${text.split('').map(complement).join('')}\uffff` : text);
  return (stub: JobListStub): string => {
    const value = sortKey(stub);
    const text = value === undefined ? '\uffff' : typeof value === 'number' ? ofNumber(value) : ofText(value);
    return `${text}\u0000${stub.Namespace}\u0000${stub.ID}`;
  };
}

/** The first records from a position on, as many as are wanted. */
class Best<T> {
  readonly #found: { readonly position: string; readonly record: T }[] = [];
  readonly #wanted: number;
  readonly #from: string;

  constructor(wanted: number, from: string) {
    this.#wanted = wanted;
    this.#from = from;
  }

  add(position: string, record: T): void {
    if (position < this.#from) return;
    let [low, high] = [0, this.#found.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#found[middle]?.position ?? '') < position) low = middle + 1;
      else high = middle;
    }
    if (low === this.#wanted) return;
    this.#found.splice(low, 0, { position, record });
    if (this.#found.length > this.#wanted) this.#found.pop();
  }

  /** All but the last of those wanted, and the position of that one. */
  page(): readonly [readonly T[], string | undefined] {
    const records = this.#found.map(({ record }) => record);
    return this.#found.length < this.#wanted
      ? [records, undefined]
      : [records.slice(0, -1), this.#found.at(-1)?.position];
  }
}

/** The most jobs on a page in another order, and the most runs of a function on one. */
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
      const outcome = outcomes ? runOutcomeOf(run) : undefined;
      return listed(jobListStub(job, runSummary(job, run), meta, outcome && { Outcome: outcome }));
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
