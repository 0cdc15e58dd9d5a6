/** Jobs with their versions, deployments, evaluations and allocations; namespaces. For services that embed the engine. */

export type { Diagnostic } from '../hcl/diagnostics/diagnostic.js';
export { renderDiagnostic, renderDiagnostics } from '../hcl/diagnostics/render.js';
export {
  type JobPolicy,
  type PolicyLevel,
  type PolicyQuestion,
  policyLevels,
} from '../jobs/admission/job-policy.js';
export type { QuotaRule } from '../jobs/admission/namespace-quota.js';
export type { SubmissionInput } from '../jobs/changes/job-submission.js';
export type { DurationInput, DurationUnit } from '../jobs/document/duration-input.js';
export type { JsonValue } from '../jobs/document/fields/field-table.js';
export type * from '../jobs/document/input/index.js';
export type { Job } from '../jobs/document/job.js';
export { type JobJsonSchema, jobJsonSchema } from '../jobs/document/job-json-schema.js';
export type { RestartPolicy } from '../jobs/document/policies.js';
export type { SubmittedJob } from '../jobs/document/submitted-job.js';
export type { Task } from '../jobs/document/task.js';
export type { TaskGroup } from '../jobs/document/task-group.js';
export type { NamespaceError } from '../jobs/errors.js';
export { type ParsedJob, type ParseJobOptions, parseJob } from '../jobs/parse-job.js';
export type { ForceRefused } from '../jobs/periodic/decide-launch.js';
export {
  type ActOnDeploymentError,
  type ChangedDeployment,
  type DeploymentReference,
  failDeployment,
  type PauseDeploymentInput,
  type PromoteDeploymentInput,
  pauseDeployment,
  promoteDeployment,
  type SetAllocationHealthInput,
  setAllocationHealth,
  unblockDeployment,
} from '../operations/deployments/index.js';
export {
  type AllocationWithJob,
  applyPlan,
  type DispatchedJob,
  type DispatchJobError,
  type DispatchJobInput,
  dispatchJob,
  type EvaluateJobError,
  type EvaluateJobInput,
  evaluateJob,
  type FilterFault,
  type GroupScaleStatus,
  type JobDocumentInput,
  type JobPlan,
  type JobQuery,
  type JobReference,
  type JobScaleStatus,
  type ListAllocationsInput,
  type ListAnswer,
  type ListDeploymentsInput,
  type ListEvaluationsInput,
  type ListedJob,
  type ListJobsInput,
  type ListRequest,
  listAllocations,
  listDeploymentAllocations,
  listDeployments,
  listEvaluationAllocations,
  listEvaluations,
  listJobAllocations,
  listJobDeployments,
  listJobEvaluations,
  listJobs,
  listJobVersions,
  type NamespaceQuery,
  type ParseJobSourceInput,
  type PlanJobInput,
  type PlanOutdated,
  type PlanSeal,
  parseJobSource,
  planJob,
  type Read,
  type RecordQuery,
  type Registered,
  type RegisterJobError,
  type RegisterJobInput,
  type RevertJobError,
  type RevertJobInput,
  readAllocation,
  readDeployment,
  readEvaluation,
  readJob,
  readJobScaleStatus,
  readJobSubmission,
  readJobSummary,
  readLatestDeployment,
  registerJob,
  revertJob,
  type ScaleJobError,
  type ScaleJobInput,
  type SetJobStabilityInput,
  type StopJobInput,
  type StoppedJob,
  scaleJob,
  setJobStability,
  stopJob,
  type TagJobVersionError,
  type TagJobVersionInput,
  tagJobVersion,
  type UnknownAllocation,
  type UnreadableSource,
  untagJobVersion,
  type ValidatedJob,
  validateSubmittedJob,
} from '../operations/jobs/index.js';
export { collectGarbage, reconcileSummaries } from '../operations/maintenance/index.js';
export {
  listNamespaces,
  type NamespaceInput,
  type PutNamespaceError,
  putNamespace,
  type RemoveNamespaceError,
  readNamespace,
  removeNamespace,
} from '../operations/namespaces/index.js';
export { type ForcedLaunch, forceLaunch } from '../operations/periodic/index.js';
export type { DeploymentError, DeploymentNotFound } from '../scheduler/deployment/deployment-errors.js';
