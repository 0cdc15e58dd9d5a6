export { checkStoredSecrets, type StoredSecretsCheck } from './check-stored-secrets.js';
export type { ConfigurationView, DeliveryOptionsView, HealthView } from './configuration-view.js';
export {
  type CreateConfigurationError,
  type CreateConfigurationRequest,
  createNotificationConfiguration,
} from './create-notification-configuration.js';
export { deleteNotificationConfiguration } from './delete-notification-configuration.js';
export type { DeliveryDetails, DeliverySummary } from './delivery-view.js';
export { eraseNotificationEvent } from './erase-notification-event.js';
export { type EventTypeView, listEventTypes, putEventType, removeEventType, showEventType } from './event-types.js';
export {
  type EventDetails,
  type EventList,
  type EventSummary,
  type ListEventsRequest,
  listNotificationEvents,
  showNotificationEvent,
} from './events-log.js';
export {
  type DeliveryList,
  type ListDeliveriesRequest,
  listDeliveries,
  showDelivery,
} from './list-deliveries.js';
export {
  type ConfigurationList,
  listNotificationConfigurations,
  type Pagination,
  showNotificationConfiguration,
} from './list-notification-configurations.js';
export {
  type AccountView,
  type EntitlementView,
  listOrganizations,
  listWorkspaces,
  type OrganizationList,
  type OrganizationView,
  showAccount,
  showOrganization,
  showWorkspace,
  showWorkspaceNamed,
  type WorkspaceList,
  type WorkspaceView,
} from './organizations.js';
export type { PageRequest } from './page.js';
export { pauseNotificationConfiguration, resumeNotificationConfiguration } from './pause-notification-configuration.js';
export { type PutConfigurationError, putNotificationConfiguration } from './put-notification-configuration.js';
export { putUser, removeUser } from './put-user.js';
export { putWorkspace, removeWorkspace, type WorkspaceInput } from './put-workspace.js';
export {
  type BulkRedeliveryRequest,
  cancelBulkRedelivery,
  countRecoverable,
  listBulkRedeliveries,
  type RecoverableCount,
  type RecoveryView,
  startBulkRedelivery,
} from './recoveries.js';
export { type Recovered, type RecoverRequest, recoverDeliveries, redeliver } from './redeliver.js';
export {
  type EventRequest,
  explainEvent,
  type SendEventError,
  sendNotificationEvent,
} from './send-notification-event.js';
export {
  enableNotificationConfiguration,
  type UpdateConfigurationError,
  type UpdateConfigurationRequest,
  updateNotificationConfiguration,
} from './update-notification-configuration.js';
export { type VerifyConfigurationError, verifyNotificationConfiguration } from './verify-notification-configuration.js';
