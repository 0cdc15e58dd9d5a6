import {
  listDeliveries,
  type RecoverRequest,
  recoverDeliveries,
  redeliver,
  sendNotificationEvent,
  showDelivery,
} from '../../../src/index.js';
import { textParameter } from '../query.js';
import type { Route, RouteCall } from '../route.js';
import { notificationErrorResponse, notificationErrors } from './notification-errors.js';
import { documentAnswer, documentResponse, notificationRoute } from './notification-route.js';
import {
  deliveryDocument,
  deliveryListDocument,
  eventDocument,
  eventRequest,
  recoveredDocument,
  recoverRequest,
} from './notification-schemas.js';
import { pageFrom, pageLinks, pageParameters } from './pagination.js';
import { type DocumentFault, type RequestDocument, readDocument } from './request-document.js';
import { deliveryDetailsResource, deliveryResource, eventResource } from './resource-documents.js';

const listParameters = {
  ...pageParameters,
  'filter[outcome]': textParameter('pending, delivered, dead or cancelled', ['outcome']),
  'filter[trigger]': textParameter('A trigger', ['trigger']),
} as const;

/** Events in, the delivery log, redelivery. */
export const deliveryRoutes: readonly Route[] = [
  notificationRoute({
    method: 'POST',
    path: '/workspaces/{workspace_id}/notification-events',
    operation: 'sendNotificationEvent',
    summary: 'Report a run, assessment or auto-destroy event, which notifies those who subscribed to it',
    right: 'events',
    parameters: {},
    requestSchema: eventRequest,
    answers: { 202: documentAnswer('The event with the deliveries that it caused', eventDocument) },
    run: async (call) => {
      const document = await readDocument(call, ['notification-events', 'notification-event']);
      if (document.isErr()) return notificationErrors.badInput(document.error);
      const { attributes, faults } = document.value;
      const sent = await sendNotificationEvent(call.engine, call.caller, {
        workspaceId: idOf(call),
        attributes,
        faults,
      });
      return sent.match((event) => documentResponse(202, { data: eventResource(event) }), notificationErrorResponse);
    },
  }),
  notificationRoute({
    method: 'GET',
    path: '/notification-configurations/{notification_configuration_id}/deliveries',
    operation: 'listNotificationDeliveries',
    summary: 'The delivery log of a configuration, newest first',
    right: 'admin',
    parameters: listParameters,
    answers: { 200: documentAnswer('The deliveries', deliveryListDocument) },
    run: async (call, values) => {
      const filter = { outcome: values['filter[outcome]'], trigger: values['filter[trigger]'] };
      const page = pageFrom(values);
      const listed = await listDeliveries(call.engine, call.caller, { configurationId: idOf(call), ...filter, page });
      return listed.match((list) => {
        const kept = { 'filter[outcome]': filter.outcome, 'filter[trigger]': filter.trigger };
        return documentResponse(200, {
          data: list.items.map((delivery) => deliveryResource(delivery, call.notificationsPath)),
          links: pageLinks(call, { ...list, lastPage: null }, kept),
          meta: {
            pagination: {
              'current-page': list.currentPage,
              'page-size': list.pageSize,
              'prev-page': list.prevPage,
              'next-page': list.nextPage,
            },
          },
        });
      }, notificationErrorResponse);
    },
  }),
  notificationRoute({
    method: 'GET',
    path: '/notification-deliveries/{delivery_id}',
    operation: 'showNotificationDelivery',
    summary: 'One delivery with all its attempts',
    right: 'admin',
    parameters: {},
    answers: { 200: documentAnswer('The delivery', deliveryDocument) },
    run: async (call) => {
      const found = await showDelivery(call.engine, call.caller, { deliveryId: idOf(call) });
      return found.match(
        (delivery) => documentResponse(200, { data: deliveryDetailsResource(delivery, call.notificationsPath) }),
        notificationErrorResponse,
      );
    },
  }),
  notificationRoute({
    method: 'POST',
    path: '/notification-deliveries/{delivery_id}/actions/redeliver',
    operation: 'redeliverNotification',
    summary: 'Ask for one more attempt with the same event id',
    right: 'admin',
    parameters: {},
    answers: { 202: documentAnswer('The delivery, waiting for its attempt', deliveryDocument) },
    run: async (call) => {
      const asked = await redeliver(call.engine, call.caller, { deliveryId: idOf(call) });
      return asked.match(
        (delivery) => documentResponse(202, { data: deliveryResource(delivery, call.notificationsPath) }),
        notificationErrorResponse,
      );
    },
  }),
  notificationRoute({
    method: 'POST',
    path: '/notification-configurations/{notification_configuration_id}/actions/recover',
    operation: 'recoverNotificationDeliveries',
    summary: 'Redeliver what ended without success in a span of time, oldest first, up to the limit of the settings',
    right: 'admin',
    parameters: {},
    requestSchema: recoverRequest,
    answers: { 202: documentAnswer('How many are redelivered, and how far that reached', recoveredDocument) },
    run: async (call) => {
      const document = await readDocument(call, ['notification-recoveries', 'notification-recovery']);
      if (document.isErr()) return notificationErrors.badInput(document.error);
      const { request, faults } = recoverRequestFrom(document.value, idOf(call));
      if (faults.length > 0) {
        // Whether the configuration exists for the caller is told first.
        const known = await listDeliveries(call.engine, call.caller, {
          configurationId: idOf(call),
          page: { size: 1 },
        });
        return notificationErrorResponse(known.isErr() ? known.error : { type: 'invalid_attributes', faults });
      }
      const recovered = await recoverDeliveries(call.engine, call.caller, request);
      return recovered.match(
        ({ count, more, reached }) =>
          documentResponse(202, {
            meta: { count, more, reached: reached === null ? null : new Date(reached).toISOString() },
          }),
        notificationErrorResponse,
      );
    },
  }),
];

function idOf(call: RouteCall): string {
  return call.pathValues[0] ?? '';
}

function recoverRequestFrom(
  document: RequestDocument,
  configurationId: string,
): { readonly request: RecoverRequest; readonly faults: readonly DocumentFault[] } {
  const faults = [...document.faults];
  const time = (name: string): number | undefined => {
    const value = document.attributes[name];
    if (value === undefined || value === null) return undefined;
    const instant = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(instant)) return instant;
    faults.push({
      pointer: '/data/attributes/' + name,
      message: `${name} must be a time such as 2026-01-02T03:04:05Z`,
    });
    return undefined;
  };
  const since = time('since');
  const until = time('until');
  const { outcome = null } = document.attributes;
  if (since === undefined && faults.length === 0) {
    faults.push({ pointer: '/data/attributes/since', message: 'since must be given' });
  }
  if (since !== undefined && until !== undefined && since > until) {
    faults.push({ pointer: '/data/attributes/until', message: 'until must not be earlier than since' });
  }
  if (outcome !== null && outcome !== 'dead' && outcome !== 'cancelled') {
    faults.push({ pointer: '/data/attributes/outcome', message: 'outcome must be dead or cancelled' });
  }
  const request: RecoverRequest = {
    configurationId,
    since: since ?? 0,
    ...(until === undefined ? {} : { until }),
    ...(outcome === 'dead' || outcome === 'cancelled' ? { outcome } : {}),
  };
  return { request, faults };
}
