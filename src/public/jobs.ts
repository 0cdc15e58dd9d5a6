/** Jobs with their versions, deployments, evaluations and allocations; namespaces. For services that embed the engine. The parts of a job are those of `signalbox/jobs`. */

export { type JobPolicy, type PolicyLevel, type PolicyQuestion, policyLevels } from '../jobs/admission/job-policy.js';
export type { QuotaRule } from '../jobs/admission/namespace-quota.js';
export type { JobSubmission, SubmissionInput } from '../jobs/changes/job-submission.js';
export type { JobInput } from '../jobs/document/input/index.js';
export type { Job } from '../jobs/document/job.js';
export type {
  DispatchRateExceeded,
  DispatchRefused,
  EvaluationRefused,
  IndexConflict,
  InvalidRequest,
  JobNotFound,
  NamespaceError,
  PolicyRefused,
  QuotaExceeded,
  RegistrationRefusal,
  RegistrationsDisabled,
  RevertRefused,
  ScalingRefused,
  TagRefused,
  TotalCountTooLarge,
  TransitionRefused,
  UnknownRegion,
  VersionNotFound,
} from '../jobs/errors.js';
export type { Namespace, NamespaceCapabilities } from '../jobs/namespaces/namespace.js';
export type { ForceRefused } from '../jobs/periodic/decide-launch.js';
export {
  type AllocationOfRun,
  allocationOutcome,
  type EndedAllocation,
  type EndedJob,
  outcomeWords,
  type RunOutcome,
  runOutcome,
} from '../jobs/runs/run-outcome.js';
export type { ScalingEvent } from '../jobs/scaling/scaling-event.js';
export type { JobListStub } from '../jobs/status/job-stub.js';
export type { ChangedDeployment } from '../operations/deployments/act-on-deployment.js';
export type { EvaluationDeletionRefused } from '../operations/jobs/delete-evaluations.js';
export type { DispatchedJob } from '../operations/jobs/dispatch-job.js';
export type { UnknownAllocation } from '../operations/jobs/reading/read-allocations.js';
export type { GroupScaleStatus, JobScaleStatus } from '../operations/jobs/reading/read-scale-status.js';
export type { UnreadableSource } from '../operations/jobs/registration/parse-job-source.js';
export type { JobPlan, PlannedEvaluation } from '../operations/jobs/registration/plan-steps.js';
export type { Registered, RegisterJobError } from '../operations/jobs/registration/register-job.js';
export type { PlanOutdated, PlanSeal } from '../operations/jobs/registration/sealed-plan.js';
export type { ValidatedJob } from '../operations/jobs/registration/validate-submitted-job.js';
export type { StoppedJob } from '../operations/jobs/stop-job.js';
export type { TaggedVersion } from '../operations/jobs/tag-job-version.js';
export type { FilterFault } from '../operations/listing/answer-list.js';
export type { ForcedLaunch } from '../operations/periodic/force-launch.js';
export type { SearchRefused } from '../queries/search/search-context.js';
export type { DeploymentError, DeploymentNotFound } from '../scheduler/deployment/deployment-errors.js';
