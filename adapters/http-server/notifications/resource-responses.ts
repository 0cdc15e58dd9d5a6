import type { Call } from '../../../src/api/call.js';
import type {
  ConfigurationList,
  ConfigurationView,
  DeliveryDetails,
  DeliveryList,
  DeliverySummary,
  EventList,
  PublishedEvent,
  Recovered,
} from '../../../src/index.js';
import { jsonApiType, type RouteCall } from '../calls/route.js';
import type { HttpResponse } from '../http-message.js';
import { responsePrinter } from './known-clients.js';
import { organizationDocuments } from './organization-documents.js';
import { pageLinks, pageMember, paginationMember } from './pagination.js';
import {
  configurationResource,
  deliveryDetailsResource,
  deliveryResource,
  eventResource,
} from './resource-documents.js';

/** The JSON:API document of the answer of a notification call. */
export function resourceResponse({ answer }: Call, call: RouteCall, value: unknown): HttpResponse {
  const render = documents[answer.resource ?? ''];
  const document = render === undefined ? recordDocument(answer.resource ?? '', value) : render(value, call);
  return { status: answer.status, headers: ['Content-Type', jsonApiType], body: JSON.stringify(document) };
}

type Render = (value: unknown, call: RouteCall) => object;

/** The documents by the names of the interface. */
const documents: Readonly<Record<string, Render>> = {
  'notification-configuration': (value, call) => ({
    data: configurationResource(value as ConfigurationView, call.notificationsPath, responsePrinter(call)),
  }),
  'notification-configuration-list': (value, call) => configurationList(value as ConfigurationList, call),
  'notification-event': (value) => ({ data: eventResource(value as PublishedEvent) }),
  'notification-delivery': (value, call) => ({
    data: deliveryResource(value as DeliverySummary, call.notificationsPath),
  }),
  'notification-delivery-details': (value, call) => ({
    data: deliveryDetailsResource(value as DeliveryDetails, call.notificationsPath),
  }),
  'notification-delivery-list': (value, call) => deliveryList(value as DeliveryList, call),
  'notification-recovery': (value) => recovery(value as Recovered),
  'notification-event-list': (value, call) => eventList(value as EventList, call),
  ...organizationDocuments,
};

function configurationList({ items, pagination }: ConfigurationList, call: RouteCall): object {
  const data = items.map((view) => configurationResource(view, call.notificationsPath, responsePrinter(call)));
  if (pagination === null) return { data };
  return {
    data,
    links: pageLinks(call, { ...pagination, lastPage: pagination.totalPages }),
    meta: { pagination: paginationMember(pagination) },
  };
}

/** A document of records that are plain values: their members are the attributes. */
function recordDocument(type: string, value: unknown): object {
  return { data: Array.isArray(value) ? value.map((each) => recordResource(type, each)) : recordResource(type, value) };
}

function recordResource(type: string, record: unknown): object {
  const { id, name, configurationId, ...rest } = record as Readonly<Record<string, unknown>>;
  const named = {
    ...(name === undefined ? {} : { name }),
    ...(configurationId === undefined ? {} : { configurationId }),
  };
  const attributes = Object.entries({ ...named, ...rest }).map(([member, each]) => [kebab(member), each]);
  return { id: String(id ?? configurationId ?? name ?? type), type, attributes: Object.fromEntries(attributes) };
}

function kebab(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function eventList(list: EventList, call: RouteCall): object {
  const names = ['trigger', 'outcome', 'since', 'until', 'expression'];
  const kept = Object.fromEntries(names.map((name) => [`filter[${name}]`, filterOf(call, name)]));
  return {
    data: list.items.map((event) => recordResource('notification-events', event)),
    links: pageLinks(call, { ...list, lastPage: null }, kept),
    meta: {
      pagination: { ...pageMember(list), 'total-count': list.totalCount, counted: list.counted },
    },
  };
}

function deliveryList(list: DeliveryList, call: RouteCall): object {
  const kept = { 'filter[outcome]': filterOf(call, 'outcome'), 'filter[trigger]': filterOf(call, 'trigger') };
  return {
    data: list.items.map((delivery) => deliveryResource(delivery, call.notificationsPath)),
    links: pageLinks(call, { ...list, lastPage: null }, kept),
    meta: { pagination: pageMember(list) },
  };
}

/** The filter of the request, which the links of its pages keep. */
function filterOf({ query }: RouteCall, name: string): string | undefined {
  return query.get(`filter[${name}]`).unwrapOr(undefined) ?? query.get(name).unwrapOr(undefined);
}

function recovery({ count, more, reached }: Recovered): object {
  return { meta: { count, more, reached: reached === null ? null : new Date(reached).toISOString() } };
}
