import { ResultAsync } from 'neverthrow';
import type { jobCalls, poolJobCalls } from '../../api/calls/job-calls/index.js';
import type { jobControlCalls } from '../../api/calls/job-control-calls.js';
import type { scalingCalls } from '../../api/calls/scaling-calls.js';
import type { allocationCalls, deploymentCalls, evaluationCalls } from '../../api/calls/scheduling-calls.js';
import type { SubmissionInput } from '../../jobs/changes/job-submission.js';
import type { JobInput } from '../../jobs/document/submitted-job.js';
import type { Allocation } from '../../scheduler/allocation.js';
import { type AllocationDocument, allocationDocument } from '../../scheduler/allocation-document.js';
import { outcomeMember } from '../../scheduler/allocation-stub.js';
import type { Bindings, CallManner } from '../binding.js';
import type { EngineContext } from '../context/engine-context.js';
import { deleteEvaluations } from './delete-evaluations.js';
import { dispatchJob } from './dispatch-job.js';
import { evaluateJob } from './evaluate-job.js';
import { listJobStatuses, listNamedJobStatuses } from './reading/list-job-statuses.js';
import { listJobs, listPoolJobs } from './reading/list-jobs.js';
import {
  listAllocations,
  listDeploymentAllocations,
  listEvaluationAllocations,
  listJobAllocations,
  readAllocation,
} from './reading/read-allocations.js';
import {
  listDeployments,
  listJobDeployments,
  readDeployment,
  readLatestDeployment,
} from './reading/read-deployments.js';
import { countEvaluations, listEvaluations, listJobEvaluations, readEvaluation } from './reading/read-evaluations.js';
import { compareJobVersions, readJob, readJobSubmission, readJobSummary } from './reading/read-job.js';
import { showsOutcomes } from './reading/read-query.js';
import { readJobScaleStatus } from './reading/read-scale-status.js';
import { listScalingPolicies, readScalingPolicy } from './reading/read-scaling-policies.js';
import { parseJobSource } from './registration/parse-job-source.js';
import { planJob } from './registration/plan-job.js';
import { registerJob } from './registration/register-job.js';
import { validateSubmittedJob } from './registration/validate-submitted-job.js';
import { revertJob } from './revert-job.js';
import { scaleJob } from './scale-job.js';
import { setJobStability } from './set-job-stability.js';
import { stopJob } from './stop-job.js';
import { tagJobVersion, untagJobVersion } from './tag-job-version.js';

/** The operations of the calls of jobs. */
export const jobBindings: Bindings<typeof jobCalls> = {
  list: (context, caller, input, { waiting }) => listJobs(context, caller, { ...input, waiting }),
  statuses: (context, caller, input, { waiting }) => listJobStatuses(context, caller, { ...input, waiting }),
  statusesOf: (context, caller, input, { waiting }) => listNamedJobStatuses(context, caller, { ...input, waiting }),
  register: (context, caller, input, manner) => registerJob(context, caller, registration(input, manner)),
  update: (context, caller, { jobId, ...input }, manner) =>
    registerJob(context, caller, { ...registration(input, manner), jobId }),
  parse: (context, caller, input) => new ResultAsync(parseJobSource(context, caller, input)),
  validate: (context, caller, { job }, { fromWire = false }) =>
    validateSubmittedJob(context, caller, { job, fromWire }),
  read: (context, caller, input, { waiting }) => readJob(context, caller, { ...input, waiting }),
  submission: (context, caller, input, { waiting }) => readJobSubmission(context, caller, { ...input, waiting }),
  versions: (context, caller, input, { waiting }) => compareJobVersions(context, caller, { ...input, waiting }),
  allocations: (context, caller, input, { waiting }) => listJobAllocations(context, caller, { ...input, waiting }),
  evaluations: (context, caller, input, { waiting }) => listJobEvaluations(context, caller, { ...input, waiting }),
  deployments: (context, caller, input, { waiting }) => listJobDeployments(context, caller, { ...input, waiting }),
  latestDeployment: (context, caller, input, { waiting }) =>
    readLatestDeployment(context, caller, { ...input, waiting }),
  summary: (context, caller, input, { waiting }) => readJobSummary(context, caller, { ...input, waiting }),
  dispatch: dispatchJob,
  dispatchPayload: (context, caller, { payload, ...input }) =>
    dispatchJob(context, caller, { ...input, payload: base64From(payload) }),
  revert: revertJob,
  setStability: setJobStability,
  evaluate: evaluateJob,
  // Existing clients may send a negative index, which means none.
  stop: (context, caller, { evalPriority = 0, ...input }) =>
    stopJob(context, caller, {
      ...input,
      evalPriority: isUpstream(context) ? Math.max(0, evalPriority) : evalPriority,
    }),
  scaleStatus: (context, caller, input, { waiting }) => readJobScaleStatus(context, caller, { ...input, waiting }),
  scale: (context, caller, { group, targetJob, targetNamespace, enforceIndex, ...input }) =>
    scaleJob(context, caller, {
      ...input,
      ...checkedIndex(enforceIndex),
      target: {
        Group: group,
        ...(targetJob === undefined ? {} : { Job: targetJob }),
        ...(targetNamespace === undefined ? {} : { Namespace: targetNamespace }),
      },
    }),
  tagVersion: tagJobVersion,
  untagVersion: untagJobVersion,
};

