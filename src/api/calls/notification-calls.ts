import type { ConfigurationInput } from '../../notifications/configurations/configuration-input.js';
import type { EventAttributes } from '../../notifications/events/event-attributes.js';
import type {
  ConfigurationView,
  HealthView,
} from '../../operations/notifications/configurations/configuration-view.js';
import type { ConfigurationList } from '../../operations/notifications/configurations/list-notification-configurations.js';
import type { DeliveryDetails, DeliverySummary } from '../../operations/notifications/log/delivery-log.js';
import type { DeliveryList } from '../../operations/notifications/log/list-deliveries.js';
import type { RecoverySpan } from '../../operations/notifications/log/recoveries.js';
import type { Recovered } from '../../operations/notifications/log/redeliver.js';

import type { NotificationMatches } from '../../operations/notifications/search.js';
import type { PublishedEvent } from '../../operations/records/publish-notification-event.js';
import { anyCaller, everybody, onWorkspace } from '../access.js';
import { indexedResource, nothing, resource } from '../answers.js';
import { notification, notificationRead } from '../call.js';
import { type DocumentShape, inDocument, inPath, inQuery, judgedByOperation, numberedPage } from '../inputs.js';
import { namedSchema } from '../json-codecs.js';
import { instant, text } from '../text-codecs.js';

const workspaceId = inPath('workspace_id', text);
const configurationId = inPath('notification_configuration_id', text);
const deliveryId = inPath('delivery_id', text);

const ofWorkspace = '/workspaces/{workspace_id}';
const configuration = '/notification-configurations/{notification_configuration_id}';
const delivery = '/notification-deliveries/{delivery_id}';

const ofView = [
  'id',
  'workspaceId',
  'kind',
  'response',
  'health',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof ConfigurationView)[];

function configurationDocument(schema: string): DocumentShape {
  return {
    types: ['notification-configuration', 'notification-configurations'],
    attributes: {
      destinationType: 'destination-type',
      enabled: 'enabled',
      name: 'name',
      token: 'token',
      triggers: 'triggers',
      url: 'url',
      emailAddresses: 'email-addresses',
      delivery: 'delivery',
    },
    relationships: { users: { name: 'users', type: 'users' } },
    readOnly: ofView,
    schema: namedSchema(schema),
  };
}

const [type, schema] = ['notification-configuration', 'NotificationConfigurationDocument'];
const one = resource<ConfigurationView>(type, schema);
const indexedOne = indexedResource<ConfigurationView>(type, schema);

