import { errAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import { declarations } from '../../../functions/declaration.js';
import { runId, runs, type StoredRun } from '../../../functions/run.js';
import { type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-record.js';
import {
  type EndedRun,
  endedRuns,
  type FailedRun,
  type FailureCause,
  FailureCauses,
  outcomeWords,
  type RunOutcome,
} from '../../../jobs/runs/job-run.js';
import type { ListQuery, ReadView, Row } from '../../../ports/storage.js';
import { createdPositionOf, type Page, pageInSteps, type Source, takesAll } from '../../../queries/page.js';
import { finish, type Steps } from '../../../scheduler/steps.js';
import { day } from '../../../shared/duration.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readInTurns } from '../../context/steps-in-turns.js';
import { answerQuery } from '../../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../../waiting/parked-queries.js';
import { type NamespaceQuery, queryKey, type Read, visibilityOf } from './read-query.js';

/** A run of a batch job that has ended; times as RFC 3339. */
export interface EndedRunView extends Omit<EndedRun, 'createdAt' | 'startedAt' | 'endedAt'> {
  readonly createdAt: string;
  /** Absent if no task of it has started. */
  readonly startedAt?: string;
  readonly endedAt: string;
}

interface EndedRunsInput extends NamespaceQuery {
  /** Only runs of this job: its instances if it is a parent, or the run of an instance. */
  readonly jobId?: string;
  readonly outcome?: string;
  /** 1 to 1,000; default 100. */
  readonly perPage?: number;
  readonly nextToken?: string;
}

const longestPage = 1000;
const usualPage = 100;

/** The runs of batch jobs that have ended, the latest first, also when their jobs have been collected. */
export function listEndedRuns(
  context: EngineContext,
  caller: Principal,
  { jobId, outcome, perPage = 0, nextToken = '', ...input }: EndedRunsInput,
): Read<Page<EndedRunView>, InvalidRequest> {
  if (outcome !== undefined && !Object.hasOwn(outcomeWords, outcome))
    return errAsync(invalidRequest('outcome', `outcome must be one of ${Object.keys(outcomeWords).join(', ')}`));
  if (perPage < 0 || perPage > longestPage)
    return errAsync(invalidRequest('per_page', `per_page must be between 0 and ${longestPage}`));
  const namespace = namespaceOf(input);
  const { key, sees: seesNamespace, rows } = visibilityOf(caller, namespace, ['read-job']);
  const sees = (name: string): boolean => (namespace === everyNamespace ? seesNamespace(name) : name === namespace);
  const [start] = nextToken === '' ? [Number.MAX_SAFE_INTEGER] : createdPositionOf(nextToken);
  const scope = { namespace, jobId, start };
  const steps = function* (current: () => ReadView): Steps<Answer<Page<EndedRunView>>> {
    const index = current().tableIndex(endedRuns);
    const source: Source<Row<EndedRun>> = {
      slice: (last, limit) => slice(current(), scope, last?.record, limit),
      accept: ({ record }) => sees(record.namespace) && (outcome === undefined || record.outcome === outcome),
      token: ({ record }) => positionOf(record, jobId),
    };
    const wanted = { perPage: perPage === 0 ? usualPage : perPage, filter: takesAll, show: shownRun };
    return { index, value: (yield* pageInSteps(() => source, wanted))._unsafeUnwrap() };
  };
  const query = {
    key: () => queryKey('ended-runs', namespace, key, jobId, outcome, perPage, nextToken),
    tables: jobId === undefined ? rows(endedRuns) : [rowsUnder(endedRuns, [namespace])],
    run: (view: ReadView) => finish(steps(() => view)),
    steps,
  };
  return answerQuery(context, query, input.waiting);
}

interface RunsScope {
  readonly namespace: string;
  readonly jobId: string | undefined;
  /** The position of the first run of the page. */
  readonly start: number;
}

/** The position of a run among those of its parent, or of all. */
function positionOf(run: EndedRun, jobId: string | undefined): string {
  return jobId === undefined ? `${run.index}.${run.namespace}.${run.jobId}` : String(run.number);
}

function slice(
  view: ReadView,
  { namespace, jobId, start }: RunsScope,
  last: EndedRun | undefined,
  limit: number | undefined,
): readonly Row<EndedRun>[] {
  const page = { reverse: true, ...(limit === undefined ? {} : { limit }) };
  if (jobId === undefined) {
    const to = last === undefined ? [start + 1] : [last.index, last.namespace, last.jobId];
    return view.list(endedRuns, { index: 'by_end', to, ...page });
  }
  const of = [namespace, jobId];
  const range = { prefix: of, to: [...of, last?.number ?? start + 1], ...page };
  const ofParent = view.list(endedRuns, range);
  return ofParent.length > 0 || last !== undefined ? ofParent : view.list(endedRuns, { ...range, index: 'by_job' });
}

export function shownRun({ record }: Row<EndedRun>): EndedRunView {
  const { createdAt, startedAt, endedAt, ...rest } = record;
  const times = { createdAt: isoFromInstant(createdAt), endedAt: isoFromInstant(endedAt) };
  return { ...rest, ...times, ...(startedAt !== undefined && { startedAt: isoFromInstant(startedAt) }) };
}

/** Failed runs of jobs and functions by their cause. */
export interface Failures {
  /** Most frequent first. */
  readonly causes: readonly FailureCause<string>[];
  /** Runs that ended since then were examined, RFC 3339. */
  readonly since: string;
  /** The number of failed runs that were counted. */
  readonly failures: number;
  /** Whether only the latest were counted, or further causes are left out. */
  readonly isCut: boolean;
}

interface FailuresInput {
  readonly namespace?: string;
  /** Only those of this job or function. */
  readonly jobId?: string;
  /** Runs that ended since; a day ago when absent. */
  readonly since?: Instant;
}

/** The latest failed runs that are counted, and the causes that are listed. */
const mostCounted = 10_000;
const mostCauses = 100;
/** Of each function. */
const mostOfFunction = 1000;

/** Counts the failed runs of a namespace, or of all (`*`) that the caller may read, by their cause. */
export function countFailures(
  context: EngineContext,
  caller: Principal,
  { jobId, since = context.clock.now() - day, ...input }: FailuresInput,
) {
  const namespace = namespaceOf(input);
  const sees = (name: string): boolean =>
    namespace === everyNamespace ? allows(caller, name, ['read-job']) : name === namespace;
  return readInTurns(context, function* (current): Steps<Failures> {
    const counted = new FailureCauses();
    let failures = 0;
    let isCut = false;
    for (const failed of [failedJobs, failedFunctions]) {
      for (const run of failed(current, since)) {
        if (run === undefined) {
          yield;
          continue;
        }
        if (!sees(run.namespace) || (jobId !== undefined && run.of !== jobId)) continue;
        isCut ||= failures === mostCounted;
        if (isCut) break;
        failures += 1;
        counted.add(run);
      }
    }
    const causes = counted.causes(mostCauses + 1);
    return {
      causes: causes.slice(0, mostCauses).map((cause) => ({
        ...cause,
        firstAt: isoFromInstant(cause.firstAt),
        lastAt: isoFromInstant(cause.lastAt),
      })),
      since: isoFromInstant(since),
      failures,
      isCut: isCut || causes.length > mostCauses,
    };
  });
}

/** Rows that are read in one step. */
const readAtOnce = 64;

/** The latest first; undefined between two steps. */
function* failedJobs(current: () => ReadView, since: Instant): Generator<FailedRun | undefined> {
  for (let to: ListQuery['to']; ; ) {
    const query = { index: 'by_end', reverse: true, limit: readAtOnce };
    const page = current().list(endedRuns, to === undefined ? query : { ...query, to });
    for (const { record } of page) {
      const { namespace, parentId: of, jobId: id, outcome, failure, endedAt } = record;
      if (endedAt < since) return;
      if (outcome === 'succeeded' || outcome === 'stopped') continue;
      const { exitCode, message = '' } = failure ?? {};
      yield { namespace, of, id, outcome, exitCode, message, endedAt };
    }
    const last = page.at(-1)?.record;
    if (last === undefined || page.length < readAtOnce) return;
    to = [last.index, last.namespace, last.jobId];
    yield undefined;
  }
}

/** The latest of each function. */
function* failedFunctions(current: () => ReadView, since: Instant): Generator<FailedRun | undefined> {
  for (const { name, namespace } of current()
    .list(declarations)
    .map(({ record }) => record)) {
    for (let taken = 0, to: ListQuery['to']; taken < mostOfFunction; ) {
      const query = { index: 'history', prefix: [name, 'others'], reverse: true, limit: readAtOnce };
      const page = current().list(runs, to === undefined ? query : { ...query, to });
      for (const { record } of page) {
        if (record.state === 'cancelled' || (record.endedAt ?? 0) < since) continue;
        yield failedRun(namespace, record);
      }
      const last = page.at(-1)?.record;
      if (last === undefined || page.length < readAtOnce || (last.endedAt ?? 0) < since) break;
      taken += page.length;
      to = runs.indexes['history']?.key(last) ?? [];
      yield undefined;
    }
  }
}

function failedRun(namespace: string, run: StoredRun): FailedRun {
  const { function: of, error, endedAt, state } = run;
  const outcome: RunOutcome = state === 'timed_out' ? 'timed_out' : 'failed';
  const message = error === undefined ? '' : `${error.name}: ${error.message}`;
  return { namespace, of, id: runId(run), outcome, exitCode: undefined, message, endedAt: endedAt ?? 0 };
}
