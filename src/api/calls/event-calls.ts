import type { EventAttributes } from '../../notifications/events/event-attributes.js';
import type { EventTypeInput } from '../../notifications/events/event-type.js';
import type { Explanation } from '../../notifications/explain.js';
import type { EventTypeView } from '../../operations/notifications/events/event-types.js';
import type { EventDetails, EventList } from '../../operations/notifications/events/events-log.js';
import type {
  BulkRedeliverySpan,
  RecoverableCount,
  RecoveryView,
} from '../../operations/notifications/log/recoveries.js';

import { management, onWorkspace } from '../access.js';
import { indexedResource, nothing, resource } from '../answers.js';
import { notification, notificationRead } from '../call.js';
import { type DocumentShape, inDocument, inPath, inQuery, numberedPage } from '../inputs.js';
import { namedSchema } from '../json-codecs.js';
import { instant, text } from '../text-codecs.js';

const ofWorkspace = '/workspaces/{workspace_id}';
const workspaceId = inPath('workspace_id', text);
const eventId = inPath('event_id', text);
const recoveryId = inPath('recovery_id', text);
const typeName = inPath('event_type', text);

const eventDocument: DocumentShape = {
  types: ['notification-events', 'notification-event'],
  attributes: {},
  relationships: {},
  schema: namedSchema('SendNotificationEvent'),
};

/** Accepted events: their list, why each configuration was notified or not, and erasure of their content. */
export const eventCalls = {
  /** The events of a workspace, newest first, with their outcomes. */
  list: notificationRead({
    path: `${ofWorkspace}/notification-events`,
    access: onWorkspace('portal'),
    summary: 'The events of a workspace, newest first, with their outcomes and the number of matches',
    args: ['workspaceId'],
    inputs: {
      workspaceId,
      ...numberedPage,
      trigger: inQuery('filter[trigger]', text, 'A trigger or an event type'),
      outcome: inQuery(
        'filter[outcome]',
        text,
        'Events with a delivery that is pending, delivered, partly_delivered, dead or cancelled',
      ),
      since: inQuery('filter[since]', instant, 'Only events accepted at or after this time'),
      until: inQuery('filter[until]', instant, 'Only events accepted before this time'),
      filter: inQuery('filter[expression]', text, 'A filter expression over the attributes of the events'),
    },
    errors: ['not_found', 'invalid_parameter'],
    answer: indexedResource<EventList>('notification-event-list', 'NotificationEventListDocument'),
  }),

  /** One event with its content and every attempt at its destinations. */
  show: notificationRead({
    path: '/notification-events/{event_id}',
    access: onWorkspace('portal'),
    summary: 'One event with its content and every attempt at its destinations',
    args: ['eventId'],
    inputs: { eventId },
    errors: ['not_found'],
    answer: indexedResource<EventDetails>('notification-events', 'NotificationRecordDocument'),
  }),

  /** Erases the content of an event and of its responses, and keeps its record. */
  erase: notification({
    methods: ['POST'],
    path: '/notification-events/{event_id}/actions/erase',
    access: onWorkspace('admin'),
    summary: 'Erases the content of an event and of its responses, and keeps its record',
    args: ['eventId'],
    inputs: { eventId },
    errors: ['not_found'],
    answer: nothing(),
  }),

  /** Which configurations an event would notify and which not, with the reasons. Nothing is sent. */
  explain: notification({
    methods: ['POST'],
    path: `${ofWorkspace}/notification-events/actions/explain`,
    access: onWorkspace('portal'),
    summary: 'Which configurations an event would notify and which not, with the reasons; nothing is sent',
    args: ['workspaceId', 'attributes'],
    inputs: { workspaceId, attributes: inDocument<EventAttributes>(eventDocument) },
    errors: ['not_found', 'invalid_attributes'],
    answer: resource<readonly Explanation[]>('notification-explanations', 'NotificationRecordListDocument'),
  }),
} as const;

const spanDocument: DocumentShape = {
  types: ['notification-recoveries', 'notification-recovery'],
  attributes: {
    since: 'since',
    until: 'until',
    outcome: 'outcome',
    trigger: 'trigger',
    status: 'status',
    configurationId: 'configuration-id',
  },
  relationships: {},
  closed: true,
  schema: namedSchema('StartNotificationRecovery'),
};

