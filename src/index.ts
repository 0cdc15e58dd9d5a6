/*
 * The front door, in two groups: what a service uses, and what the author of an adapter needs besides.
 */

// ---- For users: engine, settings, events ----

export { err, errAsync, ok, okAsync, Result, ResultAsync } from 'neverthrow';

export type { Indexed, PageOf } from './api/answers.js';
export type { MessageSocket, SocketEnd } from './api/message-socket.js';
export type { CallOptions, Client, WaitingOptions } from './client/client.js';
export type {
  Aborted,
  BadRequest,
  ClientError,
  Refused,
  TimedOut,
  UnexpectedAnswer,
  Unreachable,
} from './client/client-error.js';
export { orThrow, SignalboxError } from './client/or-throw.js';
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

export {
  allows,
  allowsArea,
  allowsHostVolume,
  allowsNamespace,
  allowsNodePool,
  allowsSomeVariable,
  allowsSomeWorkspace,
  allowsVariable,
  allowsWorkspace,
  everyNamespace,
} from './access/allows.js';
export { type CallAccess, type Concerned, mayCall } from './access/call-access.js';
export {
  type Capability,
  capabilityFromName,
  namespaceCapabilities,
  type PolicyShorthand,
  policyShorthands,
} from './access/capability.js';
export type {
  AccessError,
  BootstrapDone,
  InvalidAccess,
  MalformedAccessor,
  RoleNotFound,
  TokenNotFound,
} from './access/errors.js';
export type { OneTimeToken } from './access/one-time-tokens.js';
export { parsePolicy } from './access/policy/parse-policy.js';
export type {
  Area,
  AreaLevel,
  AreaPolicy,
  HostVolumeCapability,
  NamedPolicy,
  NamespacePolicy,
  NodePoolCapability,
  OperatorPolicy,
  Policy,
  VariableCapability,
  VariablePathPolicy,
} from './access/policy/policy.js';
export type { RulesFault } from './access/policy/rules-reader.js';
export type { PolicyInput, PolicyJob, PolicyStub, StoredPolicy } from './access/policy-record.js';
export {
  anonymousPrincipal,
  hostPrincipal,
  type NamespaceRule,
  type Principal,
  type Workload,
  type WorkspaceRight,
} from './access/principal.js';
export type { RoleInput, StoredRole } from './access/role-record.js';
export type { RoleLink, TokenDocument, TokenStub } from './access/token-document.js';
export {
  authenticateToken,
  bootstrapManagementToken,
  createOneTimeToken,
  exchangeOneTimeToken,
  type IssuedToken,
  type ListPoliciesInput,
  type ListRolesInput,
  type ListTokenStubsInput,
  listOwnPolicies,
  listPolicies,
  listRoles,
  listTokenStubs,
  listTokens,
  type PutPolicyError,
  type PutRoleError,
  putPolicy,
  putRole,
  putToken,
  type RoleReference,
  readOwnToken,
  readPolicy,
  readRole,
  readToken,
  removePolicy,
  removeRole,
  removeToken,
  type SaveTokenError,
  type SaveTokenInput,
  saveToken,
  type TokenInfo,
  type TokenInput,
  tokenAuthenticator,
  type UnfitSecret,
  workloadCaller,
} from './operations/access/index.js';
export type { PermissionDenied } from './operations/authorise.js';
export {
  type ListVariablesInput,
  listVariables,
  type PutVariableError,
  type PutVariableInput,
  putVariable,
  type ReadVariableInput,
  type RemoveVariableInput,
  type RenewLockInput,
  readVariable,
  removeVariable,
  renewLock,
  type VariableWritten,
} from './operations/variables/index.js';
export type { InvalidVariable, ItemsMissing } from './variables/errors.js';
export type { LockView, VariableDocument, VariableItems, VariableStub } from './variables/variable.js';

// ---- For users: jobs and namespaces ----

export type { Diagnostic } from './hcl/diagnostics/diagnostic.js';
export { renderDiagnostic, renderDiagnostics } from './hcl/diagnostics/render.js';
export {
  type JobPolicy,
  type PolicyLevel,
  type PolicyQuestion,
  policyLevels,
} from './jobs/admission/job-policy.js';
export type { QuotaRule } from './jobs/admission/namespace-quota.js';
export type { DurationInput, DurationUnit } from './jobs/document/duration-input.js';
export type { JsonValue } from './jobs/document/field-table.js';
export type * from './jobs/document/input/index.js';
export type { Job } from './jobs/document/job.js';
export { type JobJsonSchema, jobJsonSchema } from './jobs/document/job-json-schema.js';
export type { RestartPolicy } from './jobs/document/policies.js';
export type { SubmittedJob } from './jobs/document/submitted-job.js';
export type { Task } from './jobs/document/task.js';
export type { TaskGroup } from './jobs/document/task-group.js';
export type { NamespaceError } from './jobs/errors.js';
export type { SubmissionInput } from './jobs/job-submission.js';
export { type ParsedJob, type ParseJobOptions, parseJob } from './jobs/parse-job.js';
export type { ForceRefused } from './jobs/periodic/decide-launch.js';
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
} from './operations/deployments/index.js';
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
} from './operations/jobs/index.js';
export { collectGarbage, reconcileSummaries } from './operations/maintenance/index.js';
export {
  listNamespaces,
  type NamespaceInput,
  type PutNamespaceError,
  putNamespace,
  type RemoveNamespaceError,
  readNamespace,
  removeNamespace,
} from './operations/namespaces/index.js';
export { type ForcedLaunch, forceLaunch } from './operations/periodic/index.js';
export type { DeploymentError, DeploymentNotFound } from './scheduler/deployment/deployment-errors.js';

