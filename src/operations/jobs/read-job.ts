import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import { jobs, jobVersions } from '../../jobs/job-record.js';
import { type JobSubmission, jobSubmissions } from '../../jobs/job-submission.js';
import { type JobSummary, jobSummaries } from '../../jobs/job-summary-record.js';
import type { ReadView, Row } from '../../ports/storage.js';
import type { EngineContext } from '../shared/context.js';
import { readJobRow, readJobVersions } from '../shared/job-store.js';
import { type JobReference, namespaceOf } from './job-reference.js';
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
    key: queryKey('job', namespace, input.jobId),
    tables: [jobs],
    run: (view: ReadView) => {
      const row = readJobRow(view, namespace, input.jobId);
      return { index: row?.modifyIndex ?? view.tableIndex(jobs), value: row };
    },
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

/** The kept versions, newest first; empty when there is no such job. */
export function listJobVersions(context: EngineContext, caller: Principal, input: JobQuery): Read<readonly Row<Job>[]> {
  const namespace = namespaceOf(input);
  const query = {
    key: queryKey('job-versions', namespace, input.jobId),
    tables: [jobs, jobVersions],
    run: (view: ReadView) => {
      const rows = readJobVersions(view, namespace, input.jobId);
      const newest = rows.reduce((highest, row) => Math.max(highest, row.record.ModifyIndex), 0);
      return { index: newest === 0 ? view.tableIndex(jobs) : newest, value: rows };
    },
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

/** The source of one version; undefined when none is kept, with index 0. */
export function readJobSubmission(
  context: EngineContext,
  caller: Principal,
  input: JobQuery & { readonly version: number },
): Read<Row<JobSubmission> | undefined> {
  const namespace = namespaceOf(input);
  const query = {
    key: queryKey('job-submission', namespace, input.jobId, input.version),
    tables: [jobSubmissions],
    run: (view: ReadView) => {
      const row = view.get(jobSubmissions, [namespace, input.jobId, input.version]);
      return { index: row?.record.JobModifyIndex ?? 0, value: row };
    },
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}

/** The counters of a job's allocations and children; undefined when there is no such job. */
export function readJobSummary(
  context: EngineContext,
  caller: Principal,
  input: JobQuery,
): Read<Row<JobSummary> | undefined> {
  const namespace = namespaceOf(input);
  const query = {
    key: queryKey('job-summary', namespace, input.jobId),
    tables: [jobSummaries],
    run: (view: ReadView) => {
      const row = view.get(jobSummaries, [namespace, input.jobId]);
      return { index: row?.modifyIndex ?? view.tableIndex(jobSummaries), value: row };
    },
  };
  return readQuery(context, caller, namespace, ['read-job'], query, input.waiting);
}
