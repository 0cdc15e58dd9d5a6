import { ok } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { type JobSubmission, jobSubmissions } from '../../../jobs/changes/job-submission.js';
import { diffVersions, type VersionBase, type VersionBaseNotFound } from '../../../jobs/diff/diff-versions.js';
import type { JobDiff } from '../../../jobs/diff/job-diff.js';
import type { Job } from '../../../jobs/document/job.js';
import { jobs, jobVersions } from '../../../jobs/job-record.js';
import { type JobReference, namespaceOf } from '../../../jobs/job-reference.js';
import { type JobSummary, jobSummaries } from '../../../jobs/status/job-summary-record.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { readJobRow, readJobVersions } from '../../books/jobs/job-rows.js';
import type { EngineContext } from '../../context/engine-context.js';
import { type NamespaceQuery, queryKey, type Read, readQuery } from './read-query.js';

/** A read of one job. */
export type JobQuery = JobReference & NamespaceQuery;

/**
 * The job; undefined when there is none. Index: the job's ModifyIndex, else that of the jobs table, so that a reader can
 * wait for a job to appear.
 */
export function readJob(context: EngineContext, caller: Principal, input: JobQuery): Read<Row<Job> | undefined> {
  const namespace = namespaceOf(input);
  const query = {
    key: () => queryKey('job', namespace, input.jobId),
    tables: [jobs],
    run: (view: ReadView) => {
      const row = readJobRow(view, namespace, input.jobId);
      return { index: row?.modifyIndex ?? view.tableIndex(jobs), value: row };
    },
  };
  return readQuery(context, caller, { namespace, anyOf: ['read-job'], waiting: input.waiting }, query);
}

/** The kept versions, newest first; empty when there is no such job. */
export function listJobVersions(context: EngineContext, caller: Principal, input: JobQuery): Read<readonly Row<Job>[]> {
  const namespace = namespaceOf(input);
  const query = {
    key: () => queryKey('job-versions', namespace, input.jobId),
    tables: [jobs, jobVersions],
    run: (view: ReadView) => {
      const rows = readJobVersions(view, namespace, input.jobId);
      const newest = rows.reduce((highest, row) => Math.max(highest, row.record.ModifyIndex), 0);
      return { index: newest === 0 ? view.tableIndex(jobs) : newest, value: rows };
    },
  };
  return readQuery(context, caller, { namespace, anyOf: ['read-job'], waiting: input.waiting }, query);
}

/** The source of one version; undefined when none is kept, with index 0. */
export function readJobSubmission(
  context: EngineContext,
  caller: Principal,
  input: JobQuery & { readonly version: number },
): Read<Row<JobSubmission> | undefined> {
  const namespace = namespaceOf(input);
  const query = {
    key: () => queryKey('job-submission', namespace, input.jobId, input.version),
    tables: [jobSubmissions],
    run: (view: ReadView) => {
      const row = view.get(jobSubmissions, [namespace, input.jobId, input.version]);
      return { index: row?.record.JobModifyIndex ?? 0, value: row };
    },
  };
  return readQuery(context, caller, { namespace, anyOf: ['read-job'], waiting: input.waiting }, query);
}

/** The counters of a job's allocations and children; undefined when there is no such job. */
export function readJobSummary(
  context: EngineContext,
  caller: Principal,
  input: JobQuery,
): Read<Row<JobSummary> | undefined> {
  const namespace = namespaceOf(input);
  const query = {
    key: () => queryKey('job-summary', namespace, input.jobId),
    tables: [jobSummaries],
    run: (view: ReadView) => {
      const row = view.get(jobSummaries, [namespace, input.jobId]);
      return { index: row?.modifyIndex ?? view.tableIndex(jobSummaries), value: row };
    },
  };
  return readQuery(context, caller, { namespace, anyOf: ['read-job'], waiting: input.waiting }, query);
}

interface VersionsQuery extends JobQuery {
  /** Whether to compare the versions: each with the one before it, unless a tag or a version is named. */
  readonly diffs?: boolean;
  /** Wins over `diffVersion`. */
  readonly diffTag?: string;
  readonly diffVersion?: number;
}

/** The versions of a job, newest first, and their differences when these were asked for; null when there are none. */
export function compareJobVersions(
  context: EngineContext,
  caller: Principal,
  input: VersionsQuery,
): Read<{ readonly versions: readonly Row<Job>[]; readonly diffs: readonly JobDiff[] | null }, VersionBaseNotFound> {
  const { diffs = false, diffTag = '', diffVersion } = input;
  return listJobVersions(context, caller, input).andThen(({ index, value: versions }) => {
    if (!diffs || versions.length === 0) return ok({ index, value: { versions, diffs: null } });
    const base: VersionBase =
      diffTag !== ''
        ? { by: 'tag', tag: diffTag }
        : diffVersion !== undefined
          ? { by: 'version', version: diffVersion }
          : { by: 'predecessor' };
    return diffVersions(
      versions.map(({ record }) => record),
      base,
    ).map((found) => ({ index, value: { versions, diffs: found.length === 0 ? null : found } }));
  });
}
