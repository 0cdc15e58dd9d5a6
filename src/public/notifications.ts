/** Workspaces, notification configurations, events and deliveries. For services that embed the engine. */

export type {
  ConfigurationInput,
  UncheckedConfigurationInput,
  UserReference,
} from '../notifications/configurations/configuration-input.js';
export {
  type DestinationKind,
  destinationKindFromSpelling,
  destinationKinds,
} from '../notifications/configurations/destination.js';
export { type FailureClass, failureClasses } from '../notifications/delivery/classify-failure.js';
export { type DeliveryOutcome, deliveryOutcomes, type RecipientResult } from '../notifications/delivery/delivery.js';
export type {
  Authentication,
  DeliveryOptions,
  DeliveryOptionsInput,
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
} from '../notifications/events/event.js';
export type { EventAttributes } from '../notifications/events/event-attributes.js';
export type { EventType, EventTypeInput } from '../notifications/events/event-type.js';
export { notificationForRunStatus, type RunStatusNotification } from '../notifications/events/run-status.js';
export {
  type Trigger,
  type TriggerDefinition,
  triggerDefinitions,
  triggerFromSpelling,
} from '../notifications/events/trigger.js';
export { type Explanation, explain, type Obstacle } from '../notifications/explain.js';
export { configurationPath, configurationUrl } from '../notifications/payloads/links.js';
export { type RenderedNotification, renderPayload } from '../notifications/payloads/render-payload.js';
export type { User } from '../notifications/user.js';
export { type ExecutionMode, executionModes, type Workspace } from '../notifications/workspace.js';
export type { PublishedEvent } from '../operations/books/publish-notification-event.js';
export {
  type AccountView,
  type BulkRedeliveryRequest,
  type ConfigurationList,
  type ConfigurationView,
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
  listBulkRedeliveries,
  listDeliveries,
  listEventTypes,
  listNotificationConfigurations,
  listNotificationEvents,
  listOrganizations,
  listWorkspaces,
  type OrganizationList,
  type OrganizationView,
  type PageNumbers,
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
} from '../operations/notifications/index.js';
