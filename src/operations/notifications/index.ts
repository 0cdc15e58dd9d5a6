export type { ConfigurationView } from './configuration-view.js';
export {
  type CreateConfigurationError,
  type CreateConfigurationRequest,
  createNotificationConfiguration,
} from './create-notification-configuration.js';
export { deleteNotificationConfiguration } from './delete-notification-configuration.js';
export type { DeliveryDetails, DeliverySummary } from './delivery-view.js';
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
export type { PageRequest } from './page.js';
export { putUser, removeUser } from './put-user.js';
export { putWorkspace, removeWorkspace, type WorkspaceInput } from './put-workspace.js';
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