/** Bulk redelivery: count, start, progress and cancellation. */
export const recoveryCalls = {
  /** How many deliveries a bulk redelivery would send again. */
  count: notification({
    methods: ['POST'],
    path: `${ofWorkspace}/notification-recoveries/actions/count`,
    access: onWorkspace('portal'),
    summary: 'How many deliveries a bulk redelivery would send again; nothing is sent',
    args: ['workspaceId', 'span'],
    inputs: { workspaceId, span: inDocument<BulkRedeliverySpan>(spanDocument) },
    errors: ['not_found', 'invalid_attributes'],
    answer: resource<RecoverableCount>('notification-recovery-count', 'NotificationRecordDocument'),
  }),

  /** Starts to re-send failed deliveries in the background. */
  start: notification({
    methods: ['POST'],
    path: `${ofWorkspace}/notification-recoveries`,
    access: onWorkspace('portal'),
    summary: 'Starts to re-send failed deliveries, in the background and across restarts',
    args: ['workspaceId', 'span'],
    inputs: { workspaceId, span: inDocument<BulkRedeliverySpan>(spanDocument) },
    errors: ['not_found', 'invalid_attributes'],
    answer: resource<RecoveryView>('notification-recoveries', 'NotificationRecordDocument', 202),
  }),

  /** The bulk redeliveries of a workspace with their progress, newest first. */
  list: notificationRead({
    path: `${ofWorkspace}/notification-recoveries`,
    access: onWorkspace('portal'),
    summary: 'The bulk redeliveries of a workspace with their progress, newest first',
    args: ['workspaceId'],
    inputs: { workspaceId },
    errors: ['not_found'],
    answer: indexedResource<{ readonly items: readonly RecoveryView[] }>(
      'notification-recovery-list',
      'NotificationRecordListDocument',
    ),
  }),

  /** One bulk redelivery with its progress. */
  show: notificationRead({
    path: '/notification-recoveries/{recovery_id}',
    access: onWorkspace('portal'),
    summary: 'One bulk redelivery with its progress',
    args: ['recoveryId'],
    inputs: { recoveryId },
    errors: ['not_found'],
    answer: indexedResource<RecoveryView>('notification-recoveries', 'NotificationRecordDocument'),
  }),

  /** Cancels a bulk redelivery; deliveries that it has already queued are sent. */
  cancel: notification({
    methods: ['POST'],
    path: '/notification-recoveries/{recovery_id}/actions/cancel',
    access: onWorkspace('portal'),
    summary: 'Cancels a bulk redelivery; deliveries that it has already queued are sent',
    args: ['recoveryId'],
    inputs: { recoveryId },
    errors: ['not_found'],
    answer: resource<RecoveryView>('notification-recoveries', 'NotificationRecordDocument'),
  }),
} as const;

/** Event types of the application, in addition to those of the interface. */
export const eventTypeCalls = {
  /** The registered types, by name. */
  list: notification({
    methods: ['GET'],
    path: '/notification-event-types',
    access: onWorkspace('any'),
    summary: 'The event types that the application has registered, by name',
    inputs: {},
    answer: resource<readonly EventTypeView[]>('notification-event-types', 'NotificationRecordListDocument'),
  }),

  /** One registered type. */
  show: notification({
    methods: ['GET'],
    path: '/notification-event-types/{event_type}',
    access: onWorkspace('any'),
    summary: 'One event type',
    args: ['name'],
    inputs: { name: typeName },
    errors: ['not_found'],
    answer: resource<EventTypeView>('notification-event-types', 'NotificationRecordDocument'),
  }),

  /** Registers a type, or changes it. */
  put: notification({
    methods: ['PUT'],
    path: '/notification-event-types/{event_type}',
    access: management,
    summary: 'Registers an event type with its JSON Schema, or changes it',
    args: ['name', 'type'],
    inputs: {
      name: typeName,
      type: inDocument<Omit<EventTypeInput, 'name'>>({
        types: ['notification-event-types', 'notification-event-type'],
        attributes: { description: 'description', schema: 'schema', example: 'example', body: 'body' },
        relationships: {},
        closed: true,
        schema: namedSchema('PutNotificationEventType'),
      }),
    },
    errors: ['invalid_attributes'],
    answer: resource<EventTypeView>('notification-event-types', 'NotificationRecordDocument'),
  }),

  /** Removes a type; further events of this type are refused. */
  remove: notification({
    methods: ['DELETE'],
    path: '/notification-event-types/{event_type}',
    access: management,
    summary: 'Removes an event type; further events of this type are refused',
    args: ['name'],
    inputs: { name: typeName },
    errors: ['not_found'],
    answer: nothing(),
  }),
} as const;
