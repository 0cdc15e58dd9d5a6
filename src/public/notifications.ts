/** Workspaces, notification configurations, events and deliveries. For services that embed the engine. */

export type {
  ConfigurationInput,
  UncheckedConfigurationInput,
  UserReference,
} from '../notifications/configurations/configuration-input.js';
export {
  type DestinationKind,
  type DestinationSpelling,
  destinationKindFromSpelling,
  destinationKinds,
} from '../notifications/configurations/destination.js';
export { type FailureClass, failureClasses } from '../notifications/delivery/classify-failure.js';
export {
  type Attempt,
  type DeliveryOutcome,
  deliveryOutcomes,
  type RecipientResult,
} from '../notifications/delivery/delivery.js';
export type {
  Authentication,
  DeliveryOptions,
  DeliveryOptionsInput,
  OpenOptions,
  OptionsCertificate,
  SecretOptions,
} from '../notifications/delivery/delivery-options.js';
export type { RecoverableOutcome, Recovery, RecoveryFilter } from '../notifications/delivery/recovery.js';
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
} from '../notifications/errors.js';
export type {
  AssessmentEvent,
  AssessmentResult,
  AutoDestroyEvent,
  CustomEvent,
  NotificationEvent,
  RunEvent,
  RunFailure,
  RunOfJob,
} from '../notifications/events/event.js';
export type { EventAttributes } from '../notifications/events/event-attributes.js';
export { customEventAttributes, type EventType, type EventTypeInput } from '../notifications/events/event-type.js';
export { notificationForRunStatus, type RunStatusNotification } from '../notifications/events/run-status.js';
export {
  type AssessmentTrigger,
  type RunTrigger,
  type Trigger,
  type TriggerDefinition,
  type TriggerFeature,
  type TriggerScope,
  type TriggerSpelling,
  triggerDefinitions,
  triggerFromSpelling,
  type WorkspaceTrigger,
} from '../notifications/events/trigger.js';
export { type ExplainedConfiguration, type Explanation, explain, type Obstacle } from '../notifications/explain.js';
export { configurationPath, configurationUrl, type PublicEndpoint } from '../notifications/payloads/links.js';
export type { Recipient, RenderedEmail } from '../notifications/payloads/message-context.js';
export {
  type Occasion,
  type RenderedFor,
  type RenderedNotification,
  type RequestIdentity,
  renderPayload,
  type SignatureRules,
} from '../notifications/payloads/render-payload.js';
export type { DestinationHealth } from '../notifications/queue/destination-health.js';
export { type WaitReason, waitReasons } from '../notifications/queue/wait-reason.js';
export type { User } from '../notifications/user.js';
export { type ExecutionMode, executionModes, type Workspace, type WorkspaceNames } from '../notifications/workspace.js';
export {
  type AccountView,
  type BulkRedeliveryRequest,
  type ConfigurationList,
  type ConfigurationView,
  type CreateConfigurationError,
  type CreateConfigurationRequest,
  cancelBulkRedelivery,
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
  type ListMembershipsRequest,
  type ListWorkspacesRequest,
  listBulkRedeliveries,
  listDeliveries,
  listEventTypes,
  listMemberships,
  listNotificationConfigurations,
  listNotificationEvents,
  listOrganizations,
  listWorkspaces,
  type MembershipList,
  type OrganizationList,
  type OrganizationView,
  type PageNumbers,
  type PageRequest,
  type Pagination,
  type PutConfigurationError,
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
  type SendEventError,
  sendNotificationEvent,
  showAccount,
  showDelivery,
  showEventType,
  showMembership,
  showNotificationConfiguration,
  showNotificationEvent,
  showOrganization,
  showWorkspace,
  showWorkspaceNamed,
  startBulkRedelivery,
  type UpdateConfigurationError,
  type UpdateConfigurationRequest,
  updateNotificationConfiguration,
  type VerifyConfigurationError,
  verifyNotificationConfiguration,
  type WorkspaceInput,
  type WorkspaceList,
  type WorkspaceView,
} from '../operations/notifications/index.js';
export type { PublishedEvent } from '../operations/records/publish-notification-event.js';