/** The operations of the calls of scaling policies. */
export const scalingBindings: Bindings<typeof scalingCalls> = {
  policies: (context, caller, input, { waiting }) => listScalingPolicies(context, caller, { ...input, waiting }),
  policy: (context, caller, input, { waiting }) => readScalingPolicy(context, caller, { ...input, waiting }),
};

/** The operations of the calls of jobs in node pools. */
export const poolJobBindings: Bindings<typeof poolJobCalls> = {
  jobs: (context, caller, input, { waiting }) => listPoolJobs(context, caller, { ...input, waiting }),
};

/** The operations of the calls of evaluations. */
export const evaluationBindings: Bindings<typeof evaluationCalls> = {
  list: (context, caller, input, { waiting }) => listEvaluations(context, caller, { ...input, waiting }),
  count: (context, caller, input, { waiting }) => countEvaluations(context, caller, { ...input, waiting }),
  delete: deleteEvaluations,
  read: (context, caller, input, { waiting }) => readEvaluation(context, caller, { ...input, waiting }),
  allocations: (context, caller, input, { waiting }) =>
    listEvaluationAllocations(context, caller, { ...input, waiting }),
};

/** The operations of the calls of allocations. */
export const allocationBindings: Bindings<typeof allocationCalls> = {
  list: (context, caller, input, { waiting }) => listAllocations(context, caller, { ...input, waiting }),
  read: (context, caller, input, { waiting }) =>
    readAllocation(context, caller, { ...input, waiting }).map(({ index, value }) => ({
      index,
      value: value && { ...value, document: documentOf(context, value.allocation.record) },
    })),
};

/** The operations of the calls of deployments. */
export const deploymentBindings: Bindings<typeof deploymentCalls> = {
  list: (context, caller, input, { waiting }) => listDeployments(context, caller, { ...input, waiting }),
  read: (context, caller, input, { waiting }) => readDeployment(context, caller, { ...input, waiting }),
  allocations: (context, caller, input, { waiting }) =>
    listDeploymentAllocations(context, caller, { ...input, waiting }),
};

function documentOf(context: EngineContext, allocation: Allocation): AllocationDocument {
  const document = allocationDocument(allocation);
  return showsOutcomes(context) ? { ...document, ...outcomeMember(allocation) } : document;
}

function isUpstream({ settings }: EngineContext): boolean {
  return settings.notifications.names === 'upstream';
}

interface Registering {
  readonly job: JobInput;
  readonly submission?: Partial<SubmissionInput>;
  readonly enforceIndex?: number;
}

/** A source may have a kind and values. */
function registration<I extends Registering>(
  { submission, enforceIndex, ...input }: I,
  { fromWire = false }: CallManner,
) {
  return {
    ...input,
    fromWire,
    ...checkedIndex(enforceIndex),
    submission:
      submission === undefined ? null : { Source: '', Format: '', VariableFlags: null, Variables: '', ...submission },
  };
}

function checkedIndex(index: number | undefined): { readonly enforceIndex?: true; readonly jobModifyIndex?: number } {
  return index === undefined ? {} : { enforceIndex: true, jobModifyIndex: index };
}

function base64From(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Planning. */
export const planBindings: Pick<Bindings<typeof jobControlCalls>, 'plan'> = {
  plan: (context, caller, input, { fromWire = false }) => planJob(context, caller, { ...input, fromWire }),
};
