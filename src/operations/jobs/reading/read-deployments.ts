import type { Principal } from '../../../access/principal.js';
import type { InvalidRequest } from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-record.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { type Deployment, deployments } from '../../../scheduler/deployment/deployment.js';
import type { EngineContext } from '../../context/engine-context.js';
import { answerList, type ListAnswer, type ListRequest } from '../../listing/answer-list.js';
import { createdSource } from '../../listing/created-source.js';
import { compileFilter } from '../../listing/filters.js';
import { someNamespace } from '../../records/declared-rows.js';
import { ofPresentRegistration } from '../../records/jobs/job-rows.js';
import {
  type JobQuery,
  type NamespaceQuery,
  type Read,
  type RecordQuery,
  readOfJob,
  readRecord,
  visibilityOf,
} from './read-query.js';

/** Selects the deployments of `listDeployments`, and whether it waits for a change. */
interface ListDeploymentsInput extends NamespaceQuery, ListRequest {}

/** The deployments of a namespace, or of all that the caller may read. Index: that of the deployments table. */
export function listDeployments(
  context: EngineContext,
  caller: Principal,
  input: ListDeploymentsInput,
): ListAnswer<Deployment> {
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['read-job']);
  return answerList(context, input, {
    key: ['deployments', namespace, key],
    tables: rows(deployments),
    source: (view: ReadView) => createdSource(view, deployments, { ...input, namespace, sees }, () => true),
    isHidden: (view: ReadView) => !someNamespace(view, sees),
    filters: compileFilter.deployment,
    filtered: (_, { record }) => record,
    show: (_, row) => row.record,
  });
}

/**
 * One deployment; undefined when it does not exist or is in a namespace that the caller may not read: the two cases are
 * indistinguishable.
 */
export function readDeployment(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
): Read<Deployment | undefined, InvalidRequest> {
  return readRecord(context, caller, input, { table: deployments, key: [], show: (_, { record }) => record });
}

/** The deployments of a job, oldest first; without `all`, only those of the current registration, if there is one. */
export function listJobDeployments(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery & { readonly all?: boolean },
): Read<readonly Deployment[]> {
  const all = input.all === true;
  return readOfJob(context, input, {
    key: ['job-deployments', all],
    tables: [deployments],
    run: (view, namespace) => ({
      index: view.tableIndex(deployments),
      value: rowsOfJob(view, namespace, input.jobId, all).map(({ record }) => record),
    }),
  });
}

/** The newest deployment of a job's current registration; null when there is none. Index: that of the deployments table. */
export function readLatestDeployment(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery,
): Read<Deployment | null> {
  return readOfJob(context, input, {
    key: ['latest-deployment'],
    tables: [deployments],
    run: (view, namespace) => {
      const latest = rowsOfJob(view, namespace, input.jobId, false).at(-1);
      return { index: view.tableIndex(deployments), value: latest?.record ?? null };
    },
  });
}

function rowsOfJob(view: ReadView, namespace: string, jobId: string, all: boolean): readonly Row<Deployment>[] {
  return view
    .list(deployments, { index: 'by_job', prefix: [namespace, jobId] })
    .filter(ofPresentRegistration(view, namespace, jobId, all));
}
