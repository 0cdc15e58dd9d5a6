/** Jobs with their versions, deployments, evaluations and allocations; namespaces. For services that embed the engine. */

export type { VariableFile } from '../hcl/decode/decode-file.js';
export type { DiagnosticCode } from '../hcl/diagnostics/codes.js';
export type { Diagnostic, Severity } from '../hcl/diagnostics/diagnostic.js';
export { type RenderOptions, renderDiagnostic, renderDiagnostics } from '../hcl/diagnostics/render.js';
export type { Budget, BudgetLimits } from '../hcl/evaluate/budget.js';
export type { FileAccess } from '../hcl/functions/files.js';
export type { Position } from '../hcl/syntax/source.js';
export { type JobPolicy, type PolicyLevel, type PolicyQuestion, policyLevels } from '../jobs/admission/job-policy.js';
export type { QuotaRule } from '../jobs/admission/namespace-quota.js';
export type { JobSubmission, SubmissionInput } from '../jobs/changes/job-submission.js';
export type { VersionBaseNotFound } from '../jobs/diff/diff-versions.js';
export type { DiffType, FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from '../jobs/diff/job-diff.js';
export type {
  ExposeConfig,
  ExposePath,
  Gateway,
  GatewayBindAddress,
  GatewayProxy,
  GatewayTLSConfig,
  GatewayTLSSDSConfig,
  HTTPHeaderModifiers,
  IngressGateway,
  IngressListener,
  IngressService,
  LinkedService,
  MeshGateway,
  ServiceConnect,
  SidecarProxy,
  SidecarService,
  SidecarTask,
  TerminatingGateway,
  TransparentProxy,
  Upstream,
  UpstreamMeshGateway,
} from '../jobs/document/connect.js';
export type { DecodeError } from '../jobs/document/decode-job.js';
export type { Nanoseconds, UnixNanoseconds } from '../jobs/document/document-values.js';
export type { DurationInput, DurationUnit } from '../jobs/document/duration-input.js';
export type { FreeForm, JsonObject, JsonValue } from '../jobs/document/fields/field-table.js';
export type { WorkloadIdentity } from '../jobs/document/identity.js';
export type * from '../jobs/document/input/index.js';
export {
  type Job,
  type JobStatus,
  type JobType,
  type JobUIConfig,
  type JobUILink,
  type JobVersionTag,
  jobTypes,
  type Multiregion,
  type MultiregionRegion,
  type MultiregionStrategy,
  type ParameterizedJobConfig,
  type PeriodicConfig,
} from '../jobs/document/job.js';
export { type JobJsonSchema, type JsonSchema, jobJsonSchema } from '../jobs/document/job-json-schema.js';
export type { CNIConfig, DNSConfig, NetworkResource, Port } from '../jobs/document/network.js';
export type { Affinity, Constraint, Spread, SpreadTarget } from '../jobs/document/placement.js';
export type {
  ConsulBlock,
  DisconnectStrategy,
  MigrateStrategy,
  ReschedulePolicy,
  RestartPolicy,
  ScalingPolicy,
  UpdateStrategy,
} from '../jobs/document/policies.js';
export type { NumaRequest, RequestedDevice, Resources } from '../jobs/document/resources.js';
export type { CheckRestart, Service, ServiceCheck, ServiceWeights } from '../jobs/document/service.js';
export type { SubmittedJob } from '../jobs/document/submitted-job.js';
export type { Task } from '../jobs/document/task.js';
export type { CSIMountOptions, EphemeralDisk, TaskGroup, VolumeRequest } from '../jobs/document/task-group.js';
export type {
  ChangeScript,
  CSIPluginConfig,
  DispatchPayload,
  LogConfig,
  TaskAction,
  TaskArtifact,
  TaskLifecycle,
  TaskSchedule,
  TaskScheduleCron,
  TaskSecret,
  TaskTemplate,
  TaskVault,
  VolumeMount,
  WaitConfig,
} from '../jobs/document/task-parts.js';
export type {
  AdmissionRefused,
  DispatchRateExceeded,
  DispatchRefused,
  EvaluationRefused,
  IndexConflict,
  InvalidJob,
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
export type { JobReference } from '../jobs/job-reference.js';
export type { Namespace, NamespaceCapabilities } from '../jobs/namespaces/namespace.js';
export { type ParsedJob, type ParseJobOptions, parseJob } from '../jobs/parse-job.js';
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
export type {
  ActOnDeploymentError,
  ChangedDeployment,
  DeploymentReference,
} from '../operations/deployments/act-on-deployment.js';
export type {
  PauseDeploymentInput,
  PromoteDeploymentInput,
  SetAllocationHealthInput,
} from '../operations/deployments/actions.js';
export type { EvaluationDeletionRefused } from '../operations/jobs/delete-evaluations.js';
export type { DispatchedJob, DispatchJobError, DispatchJobInput } from '../operations/jobs/dispatch-job.js';
export type { EvaluateJobError, EvaluateJobInput } from '../operations/jobs/evaluate-job.js';
export type { ListedJob, ListJobsInput } from '../operations/jobs/reading/list-jobs.js';
export type {
  AllocationWithJob,
  ListAllocationsInput,
  UnknownAllocation,
} from '../operations/jobs/reading/read-allocations.js';
export type { ListDeploymentsInput } from '../operations/jobs/reading/read-deployments.js';
export type { EvaluationRow, ListEvaluationsInput } from '../operations/jobs/reading/read-evaluations.js';
export type { JobQuery, ListRead, NamespaceQuery, Read } from '../operations/jobs/reading/read-query.js';
export type { GroupScaleStatus, JobScaleStatus } from '../operations/jobs/reading/read-scale-status.js';
export type { RecordQuery } from '../operations/jobs/reading/record-query.js';
export type { ParseJobSourceInput, UnreadableSource } from '../operations/jobs/registration/parse-job-source.js';
export type { PlanJobError, PlanJobInput } from '../operations/jobs/registration/plan-job.js';
export type { JobPlan, PlannedEvaluation } from '../operations/jobs/registration/plan-steps.js';
export type {
  JobDocumentInput,
  Registered,
  RegisterJobError,
  RegisterJobInput,
} from '../operations/jobs/registration/register-job.js';
export type { PlanOutdated, PlanSeal } from '../operations/jobs/registration/sealed-plan.js';
export type { ValidatedJob } from '../operations/jobs/registration/validate-submitted-job.js';
export type { RevertJobError, RevertJobInput } from '../operations/jobs/revert-job.js';
export type { ScaleJobError, ScaleJobInput } from '../operations/jobs/scale-job.js';
export type { SetJobStabilityInput } from '../operations/jobs/set-job-stability.js';
export type { StopJobInput, StoppedJob } from '../operations/jobs/stop-job.js';
export type { TaggedVersion, TagJobVersionError, TagJobVersionInput } from '../operations/jobs/tag-job-version.js';
export type { FilterFault, ListAnswer } from '../operations/listing/answer-list.js';
export type { ListRequest } from '../operations/listing/list-request.js';
export type { NamespaceInput, PutNamespaceError } from '../operations/namespaces/put-namespace.js';
export type { RemoveNamespaceError } from '../operations/namespaces/remove-namespace.js';
export type { ForcedLaunch } from '../operations/periodic/force-launch.js';
export type { Page } from '../queries/page.js';
export type { SearchRefused } from '../queries/search/search-context.js';
export type { AllocationStubOptions } from '../scheduler/allocation-stub.js';
export type { DeploymentError, DeploymentNotFound } from '../scheduler/deployment/deployment-errors.js';
export type { EvaluationStub } from '../scheduler/related-evaluations.js';
