export type { ConfigurationView, DeliveryOptionsView, HealthView } from './configurations/configuration-view.js';
export {
  type CreateConfigurationError,
  type CreateConfigurationRequest,
  createNotificationConfiguration,
} from './configurations/create-notification-configuration.js';
export { deleteNotificationConfiguration } from './configurations/delete-notification-configuration.js';
export {
  type ConfigurationList,
  listNotificationConfigurations,
  type Pagination,
  showNotificationConfiguration,
} from './configurations/list-notification-configurations.js';
export {
  pauseNotificationConfiguration,
  resumeNotificationConfiguration,
} from './configurations/pause-notification-configuration.js';
export {
  type PutConfigurationError,
  putNotificationConfiguration,
} from './configurations/put-notification-configuration.js';
export {
  enableNotificationConfiguration,
  type UpdateConfigurationError,
  type UpdateConfigurationRequest,
  updateNotificationConfiguration,
} from './configurations/update-notification-configuration.js';
export {
  type VerifyConfigurationError,
  verifyNotificationConfiguration,
} from './configurations/verify-notification-configuration.js';
export { eraseNotificationEvent } from './events/erase-notification-event.js';
export {
  type EventTypeView,
  listEventTypes,
  putEventType,
  removeEventType,
  showEventType,
} from './events/event-types.js';
export {
  type EventDetails,
  type EventList,
  type EventSummary,
  type ListEventsRequest,
  listNotificationEvents,
  showNotificationEvent,
} from './events/events-log.js';
export {
  type EventRequest,
  explainEvent,
  type SendEventError,
  sendNotificationEvent,
} from './events/send-notification-event.js';
export type { DeliveryDetails, DeliverySummary } from './log/delivery-view.js';
export {
  type DeliveryList,
  type ListDeliveriesRequest,
  listDeliveries,
  showDelivery,
} from './log/list-deliveries.js';
export {
  type BulkRedeliveryRequest,
  cancelBulkRedelivery,
  countRecoverable,
  listBulkRedeliveries,
  type RecoverableCount,
  type RecoveryView,
  startBulkRedelivery,
} from './log/recoveries.js';
export { type Recovered, type RecoverRequest, recoverDeliveries, redeliver } from './log/redeliver.js';
export type { PageNumbers, PageRequest } from './page.js';
export {
  type AccountView,
  type EntitlementView,
  type ListMembershipsRequest,
  type ListWorkspacesRequest,
  listMemberships,
  listOrganizations,
  listWorkspaces,
  type MembershipList,
  type OrganizationList,
  type OrganizationView,
  showAccount,
  showMembership,
  showOrganization,
  showWorkspace,
  showWorkspaceNamed,
  type WorkspaceList,
  type WorkspaceView,
} from './workspaces/organizations.js';
export { putUser, removeUser } from './workspaces/put-user.js';
export { putWorkspace, removeWorkspace, type WorkspaceInput } from './workspaces/put-workspace.js';
