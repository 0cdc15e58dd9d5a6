/*
 * The front door, in two groups: what a service uses, and what the author of an adapter needs besides.
 */

// ---- For users: engine, settings, events ----

export { createEngine, type Engine, type EnginePorts, type StopOptions } from './engine.js';
export type { EngineEmitter, EngineEvents } from './operations/events.js';
export { probeStore } from './operations/store/index.js';
export {
  defaultSettings,
  type RunNotificationRule,
  type Settings,
  type SettingsOverrides,
  settingsFrom,
} from './settings.js';

// ---- For users: access ----

export { allows, allowsSomeWorkspace, allowsWorkspace, everyNamespace } from './access/allows.js';
export {
  type Capability,
  capabilityFromName,
  namespaceCapabilities,
  type PolicyShorthand,
  policyShorthands,
} from './access/capability.js';
export {
  anonymousPrincipal,
  hostPrincipal,
  type NamespaceRule,
  type Principal,
  type WorkspaceRight,
} from './access/principal.js';
export {
  authenticateToken,
  bootstrapManagementToken,
  type IssuedToken,
  listTokens,
  putToken,
  removeToken,
  type TokenInfo,
  type TokenInput,
  type TokenNotFound,
  tokenAuthenticator,
  type UnfitSecret,
} from './operations/access/index.js';
export type { PermissionDenied } from './operations/shared/authorise.js';

// ---- For users: jobs and namespaces ----

export type { Diagnostic } from './hcl/diagnostics/diagnostic.js';
export { renderDiagnostic, renderDiagnostics } from './hcl/diagnostics/render.js';
export type { Job } from './jobs/document/job.js';
export { type JobJsonSchema, jobJsonSchema } from './jobs/document/job-json-schema.js';
export type { RestartPolicy } from './jobs/document/policies.js';
export type { SubmittedJob } from './jobs/document/submitted-job.js';
export type { Task } from './jobs/document/task.js';
export type { TaskGroup } from './jobs/document/task-group.js';
export type { NamespaceError } from './jobs/errors.js';
export type { SubmissionInput } from './jobs/job-submission.js';
export { type ParsedJob, type ParseJobOptions, parseJob } from './jobs/parse-job.js';
export {
  type AllocationWithJob,
  type DispatchedJob,
  type DispatchJobError,
  type DispatchJobInput,
  dispatchJob,
  type EvaluateJobError,
  type EvaluateJobInput,
  evaluateJob,
  type GroupScaleStatus,
  type JobQuery,
  type JobReference,
  type JobScaleStatus,
  type ListAllocationsInput,
  type ListEvaluationsInput,
  type ListJobsInput,
  listAllocations,
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
  parseJobSource,
  type Read,
  type RecordQuery,
  type Registered,
  type RegisterJobError,
  type RegisterJobInput,
  type RevertJobError,
  type RevertJobInput,
  readAllocation,
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
} from './operations/jobs/index.js';
export {
  listNamespaces,
  type NamespaceInput,
  type PutNamespaceError,
  putNamespace,
  type RemoveNamespaceError,
  readNamespace,
  removeNamespace,
} from './operations/namespaces/index.js';

// ---- For users: notifications ----

export type {
  ConfigurationInput,
  UncheckedConfigurationInput,
  UserReference,
} from './notifications/configuration-input.js';
export { type DeliveryOutcome, deliveryOutcomes, type FailureClass, failureClasses } from './notifications/delivery.js';
export { type DestinationKind, destinationKindFromSpelling, destinationKinds } from './notifications/destination.js';
export type {
  Conflict,
  FieldFault,
  InvalidAttributes,
  InvalidParameter,
  LimitReached,
  NotFound,
  NotificationError,
  VerificationFailed,
  VerificationResponse,
} from './notifications/errors.js';
export type {
  AssessmentEvent,
  AssessmentResult,
  AutoDestroyEvent,
  NotificationEvent,
  RunEvent,
} from './notifications/event.js';
export type { EventAttributes } from './notifications/event-attributes.js';
export { type Explanation, explain, type Obstacle } from './notifications/explain.js';
export { configurationPath, configurationUrl } from './notifications/links.js';
export { type RenderedNotification, renderPayload } from './notifications/render-payload.js';
export { notificationForRunStatus, type RunStatusNotification } from './notifications/run-status.js';
export {
  type Trigger,
  type TriggerDefinition,
  triggerDefinitions,
  triggerFromSpelling,
} from './notifications/trigger.js';
export type { User } from './notifications/user.js';
export { type ExecutionMode, executionModes, type Workspace } from './notifications/workspace.js';
export {
  type ConfigurationList,
  type ConfigurationView,
  type CreateConfigurationRequest,
  createNotificationConfiguration,
  type DeliveryDetails,
  type DeliveryList,
  type DeliverySummary,
  deleteNotificationConfiguration,
  type EventRequest,
  enableNotificationConfiguration,
  explainEvent,
  type ListDeliveriesRequest,
  listDeliveries,
  listNotificationConfigurations,
  type PageRequest,
  type Pagination,
  putUser,
  putWorkspace,
  type Recovered,
  type RecoverRequest,
  recoverDeliveries,
  redeliver,
  removeUser,
  removeWorkspace,
  sendNotificationEvent,
  showDelivery,
  showNotificationConfiguration,
  type UpdateConfigurationRequest,
  updateNotificationConfiguration,
  verifyNotificationConfiguration,
  type WorkspaceInput,
} from './operations/notifications/index.js';
export type { PublishedEvent } from './operations/shared/publish-notification-event.js';

// ---- For users and runners: nodes, evaluations, allocations and their life ----

export { clientDescriptionOf, clientStatusOf } from './agent/allocation/client-status.js';
export {
  interpolate,
  interpolationLookup,
  type TaskDirectories,
  type TaskPlace,
  taskEnvironment,
} from './agent/environment/task-environment.js';
export {
  decideRestart,
  type RestartCount,
  type RestartVerdict,
  type TaskExit,
} from './agent/task/decide-restart.js';
export { restartsOnSuccess, type TaskPhase, taskPhase } from './agent/task/task-phase.js';
export { pendingTask, type TaskHappening, transitionTask } from './agent/task/task-state.js';
export {
  type AllocationReport,
  heartbeatNode,
  listNodes,
  listNodeWork,
  type NodeDescription,
  type NodeWork,
  type RegisteredNode,
  type ReportOutcome,
  readNode,
  registerNode,
  reportAllocations,
  type UnknownNode,
} from './operations/scheduling/index.js';
export * from './scheduler/index.js';

// ---- For adapter authors: ports, waiting, notations ----

export type { Waiting } from './operations/shared/blocking-query.js';
export type { BackgroundLoop, EngineContext } from './operations/shared/context.js';
export type { Answer } from './operations/shared/parked-queries.js';
export type * from './ports/index.js';
export type { Row } from './ports/storage.js';
export { millisecondsFromNanos, parseDurationNanos } from './shared/duration.js';
export { instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from './shared/instant.js';
