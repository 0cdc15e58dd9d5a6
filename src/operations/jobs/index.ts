/*
 * Operations on jobs, and reads of their evaluations, allocations and deployments. Each takes the engine, the caller and one input
 * record. Reads return an `Answer` (index and value) and can wait for a change; the value `undefined` means that the object does
 * not exist, with the index to wait for. Rows carry their JSON text, to be passed on without parsing.
 */

export type { JobReference } from '../../jobs/job-reference.js';
export type { FilterFault, ListAnswer } from '../listing/answer-list.js';
export type { ListRequest } from '../listing/list-request.js';
export type { DeletedEvaluations, EvaluationDeletionRefused } from './delete-evaluations.js';
export { type DispatchedJob, type DispatchJobError, type DispatchJobInput, dispatchJob } from './dispatch-job.js';
export { type EvaluateJobError, type EvaluateJobInput, evaluateJob } from './evaluate-job.js';
export { type ListedJob, type ListJobsInput, listJobs } from './reading/list-jobs.js';
export {
  type AllocationWithJob,
  type ListAllocationsInput,
  listAllocations,
  listDeploymentAllocations,
  listEvaluationAllocations,
  listJobAllocations,
  readAllocation,
  type UnknownAllocation,
} from './reading/read-allocations.js';
export {
  type ListDeploymentsInput,
  listDeployments,
  listJobDeployments,
  readDeployment,
  readLatestDeployment,
} from './reading/read-deployments.js';
export {
  type EvaluationCount,
  type EvaluationRow,
  type ListEvaluationsInput,
  listEvaluations,
  listJobEvaluations,
  readEvaluation,
} from './reading/read-evaluations.js';
export { listJobVersions, readJob, readJobSubmission, readJobSummary } from './reading/read-job.js';
export type { JobQuery, ListRead, NamespaceQuery, Read } from './reading/read-query.js';
export { type GroupScaleStatus, type JobScaleStatus, readJobScaleStatus } from './reading/read-scale-status.js';
export type { RecordQuery } from './reading/record-query.js';
export { applyPlan } from './registration/apply-plan.js';
export type { ParseJobSourceInput, UnreadableSource } from './registration/parse-job-source.js';
export { type PlanJobError, type PlanJobInput, planJob } from './registration/plan-job.js';
export type { JobPlan, PlannedEvaluation } from './registration/plan-steps.js';
export {
  type JobDocumentInput,
  type Registered,
  type RegisterJobError,
  type RegisterJobInput,
  registerJob,
} from './registration/register-job.js';
export type { PlanOutdated, PlanSeal } from './registration/sealed-plan.js';
export { type ValidatedJob, validateSubmittedJob } from './registration/validate-submitted-job.js';
export { type RevertJobError, type RevertJobInput, revertJob } from './revert-job.js';
export { type ScaleJobError, type ScaleJobInput, scaleJob } from './scale-job.js';
export { type SetJobStabilityInput, setJobStability } from './set-job-stability.js';
export { type StopJobInput, type StoppedJob, stopJob } from './stop-job.js';
export {
  type TaggedVersion,
  type TagJobVersionError,
  type TagJobVersionInput,
  tagJobVersion,
  untagJobVersion,
} from './tag-job-version.js';
