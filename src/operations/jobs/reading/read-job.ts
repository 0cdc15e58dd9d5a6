import { err } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { runSummary } from '../../../functions/job-projection.js';
import { functionCounts } from '../../../functions/run.js';
import { type JobSubmission, jobSubmissions } from '../../../jobs/changes/submissions.js';
import { baseOf, diffVersions, type VersionBase, type VersionBaseNotFound } from '../../../jobs/diff/diff-jobs.js';
import type { JobDiff } from '../../../jobs/diff/job-diff.js';
import type { Job } from '../../../jobs/document/job.js';
import { jobs, jobVersions, namespaceOf } from '../../../jobs/job-record.js';
import { type JobSummary, jobSummaries } from '../../../jobs/status/job-summary.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import type { EngineContext } from '../../context/engine-context.js';
import {
  computedRow,
  FunctionChildren,
  readRunOfJob,
  readShownJob,
  watchesOfRun,
} from '../../records/function-jobs.js';
import { readJobVersions } from '../../records/jobs/job-rows.js';
import { answerQuery } from '../../waiting/blocking-query.js';
import { type Answer, atOnce, rowsUnder } from '../../waiting/parked-queries.js';
import { type JobQuery, queryKey, type Read, readOfJob, rowsOfJob } from './read-query.js';

/**
 * The job; undefined when it does not exist. Index: the job's ModifyIndex, otherwise that of the jobs table, so that a reader can
 * wait for a job to appear.
 */
export function readJob(context: EngineContext, _caller: Principal, input: JobQuery): Read<Row<Job> | undefined> {
  return readOfJob(context, input, {
    key: ['job'],
    tables: [jobs],
    also: watchesOfRun(input.jobId),
    run: (view, namespace) => {
      const row = readShownJob(view, namespace, input.jobId);
      return { index: row?.modifyIndex ?? view.tableIndex(jobs), value: row };
    },
  });
}

/** The kept versions, newest first; empty when there is no such job. */
export function listJobVersions(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery,
): Read<readonly Row<Job>[]> {
  return readOfJob(context, input, {
    key: ['job-versions'],
    tables: [jobs, jobVersions],
    also: watchesOfRun(input.jobId),
    run: (view, namespace) => versionsAt(view, namespace, input.jobId),
  });
}

function versionsAt(view: ReadView, namespace: string, jobId: string): Answer<readonly Row<Job>[]> {
  const stored = readJobVersions(view, namespace, jobId);
  const shown = stored.length === 0 ? readShownJob(view, namespace, jobId) : undefined;
  const rows = shown === undefined ? stored : [shown];
  const newest = rows.reduce((highest, row) => Math.max(highest, row.record.ModifyIndex), 0);
  return { index: newest === 0 ? view.tableIndex(jobs) : newest, value: rows };
}

/** The source of one version; undefined when none is kept, with index 0. */
export function readJobSubmission(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery & { readonly version: number },
): Read<Row<JobSubmission> | undefined> {
  return readOfJob(context, input, {
    key: ['job-submission', input.version],
    tables: [jobSubmissions],
    run: (view, namespace) => {
      const row = view.get(jobSubmissions, [namespace, input.jobId, input.version]);
      return { index: row?.record.JobModifyIndex ?? 0, value: row };
    },
  });
}

/** The counters of a job's allocations and children; undefined when there is no such job. */
export function readJobSummary(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery,
): Read<Row<JobSummary> | undefined> {
  return readOfJob(context, input, {
    key: ['job-summary'],
    tables: [jobSummaries],
    also: [...watchesOfRun(input.jobId), rowsUnder(functionCounts, [input.jobId])],
    run: (view, namespace) => {
      const row = readSummary(view, namespace, input.jobId);
      return { index: row?.modifyIndex ?? view.tableIndex(jobSummaries), value: row };
    },
  });
}

/** That of a job, or of a run. */
function readSummary(view: ReadView, namespace: string, jobId: string): Row<JobSummary> | undefined {
  const stored = view.get(jobSummaries, [namespace, jobId]);
  if (stored !== undefined) return new FunctionChildren().summaryIn(view, stored);
  const found = readRunOfJob(view, namespace, jobId);
  return found && computedRow(runSummary(found.job, found.run), found.modifyIndex);
}

interface VersionsQuery extends JobQuery {
  /** Whether to compare the versions: each with the one before it, unless a tag or a version is named. */
  readonly diffs?: boolean;
  /** Takes precedence over `diffVersion`. */
  readonly diffTag?: string;
  readonly diffVersion?: number;
}

/**
 * The versions of a job, newest first, and their differences if requested; null when there are none. A missing version to compare with is an
 * error at once: the query does not wait for it.
 */
export function compareJobVersions(
  context: EngineContext,
  caller: Principal,
  input: VersionsQuery,
): Read<{ readonly versions: readonly Row<Job>[]; readonly diffs: readonly JobDiff[] | null }, VersionBaseNotFound> {
  const base = baseFor(input);
  if (base === undefined) {
    return listJobVersions(context, caller, input).map(({ index, value: versions }) => ({
      index,
      value: { versions, diffs: null },
    }));
  }
  const namespace = namespaceOf(input);
  const query = {
    key: () => queryKey('compared-job-versions', namespace, input.jobId, base),
    tables: [
      ...[jobs, jobVersions].map((table) => rowsOfJob(table, namespace, input.jobId)),
      ...watchesOfRun(input.jobId),
    ],
    run: (view: ReadView): Answer<readonly Row<Job>[] | VersionBaseNotFound> => {
      const found = versionsAt(view, namespace, input.jobId);
      const from = baseOf(documentsOf(found.value), base);
      return from.isErr() ? { index: atOnce, value: from.error } : found;
    },
  };
  return answerQuery(context, query, input.waiting).andThen(({ index, value: versions }) => {
    if ('type' in versions) return err(versions);
    return diffVersions(documentsOf(versions), base).map((found) => ({
      index,
      value: { versions, diffs: found.length === 0 ? null : found },
    }));
  });
}

/** The base of the comparison; undefined when no differences were requested. */
function baseFor({ diffs = false, diffTag = '', diffVersion }: VersionsQuery): VersionBase | undefined {
  if (!diffs) return undefined;
  if (diffTag !== '') return { by: 'tag', tag: diffTag };
  return diffVersion === undefined ? { by: 'predecessor' } : { by: 'version', version: diffVersion };
}

function documentsOf(versions: readonly Row<Job>[]): readonly Job[] {
  return versions.map(({ record }) => record);
}
