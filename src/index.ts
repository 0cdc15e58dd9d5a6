/*
 * The package's public interface. `etc/` holds a report of all exports. No operation is exported: callers use `engine.as` and hosts `engine.host`,
 * which load the operations. Parts of jobs, records of the scheduler, ports and the configuration language have separate entries.
 */

// ---- The engine, its settings and events, and the clients ----

export { err, errAsync, ok, okAsync, Result, ResultAsync } from 'neverthrow';
export type { CallInput, Indexed, PageOf } from './api/answers.js';
export type { CallError, ErrorTag, JobCallError, NotificationCallError } from './api/errors.js';
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
export type { InvalidTopic } from './events/subscription.js';
export type { Host } from './host.js';
export type { CallName } from './local-transport.js';
export {
  type ExecutionMode,
  executionModes,
  type RunNotificationRule,
  type User,
  type Workspace,
  type WorkspaceNames,
} from './notifications/workspace.js';
export { type HostTransaction, NotCommittedError, type OpenTransaction } from './operations/context/shared-write.js';
export type { EngineEmitter, EngineEvents } from './operations/events.js';
export type { CallManner } from './operations/operation.js';
export { type ExportSink, exportStore } from './operations/store/export/export-store.js';
export { type InvalidExport, readStoreExport } from './operations/store/export/read-store-export.js';
export type { StoredSecretsCheck } from './operations/store/stored-secrets.js';
export type { DurationSetting, EngineSetting, ValuesOf } from './options/setting-kinds.js';
export { defaultSettings, engineSettings, type Settings, type SettingsOverrides, settingsFrom } from './settings.js';
export type { RecordContents, StoreContents, TableContents } from './storage/store-contents.js';
export type { EngineTransaction, TransactionClient, TransactionOutcome } from './transaction.js';

// ---- Access control: rights, policies, roles, tokens, and variables ----

export type { ClaimRefused, PermissionDenied } from './access/allows.js';
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
  type CallAccess,
  type Concerned,
  everyNamespace,
  mayCall,
} from './access/allows.js';
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
export {
  type Area,
  type AreaLevel,
  type AreaPolicy,
  areas,
  type HostVolumeCapability,
  hostVolumeCapabilities,
  type NamedPolicy,
  type NamespacePolicy,
  type NodePoolCapability,
  nodePoolCapabilities,
  type OperatorPolicy,
  type Policy,
  parsePolicy,
  type VariableCapability,
  type VariablePathPolicy,
  variableCapabilities,
} from './access/policy/parse-policy.js';
export type { RulesFault } from './access/policy/rules-text.js';
export type { PolicyJob, PolicyStub, StoredPolicy, StoredRole } from './access/policy-record.js';
export {
  anonymousPrincipal,
  hostPrincipal,
  type NamespaceRule,
  type NodeIdentity,
  type Principal,
  principalFault,
  type Workload,
  type WorkspaceRight,
} from './access/principal.js';
export type { OneTimeToken, RoleLink, TokenDocument, TokenStub } from './access/tokens.js';
export type { IssuedToken, TokenInfo, TokenInput, UnfitSecret } from './operations/access/tokens/put-token.js';
export { callerWithin } from './operations/records/presented-secret.js';
export type { VariableWritten } from './operations/variables/write-variable.js';
export type { InvalidVariable, ItemsMissing, VariableError } from './variables/errors.js';
export type { LockView, VariableDocument, VariableItems, VariableStub } from './variables/variable-document.js';

// ---- Functions of the service as callers of the interface see them; `signalbox/functions` declares and runs them ----

