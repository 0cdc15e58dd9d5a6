/*
 * The rules about jobs as pure functions (`signalbox/jobs`): nothing here waits, reads a clock or needs an engine.
 * `jobFrom` builds a complete job from one line.
 */

// ---- The document: decoding, canonical form, validation ----

export type { VariableFile } from '../hcl/decode/decode-file.js';
export type { FileAccess } from '../hcl/functions/files.js';
export { admitJob, type InstallationDefaults } from './admission/admit-job.js';
export { canonicaliseJob, canonicaliseSubmitted } from './canonical/canonicalise-job.js';
export { type DecodeError, type DecodeOptions, decodeJob } from './document/decode-job.js';
export type { DurationInput, DurationUnit } from './document/duration-input.js';
export { equalSpec } from './document/equal-spec.js';
export type { FreeForm, JsonObject, JsonValue } from './document/field-table.js';
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
} from './document/job.js';
export type * from './document/job-input.js';
export { type JobJsonSchema, type JsonSchema, jobJsonSchema } from './document/job-json-schema.js';
export type { SubmittedJob } from './document/submitted-job.js';
export type { Task } from './document/task.js';
export type { CSIMountOptions, TaskGroup, VolumeRequest } from './document/task-group.js';
export { type UnknownField, unknownFields } from './document/unknown-fields.js';
export type { AdmissionRefused, InvalidJob } from './errors.js';
export { type ParsedJob, type ParseJobOptions, parseJob } from './parse-job.js';
export { jobFrom, type PrepareJobError, prepareJob } from './prepare-job.js';
export { namespaceSchema } from './record-schemas.js';
export { errorsText, warningsText } from './validation/problems.js';
export { type JobProblems, type ValidationContext, validateJob } from './validation/validate-job.js';

// ---- The parts of a job ----

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
} from './document/connect.js';
export type { Nanoseconds, UnixNanoseconds } from './document/document-values.js';
export type { WorkloadIdentity } from './document/identity.js';
export type { CNIConfig, DNSConfig, NetworkResource, Port } from './document/network.js';
export type { Affinity, Constraint, Spread, SpreadTarget } from './document/placement.js';
export type {
  CheckRestart,
  ConsulBlock,
  DisconnectStrategy,
  EphemeralDisk,
  MigrateStrategy,
  ReschedulePolicy,
  RestartPolicy,
  ScalingPolicy,
  UpdateStrategy,
} from './document/policies.js';
export type { NumaRequest, RequestedDevice, Resources } from './document/resources.js';
export type { Service, ServiceCheck, ServiceWeights } from './document/service.js';
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
} from './document/task-parts.js';

// ---- What differs between two jobs ----

export { annotateDiff, type DesiredUpdates, type PlanAnnotations } from './diff/annotate-diff.js';
export {
  type DifferentJobs,
  type DiffOptions,
  diffJobs,
  diffVersions,
  type VersionBase,
  type VersionBaseNotFound,
} from './diff/diff-jobs.js';
export type { DiffType, FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from './diff/job-diff.js';

// ---- Decisions of the operations ----

export {
  checkDispatch,
  type DispatchLimits,
  type DispatchRequest,
  dispatchedChild,
} from './changes/decide-dispatch.js';
export {
  decideRegistration,
  decideRevert,
  decideStop,
  type Registration,
  type RegistrationRequest,
  type RevertRequest,
} from './changes/decide-registration.js';
export { checkScaleRequest, decideScale, type ScaleRequest, type Scaling } from './scaling/decide-scale.js';

// ---- Periodic jobs ----

export {
  decideForcedLaunch,
  decideLaunch,
  type LaunchDecision,
  nextLaunch,
  type PeriodicSchedule,
  scheduleLaunches,
} from './periodic/decide-launch.js';
export { type CronFinding, type CronLint, lintCron, type UpcomingLaunch } from './periodic/validate-periodic.js';
export { type JobHealth, jobHealth } from './status/job-health.js';

// ---- Templates of tasks ----

export {
  functionNames as templateFunctions,
  parseTemplate,
  type Rendering,
  type RenderOptions,
  type Template,
  type TemplateFault,
  type TemplateInputs,
  type VariableName,
  type VariableRead,
} from '../templates/index.js';