/** Notification configurations of workspaces, and the events that they are notified of. */
export const notificationCalls = {
  /** Checks that the notification interface is available. */
  ping: notification({
    methods: ['GET', 'HEAD'],
    path: '/ping',
    access: everybody,
    summary: 'Checks that the notification interface is available',
    inputs: {},
    answer: nothing(),
  }),

  /** Creates a notification configuration; with `enabled` its destination is verified first. */
  create: notification({
    methods: ['POST'],
    path: `${ofWorkspace}/notification-configurations`,
    access: onWorkspace('portal'),
    summary: 'Creates a notification configuration; with `enabled` its destination is verified first',
    args: ['workspaceId', 'attributes'],
    inputs: {
      workspaceId,
      attributes: inDocument<ConfigurationInput>(configurationDocument('CreateNotificationConfiguration')),
    },
    errors: ['not_found', 'invalid_attributes', 'limit_reached', 'verification_failed', 'conflict'],
    answer: { ...one, status: 201 },
  }),

  /** The configurations of a workspace, newest first; all of them without page parameters. */
  list: notificationRead({
    path: `${ofWorkspace}/notification-configurations`,
    access: onWorkspace('portal'),
    summary: 'The configurations of a workspace, newest first; all of them without page parameters',
    args: ['workspaceId'],
    inputs: { workspaceId, ...numberedPage },
    errors: ['not_found', 'invalid_parameter'],
    answer: indexedResource<ConfigurationList>(
      'notification-configuration-list',
      'NotificationConfigurationListDocument',
    ),
  }),

  /** One notification configuration. */
  show: notificationRead({
    path: configuration,
    access: onWorkspace('portal'),
    summary: 'One notification configuration',
    args: ['configurationId'],
    inputs: { configurationId },
    errors: ['not_found'],
    answer: indexedOne,
  }),

  /** Changes a notification configuration; omitted attributes keep their values. */
  update: notification({
    methods: ['PATCH'],
    path: configuration,
    access: onWorkspace('portal'),
    summary: 'Changes a notification configuration; omitted attributes keep their values',
    args: ['configurationId', 'attributes'],
    inputs: {
      configurationId,
      attributes: inDocument<ConfigurationInput>(configurationDocument('UpdateNotificationConfiguration')),
    },
    errors: ['not_found', 'invalid_attributes', 'verification_failed', 'conflict'],
    answer: one,
  }),

  /** Deletes a notification configuration. */
  delete: notification({
    methods: ['DELETE'],
    path: configuration,
    access: onWorkspace('portal'),
    summary: 'Deletes a notification configuration',
    args: ['configurationId'],
    inputs: { configurationId },
    errors: ['not_found'],
    answer: nothing(),
  }),

  /** Sends a verification request (e-mail: a test mail) and stores the answer. */
  verify: notification({
    methods: ['POST'],
    path: `${configuration}/actions/verify`,
    access: onWorkspace('portal'),
    summary: 'Sends a verification request (e-mail: a test mail) and stores the answer',
    args: ['configurationId'],
    inputs: { configurationId },
    errors: ['not_found', 'verification_failed', 'conflict'],
    answer: one,
  }),

  /** Enables a notification configuration after a successful verification. */
  enable: notification({
    methods: ['POST'],
    path: `${configuration}/actions/enable`,
    access: onWorkspace('portal'),
    summary: 'Enables a notification configuration after a successful verification',
    args: ['configurationId'],
    inputs: { configurationId },
    errors: ['not_found', 'invalid_attributes', 'verification_failed', 'conflict'],
    answer: one,
  }),

  /** Pauses a configuration: events are accepted, but nothing is sent until it is resumed. */
  pause: notification({
    methods: ['POST'],
    path: `${configuration}/actions/pause`,
    access: onWorkspace('portal'),
    summary: 'Pauses a configuration: events are accepted, but nothing is sent until it is resumed',
    args: ['configurationId'],
    inputs: { configurationId },
    errors: ['not_found'],
    answer: one,
  }),

  /** Resumes a configuration and sends its backlog in order. */
  resume: notification({
    methods: ['POST'],
    path: `${configuration}/actions/resume`,
    access: onWorkspace('portal'),
    summary: 'Resumes a configuration and sends its backlog in order',
    args: ['configurationId'],
    inputs: { configurationId },
    errors: ['not_found'],
    answer: one,
  }),

  /** Health of a configuration's deliveries: breaker, first failure, pause, backlog. */
  health: notificationRead({
    path: `${configuration}/health`,
    access: onWorkspace('portal'),
    summary: "Health of a configuration's deliveries: breaker, first failure, pause, backlog",
    args: ['configurationId'],
    inputs: { configurationId },
    errors: ['not_found'],
    answer: indexedResource<HealthView & { readonly id: string }>('notification-health', 'NotificationRecordDocument'),
  }),

  /** Creates the configuration with this name or updates it to match. */
  declare: notification({
    methods: ['POST'],
    path: `${ofWorkspace}/notification-configurations/actions/declare`,
    access: onWorkspace('portal'),
    summary:
      'Creates the configuration with this name or updates it to match; a matching configuration is left unchanged',
    args: ['workspaceId', 'attributes'],
    inputs: {
      workspaceId,
      attributes: inDocument<ConfigurationInput>(configurationDocument('CreateNotificationConfiguration')),
    },
    errors: ['not_found', 'invalid_attributes', 'limit_reached', 'verification_failed', 'conflict'],
    answer: one,
  }),

  /** Workspaces, configurations, events and deliveries by a part of a name or the beginning of an ID: at most 20 of each. */
  search: notification({
    methods: ['GET'],
    path: '/notification-search',
    access: anyCaller,
    summary:
      'Searches workspaces, configurations, events and deliveries that the caller may read, for at most 20 of each',
    args: ['q'],
    inputs: { q: judgedByOperation(inQuery('q', text, 'Part of a name or host, or the beginning of an ID')) },
    errors: ['invalid_parameter'],
    answer: resource<NotificationMatches>('notification-search', 'NotificationRecordDocument'),
  }),

  /** Sends the example of an event to this configuration only, through the queue. */
  sendSample: notification({
    methods: ['POST'],
    path: `${configuration}/actions/send-sample`,
    access: onWorkspace('portal'),
    summary: 'Sends the example of an event to this configuration only, like a delivery of an event',
    args: ['configurationId', 'sample'],
    inputs: {
      configurationId,
      sample: inDocument<{ readonly trigger: string }>({
        types: ['notification-samples', 'notification-sample'],
        attributes: { trigger: 'trigger' },
        relationships: {},
        closed: true,
        schema: namedSchema('SendNotificationSample'),
      }),
    },
    errors: ['not_found', 'invalid_attributes', 'conflict'],
    answer: resource<DeliverySummary>('notification-delivery', 'NotificationDeliveryDocument', 202),
  }),

  /** Sends a run, assessment or auto-destroy event to its subscribers. */
  send: notification({
    methods: ['POST'],
    path: `${ofWorkspace}/notification-events`,
    access: onWorkspace('events'),
    summary: 'Sends a run, assessment or auto-destroy event to its subscribers',
    args: ['workspaceId', 'attributes'],
    inputs: {
      workspaceId,
      attributes: inDocument<EventAttributes>({
        types: ['notification-events', 'notification-event'],
        attributes: {},
        relationships: {},
        schema: namedSchema('SendNotificationEvent'),
      }),
    },
    errors: ['not_found', 'invalid_attributes', 'conflict'],
    answer: resource<PublishedEvent>('notification-event', 'NotificationEventDocument', 202),
  }),
} as const;