export type {
  DeclaredCron,
  DeclaredKeep,
  DeclaredLimit,
  DeclaredPolicy,
  FunctionDeclaration,
} from './functions/declaration.js';
export type { HostRows, Json } from './functions/define-function.js';
export type {
  EnqueueRefused,
  FunctionCallError,
  FunctionNotFound,
  FunctionRunNotFound,
  JobOfFunction,
} from './functions/errors.js';
export type { Outcome as FunctionOutcome, RunError, RunState } from './functions/run.js';
export type { WaitReason as RunWaitReason } from './operations/functions/functions-api.js';
export type {
  FunctionLogLine,
  FunctionRunSummary,
  FunctionRunView,
  FunctionView,
  RunExplanation,
  ScheduleView,
} from './operations/functions/read-functions.js';

// ---- Jobs with their versions, deployments, evaluations and allocations; namespaces ----

export { type JobPolicy, type PolicyLevel, type PolicyQuestion, policyLevels } from './jobs/admission/job-policy.js';
export type { QuotaRule } from './jobs/admission/namespace-quota.js';
export type { JobSubmission, SubmissionInput } from './jobs/changes/submissions.js';
export type { Job } from './jobs/document/job.js';
export type { JobInput } from './jobs/document/job-input.js';
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
  RestartUnderWay,
  RevertRefused,
  ScalingRefused,
  TagRefused,
  TotalCountTooLarge,
  TransitionRefused,
  UnknownRegion,
  VersionNotFound,
} from './jobs/errors.js';
export type { Namespace, NamespaceCapabilities } from './jobs/namespaces/namespace.js';
export type { ForceRefused } from './jobs/periodic/decide-launch.js';
export {
  type AllocationOfRun,
  allocationOutcome,
  type EndedAllocation,
  type EndedJob,
  outcomeWords,
  type RunOutcome,
  runOutcome,
} from './jobs/runs/job-run.js';
export type { ScalingEvent } from './jobs/scaling/scaling-records.js';
export type { ChildrenSummary, GroupSummary, JobListStub, JobSummary } from './jobs/status/job-summary.js';
export type { ChangedDeployment } from './operations/deployments/act-on-deployment.js';
export type { EvaluationDeletionRefused } from './operations/jobs/delete-evaluations.js';
export type { DispatchedJob } from './operations/jobs/dispatch-job.js';
export type { TaggedVersion } from './operations/jobs/job-versions.js';
export type { UnknownAllocation } from './operations/jobs/reading/read-allocations.js';
export type { GroupScaleStatus, JobScaleStatus } from './operations/jobs/reading/read-scale-status.js';
export type { UnreadableSource } from './operations/jobs/registration/parse-job-source.js';
export type { JobPlan, PlannedEvaluation } from './operations/jobs/registration/plan-job.js';
export type { PlanOutdated } from './operations/jobs/registration/plan-seal.js';
export type { Registered, RegisterJobError } from './operations/jobs/registration/register-job.js';
export type { ValidatedJob } from './operations/jobs/registration/validate-submitted-job.js';
export type { StoppedJob } from './operations/jobs/stop-job.js';
export type { FilterFault } from './operations/listing/answer-list.js';
export type { ForcedLaunch } from './operations/periodic/launches.js';
export type { SearchRefused } from './queries/search.js';
export type { DeploymentError, DeploymentNotFound } from './scheduler/deployment/deployment-errors.js';

// ---- Nodes, node pools, scheduling, and the link of agents ----

export { type AgentPorts, type AgentPortsOptions, agentLink, agentPorts } from './agent-link.js';
export type { ChangedNode } from './operations/nodes/drain-and-eligibility.js';
export type { EvaluatedNode } from './operations/nodes/evaluate-node.js';
export type { NodePoolError, NodePoolNotFound } from './scheduler/nodes/check-node-pool.js';
export type { NodeNotFound, NodeRefused } from './scheduler/nodes/node-errors.js';

// ---- Workspaces, notification configurations, events and deliveries ----

