import { errAsync } from 'neverthrow';
import { authorise, everyNamespace, type PermissionDenied } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { Job } from '../../../jobs/document/job.js';
import { type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { jobs, namespaceOf } from '../../../jobs/job-record.js';
import { type JobStatusEntry, jobStatusEntry, type StatusDeployment } from '../../../jobs/status/job-status.js';
import type { ListQuery, ReadView, Row } from '../../../ports/storage.js';
import { changedPositionOf, changedTokenOf, type Source } from '../../../queries/page.js';
import { allocations } from '../../../scheduler/allocation.js';
import { type Deployment, deployments, isActiveDeployment } from '../../../scheduler/deployment/deployment.js';
import type { EngineContext } from '../../context/engine-context.js';
import { answerList, type ListAnswer, type ListRequest, limited } from '../../listing/answer-list.js';
import { compileFilter } from '../../listing/filters.js';
import { readOutcome } from '../../reactions/jobs.js';
import { childrenTables, FunctionChildren } from '../../records/function-jobs.js';
import { type NamespaceQuery, showsOutcomes, visibilityOf } from './read-query.js';

interface ListJobStatusesInput extends NamespaceQuery, Omit<ListRequest, 'prefix'> {
  /** Whether instances of other jobs are included. */
  readonly includeChildren?: boolean;
}

/** Selects jobs by name. Entries without a namespace use that of the request. */
interface NamedJobsInput extends ListJobStatusesInput {
  /** Undefined selects all jobs. Named jobs form one page, whatever their number. */
  readonly jobs: readonly { readonly id?: string; readonly namespace?: string }[] | undefined;
}

/** The present activity of jobs, most recently changed first (job interface, jobs statuses). */
export function listJobStatuses(
  context: EngineContext,
  caller: Principal,
  input: ListJobStatusesInput,
): ListAnswer<JobStatusEntry> {
  const { includeChildren = false } = input;
  const wanted = (job: Job): boolean => includeChildren || job.ParentID === '';
  return statuses(context, caller, input, { key: ['all', includeChildren], wanted });
}

/** The same for named jobs. */
export function listNamedJobStatuses(
  context: EngineContext,
  caller: Principal,
  input: NamedJobsInput,
): ListAnswer<JobStatusEntry, PermissionDenied | InvalidRequest> {
  const { jobs: named, perPage: _, ...request } = input;
  const own = namespaceOf(input);
  const allowed = authorise(caller, named === undefined ? own : everyNamespace, ['read-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  if (named === undefined) return listJobStatuses(context, caller, input);
  if (named.length === 0) return errAsync(invalidRequest('Jobs', 'no jobs in request'));
  const { includeChildren = false } = input;
  const asked = new Set(named.map(({ id = '', namespace = '' }) => nameOf(namespace === '' ? own : namespace, id)));
  const wanted = (job: Job): boolean =>
    asked.has(nameOf(job.Namespace, job.ID)) && (includeChildren || job.ParentID === '');
  const everywhere = { ...request, namespace: everyNamespace };
  return statuses(context, caller, everywhere, { key: [[...asked], includeChildren], wanted });
}

function nameOf(namespace: string, id: string): string {
  return JSON.stringify([namespace, id]);
}

/** The jobs of a list, and a key that distinguishes it from other lists. */
interface JobChoice {
  readonly key: readonly unknown[];
  readonly wanted: (job: Job) => boolean;
}

function statuses(
  context: EngineContext,
  caller: Principal,
  input: ListJobStatusesInput,
  choice: JobChoice,
): ListAnswer<JobStatusEntry> {
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['read-job']);
  const children = new FunctionChildren();
  const outcomes = showsOutcomes(input);
  return answerList(context, input, {
    key: ['job-statuses', namespace, key, outcomes, ...choice.key],
    tables: [...rows(jobs), ...rows(allocations), ...rows(deployments), ...childrenTables],
    source: (view: ReadView) =>
      byLastChange(view, namespace, input, (job) => sees(job.Namespace) && choice.wanted(job)),
    filters: compileFilter.job,
    filtered: (_, { record }) => record,
    show: (view: ReadView, { record }: Row<Job>) => entryOf(view, record, outcomes, children),
  });
}

/** In the order of their last changes, over all namespaces; a single namespace is filtered out of these. */
function byLastChange(
  view: ReadView,
  namespace: string,
  { nextToken = '', reverse = false }: Pick<ListRequest, 'nextToken' | 'reverse'>,
  accept: (job: Job) => boolean,
): Source<Row<Job>> {
  const inAll = namespace === everyNamespace;
  const inOrder = { index: 'by_change', reverse: !reverse } as const;
  const isFirstOfWrite = (job: Job): boolean => {
    const sameWrite = { prefix: [job.ModifyIndex], ...inOrder, limit: 1 };
    return view.list(jobs, sameWrite).every(({ record }) => record.Namespace === job.Namespace && record.ID === job.ID);
  };
  return {
    slice: (last, limit) => {
      const range = last === undefined ? rangeFrom(nextToken, reverse) : rangeBehind(last.record, reverse);
      return range === undefined ? [] : view.list(jobs, { ...inOrder, ...range, ...limited(limit) });
    },
    accept: ({ record }) => (inAll || record.Namespace === namespace) && accept(record),
    token: ({ record }) => changedTokenOf(record, isFirstOfWrite(record)),
  };
}

type Range = Pick<ListQuery, 'from' | 'to'>;

/** The range from the job or the write that the token names; undefined when it names neither. */
function rangeFrom(nextToken: string, reverse: boolean): Range | undefined {
  if (nextToken === '') return {};
  const position = changedPositionOf(nextToken);
  if (position === undefined) return undefined;
  const [index, job] = position;
  if (job === undefined) return reverse ? { from: [index] } : { to: [index + 1] };
  // A key with one more part sorts directly after the key without it.
  return reverse ? { from: [index, ...job] } : { to: [index, ...job, null] };
}

function rangeBehind({ ModifyIndex, Namespace, ID }: Job, reverse: boolean): Range {
  const position = [ModifyIndex, Namespace, ID];
  return reverse ? { from: [...position, null] } : { to: position };
}

function entryOf(view: ReadView, job: Job, outcomes: boolean, children: FunctionChildren): JobStatusEntry {
  const { Namespace, ID } = job;
  const ofJob = { prefix: [Namespace, ID] };
  const [newest] = view.list(deployments, { index: 'by_job', ...ofJob, reverse: true, limit: 1 });
  return jobStatusEntry(job, {
    allocations: view.list(allocations, { index: 'by_job', ...ofJob }).map(({ record }) => ({
      ID: record.ID,
      Group: record.TaskGroup,
      ClientStatus: record.ClientStatus,
      NodeID: record.NodeID,
      DeploymentStatus: {
        Canary: record.DeploymentStatus?.Canary ?? false,
        Healthy: record.DeploymentStatus?.Healthy ?? null,
      },
      JobVersion: record.JobVersion,
      FollowupEvalID: record.FollowupEvalID ?? '',
      HasPausedTask: false,
    })),
    childStatuses:
      children.statusesOf(view, job) ??
      view.list(jobs, { index: 'by_parent', ...ofJob }).map(({ record }) => record.Status),
    deployment: newest === undefined || newest.record.JobCreateIndex !== job.CreateIndex ? null : shown(newest.record),
    outcome: outcomes ? readOutcome(view, job) : undefined,
  });
}

function shown(deployment: Deployment): StatusDeployment {
  const groups = Object.values(deployment.TaskGroups).filter(({ DesiredCanaries }) => DesiredCanaries > 0);
  const running = deployment.Status === 'running' && Object.keys(deployment.TaskGroups).length > 0;
  return {
    ID: deployment.ID,
    IsActive: isActiveDeployment(deployment),
    JobVersion: deployment.JobVersion,
    Status: deployment.Status,
    StatusDescription: deployment.StatusDescription,
    AllAutoPromote: running && groups.every(({ AutoPromote }) => AutoPromote),
    RequiresPromotion: running && groups.some(({ Promoted }) => !Promoted),
  };
}