// ---- For users: notifications ----

export type {
  ConfigurationInput,
  UncheckedConfigurationInput,
  UserReference,
} from './notifications/configuration-input.js';
export { type FailureClass, failureClasses } from './notifications/delivery/classify-failure.js';
export { type DeliveryOutcome, deliveryOutcomes, type RecipientResult } from './notifications/delivery/delivery.js';
export type { Authentication, DeliveryOptions, DeliveryOptionsInput } from './notifications/delivery-options.js';
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
  CustomEvent,
  NotificationEvent,
  RunEvent,
} from './notifications/event.js';
export type { EventAttributes } from './notifications/event-attributes.js';
export type { EventType, EventTypeInput } from './notifications/event-type.js';
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
export type { PublishedEvent } from './operations/books/publish-notification-event.js';
export {
  type AccountView,
  type BulkRedeliveryRequest,
  type ConfigurationList,
  type ConfigurationView,
  type CreateConfigurationRequest,
  cancelBulkRedelivery,
  checkStoredSecrets,
  countRecoverable,
  createNotificationConfiguration,
  type DeliveryDetails,
  type DeliveryList,
  type DeliveryOptionsView,
  type DeliverySummary,
  deleteNotificationConfiguration,
  type EntitlementView,
  type EventDetails,
  type EventList,
  type EventRequest,
  type EventSummary,
  type EventTypeView,
  enableNotificationConfiguration,
  eraseNotificationEvent,
  explainEvent,
  type HealthView,
  type ListDeliveriesRequest,
  type ListEventsRequest,
  listBulkRedeliveries,
  listDeliveries,
  listEventTypes,
  listNotificationConfigurations,
  listNotificationEvents,
  listOrganizations,
  listWorkspaces,
  type OrganizationList,
  type OrganizationView,
  type PageRequest,
  type Pagination,
  pauseNotificationConfiguration,
  putEventType,
  putNotificationConfiguration,
  putUser,
  putWorkspace,
  type RecoverableCount,
  type Recovered,
  type RecoverRequest,
  type RecoveryView,
  recoverDeliveries,
  redeliver,
  removeEventType,
  removeUser,
  removeWorkspace,
  resumeNotificationConfiguration,
  type StoredSecretsCheck,
  sendNotificationEvent,
  showAccount,
  showDelivery,
  showEventType,
  showNotificationConfiguration,
  showNotificationEvent,
  showOrganization,
  showWorkspace,
  showWorkspaceNamed,
  startBulkRedelivery,
  type UpdateConfigurationRequest,
  updateNotificationConfiguration,
  verifyNotificationConfiguration,
  type WorkspaceInput,
  type WorkspaceList,
  type WorkspaceView,
} from './operations/notifications/index.js';

// ---- For users and runners: nodes, evaluations, allocations and their life ----

export type {
  AllocationReport,
  NodeDescription,
  NodeReport,
  NodeWork,
  NodeWorkList,
  RegisteredNode,
  ReportOutcome,
} from './agent/link/node-work.js';
export type { TaskVariables, TaskVariablesQuery } from './agent/link/task-variables.js';
export { pendingTask } from './agent/task/transition-task-state.js';
export {
  type ChangedNode,
  type ChangeNodeError,
  type DrainNodeInput,
  drainNode,
  type EvaluatedNode,
  evaluateNode,
  listNodeAllocations,
  listNodePoolNodes,
  listNodePools,
  type NodePoolInput,
  purgeNode,
  putNodePool,
  readNodePool,
  readSchedulerConfiguration,
  removeNodePool,
  type SchedulerConfigurationInput,
  type SetNodeEligibilityInput,
  setNodeEligibility,
  setSchedulerConfiguration,
} from './operations/nodes/index.js';
export {
  type AgentPorts,
  agentLink,
  agentPorts,
  heartbeatNode,
  type ListNodesInput,
  leaveNode,
  listNodes,
  listNodeWork,
  readNode,
  registerNode,
  reportAllocations,
} from './operations/scheduling/index.js';
export * from './scheduler/index.js';
export type { NodePoolError } from './scheduler/nodes/check-node-pool.js';
export type { DrainSpec } from './scheduler/nodes/drain.js';
export type { NodeNotFound, NodeRefused } from './scheduler/nodes/node-errors.js';

// ---- For adapter authors: ports, waiting, notations ----

export type { ChildrenSummary, GroupSummary, JobSummary } from './jobs/job-summary-record.js';
export {
  type Instrument,
  instruments,
  type Measured,
  type MetricFamily,
  type MetricName,
} from './metrics/instruments.js';
export type { BackgroundLoop, EngineContext } from './operations/context/engine-context.js';
export type { Waiting } from './operations/waiting/blocking-query.js';
export type { Answer } from './operations/waiting/parked-queries.js';
export type * from './ports/index.js';
export type { Row } from './ports/storage.js';
export type { OutgoingMessage, Transform } from './ports/transform.js';
export { type FaultyPolicyRule, type PolicyRule, policyOfRule } from './queries/policy-rule.js';
export { millisecondsFromNanos, parseDurationNanos } from './shared/duration.js';
export { instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from './shared/instant.js';