export type {
  ConfigurationInput,
  UserReference,
} from './notifications/configurations/configuration-input.js';
export {
  type DestinationKind,
  type DestinationSpelling,
  destinationKindFromSpelling,
  destinationKinds,
} from './notifications/configurations/destination.js';
export { type FailureClass, failureClasses } from './notifications/delivery/classify-failure.js';
export {
  type Attempt,
  type DeliveryOutcome,
  deliveryOutcomes,
  type RecipientResult,
} from './notifications/delivery/delivery.js';
export type {
  Authentication,
  DeliveryOptions,
  DeliveryOptionsInput,
  OpenOptions,
  OptionsCertificate,
  SecretOptions,
} from './notifications/delivery/delivery-options.js';
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
  Obstacle,
  RunEvent,
  RunFailure,
  RunOfJob,
} from './notifications/events/event.js';
export type { EventAttributes } from './notifications/events/event-attributes.js';
export { customEventAttributes, type EventType, type EventTypeInput } from './notifications/events/event-type.js';
export {
  type AssessmentTrigger,
  notificationForRunStatus,
  type RunStatusNotification,
  type RunTrigger,
  type Trigger,
  type TriggerDefinition,
  type TriggerFeature,
  type TriggerScope,
  type TriggerSpelling,
  triggerDefinitions,
  triggerFromSpelling,
  type WorkspaceTrigger,
} from './notifications/events/trigger.js';
export { type ExplainedConfiguration, type Explanation, explain } from './notifications/explain.js';
export type { Recipient, RenderedEmail } from './notifications/payloads/message-outline.js';
export {
  configurationPath,
  configurationUrl,
  type Occasion,
  type PublicEndpoint,
  type RenderedFor,
  type RenderedNotification,
  type RequestIdentity,
  renderPayload,
  type SignatureRules,
} from './notifications/payloads/render-payload.js';
export type { DestinationHealth } from './notifications/queue/decide-alerts.js';
export { type WaitReason, waitReasons } from './notifications/queue/queue-record.js';
export type {
  ConfigurationView,
  DeliveryOptionsView,
  HealthView,
} from './operations/notifications/configurations/configuration-view.js';
export type {
  ConfigurationList,
  Pagination,
} from './operations/notifications/configurations/list-notification-configurations.js';
export type { EventTypeView } from './operations/notifications/events/event-types.js';
export type { EventDetails, EventList, EventSummary } from './operations/notifications/events/events-log.js';
export type { PageNumbers } from './operations/notifications/list-inputs.js';
export type { DeliveryDetails, DeliverySummary } from './operations/notifications/log/delivery-log.js';
export type { DeliveryList } from './operations/notifications/log/list-deliveries.js';
export type { RecoverableCount, RecoveryView } from './operations/notifications/log/recoveries.js';
export type { Recovered } from './operations/notifications/log/redeliver.js';
export type {
  AccountView,
  EntitlementView,
  MembershipList,
  OrganizationList,
  OrganizationView,
  WorkspaceList,
  WorkspaceView,
} from './operations/notifications/workspaces/organizations.js';
export type { WorkspaceInput } from './operations/notifications/workspaces/workspaces-and-users.js';
export type { PublishedEvent } from './operations/records/publish-notification-event.js';

// ---- Waiting, metrics and notations ----

export type { FilterSyntaxError } from './filter/parse-filter.js';
export type { FilterEvaluationError } from './filter/value-tests.js';
export {
  type Instrument,
  instruments,
  type Measured,
  type MetricFamily,
  type MetricName,
} from './metrics/instruments.js';
export type { EngineContext } from './operations/context/engine-context.js';
export { readNothing, type Waiting } from './operations/waiting/blocking-query.js';
export type { Answer } from './operations/waiting/parked-queries.js';
export { type FaultyPolicyRule, type PolicyRule, policyOfRule } from './queries/policy-rule.js';
export { pendingTask } from './scheduler/allocation.js';
export {
  type DurationError,
  type Milliseconds,
  millisecondsFromNanos,
  parseDurationNanos,
} from './shared/duration.js';
export { type Instant, instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from './shared/instant.js';