const deliveryFilters = {
  ...numberedPage,
  outcome: inQuery('filter[outcome]', text, 'pending, delivered, partly_delivered, dead or cancelled', ['outcome']),
  trigger: inQuery('filter[trigger]', text, 'A trigger', ['trigger']),
  status: inQuery('filter[status]', text, 'Last answer: a status code, a class such as 5xx, or none for no answer', [
    'status',
  ]),
  since: inQuery('filter[since]', instant, 'Only deliveries of events accepted at or after this time', ['since']),
  until: inQuery('filter[until]', instant, 'Only deliveries of events accepted before this time', ['until']),
} as const;

/** Deliveries of notifications: the log, and sending again. */
export const deliveryCalls = {
  /** The delivery log of a configuration, newest first. */
  list: notificationRead({
    path: `${configuration}/deliveries`,
    access: onWorkspace('portal'),
    summary: 'The delivery log of a configuration, newest first',
    args: ['configurationId'],
    inputs: {
      configurationId,
      ...deliveryFilters,
    },
    errors: ['not_found', 'invalid_parameter'],
    answer: indexedResource<DeliveryList>('notification-delivery-list', 'NotificationDeliveryListDocument'),
  }),

  /** The deliveries to all configurations of a workspace, newest first. */
  ofWorkspace: notificationRead({
    path: `${ofWorkspace}/notification-deliveries`,
    access: onWorkspace('portal'),
    summary: 'The deliveries to all configurations of a workspace, newest first',
    args: ['workspaceId'],
    inputs: {
      workspaceId,
      ...deliveryFilters,
      configuration: inQuery('filter[configuration]', text, 'The ID of a configuration', ['configuration']),
    },
    errors: ['not_found', 'invalid_parameter'],
    answer: indexedResource<DeliveryList>('notification-delivery-list', 'NotificationDeliveryListDocument'),
  }),

  /** One delivery with all its attempts. */
  show: notificationRead({
    path: delivery,
    access: onWorkspace('portal'),
    summary: 'One delivery with all its attempts',
    args: ['deliveryId'],
    inputs: { deliveryId },
    errors: ['not_found'],
    answer: indexedResource<DeliveryDetails>('notification-delivery-details', 'NotificationDeliveryDocument'),
  }),

  /** Requests one more attempt with the same event ID. */
  redeliver: notification({
    methods: ['POST'],
    path: `${delivery}/actions/redeliver`,
    access: onWorkspace('portal'),
    summary: 'Requests one more attempt with the same event ID',
    args: ['deliveryId'],
    inputs: { deliveryId },
    errors: ['not_found', 'conflict'],
    answer: resource<DeliverySummary>('notification-delivery', 'NotificationDeliveryDocument', 202),
  }),

  /** Re-sends the failed deliveries of a time range, oldest first, up to the limit of the settings. */
  recover: notification({
    methods: ['POST'],
    path: `${configuration}/actions/recover`,
    access: onWorkspace('portal'),
    summary: 'Re-sends the failed deliveries of a time range, oldest first, up to the limit of the settings',
    args: ['configurationId', 'span'],
    inputs: {
      configurationId,
      span: inDocument<RecoverySpan>({
        types: ['notification-recoveries', 'notification-recovery'],
        attributes: { since: 'since', until: 'until', outcome: 'outcome' },
        relationships: {},
        closed: true,
        schema: namedSchema('RecoverNotificationDeliveries'),
      }),
    },
    errors: ['not_found', 'invalid_attributes', 'invalid_parameter', 'conflict'],
    answer: resource<Recovered>('notification-recovery', 'NotificationRecoveryDocument', 202),
  }),
} as const;
