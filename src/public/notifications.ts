/** Workspaces, notification configurations, events and deliveries. For services that embed the engine. */

export type {
  ConfigurationInput,
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
export type {
  ConfigurationView,
  DeliveryOptionsView,
  HealthView,
} from '../operations/notifications/configurations/configuration-view.js';
export type {
  ConfigurationList,
  Pagination,
} from '../operations/notifications/configurations/list-notification-configurations.js';
export type { EventTypeView } from '../operations/notifications/events/event-types.js';
export type { EventDetails, EventList, EventSummary } from '../operations/notifications/events/events-log.js';
export type { DeliveryDetails, DeliverySummary } from '../operations/notifications/log/delivery-view.js';
export type { DeliveryList } from '../operations/notifications/log/list-deliveries.js';
export type { RecoverableCount, RecoveryView } from '../operations/notifications/log/recoveries.js';
export type { Recovered } from '../operations/notifications/log/redeliver.js';
export type { PageNumbers } from '../operations/notifications/page.js';
export type {
  AccountView,
  EntitlementView,
  MembershipList,
  OrganizationList,
  OrganizationView,
  WorkspaceList,
  WorkspaceView,
} from '../operations/notifications/workspaces/organizations.js';
export type { WorkspaceInput } from '../operations/notifications/workspaces/put-workspace.js';
export type { PublishedEvent } from '../operations/records/publish-notification-event.js';
