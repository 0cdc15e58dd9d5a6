import type { Call } from '../../../src/api/call.js';
import type {
  AccountView,
  ConfigurationList,
  ConfigurationView,
  DeliveryDetails,
  DeliveryList,
  DeliverySummary,
  EntitlementView,
  EventList,
  MembershipList,
  OrganizationList,
  OrganizationView,
  PublishedEvent,
  Recovered,
  User,
  VerificationResponse,
  Workspace,
  WorkspaceList,
  WorkspaceView,
} from '../../../src/index.js';
import { jsonApiType, type Route, type RouteCall } from '../calls/router.js';
import { type HttpResponse, headerValue } from '../http-message.js';
import {
  configurationResource,
  deliveryDetailsResource,
  deliveryResource,
  eventResource,
  pageLinks,
  pageMember,
  paginationMember,
  responseMember,
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
  // Organizations, workspaces and the account. Features that this server does not have are false.
  organization: (value, call) => ({ data: organizationResource(value as OrganizationView, call.notificationsPath) }),
  'organization-list': (value, call) => {
    const { items, pagination } = value as OrganizationList;
    const data = items.map((view) => organizationResource(view, call.notificationsPath));
    return listDocument(call, data, pagination, ['q']);
  },
  'entitlement-set': (value) => ({ data: entitlementResource(value as EntitlementView) }),
  workspace: (value, call) => ({ data: workspaceResource(value as WorkspaceView, call.notificationsPath) }),
  'stored-workspace': (value, call) => {
    const { createdAt, ...workspace } = value as Workspace;
    // Storing workspaces needs the management right, which includes all others.
    const view: WorkspaceView = { ...workspace, createdAt: new Date(createdAt).toISOString(), right: 'admin' };
    return { data: workspaceResource(view, call.notificationsPath) };
  },
  'workspace-list': (value, call) => {
    const { items, pagination } = value as WorkspaceList;
    const data = items.map((view) => workspaceResource(view, call.notificationsPath));
    return listDocument(call, data, pagination, workspaceFilters);
  },
  'membership-list': (value, call) => {
    const { items, pagination } = value as MembershipList;
    const document = listDocument(call, items.map(membershipResource), pagination, membershipFilters);
    return { ...document, ...includedUsers(call, items) };
  },
  membership: (value, call) => ({ data: membershipResource(value as User), ...includedUsers(call, [value as User]) }),
  account: (value) => ({ data: accountResource(value as AccountView) }),
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

/*
 * Additions for existing clients, with HCP Terraform names: the application name, and members of the types that the clients declare.
 */

/** The same route; with HCP Terraform names its answer contains the application name and the rate limit. */
export function introducing(route: Route): Route {
  return {
    ...route,
    handle: async (call) => {
      const response = await route.handle(call);
      if (call.names.vocabulary === 'upstream') response.headers.push(...introduction);
      return response;
    },
  };
}

/**
 * Clients distinguish two kinds of servers by the application name, and limit themselves to two thirds of this number of requests per
 * second; below 4 they send none.
 */
const introduction = ['TFP-API-Version', '2.6', 'TFP-AppName', 'HCP Terraform', 'X-RateLimit-Limit', '30'];

/** The form of an element of `delivery-responses` for the requesting client. */
function responsePrinter({ names, request }: RouteCall): (response: VerificationResponse) => object {
  if (names.vocabulary !== 'upstream') return responseMember;
  // The first generation of the Go client silently drops elements with headers; with null headers it keeps them.
  const withoutHeaders = headerValue(request, 'user-agent') === 'go-tfe';
  return (response) => ({
    ...responseMember(response),
    successful: String(response.successful),
    ...(withoutHeaders ? { headers: null } : {}),
  });
}

/** The parameters that the links of a list of workspaces keep. */
const workspaceFilters = [
  'search[name]',
  'search[wildcard-name]',
  'search[tags]',
  'filter[project][id]',
  'filter[current-run][status]',
  'sort',
];

const membershipFilters = ['filter[email]', 'filter[status]', 'q', 'include'];

function listDocument(
  call: RouteCall,
  data: readonly object[],
  pagination: WorkspaceList['pagination'],
  filters: readonly string[],
): object {
  const kept = Object.fromEntries(filters.map((name) => [name, call.query.get(name).unwrapOr(undefined)]));
  return {
    data,
    links: pageLinks(call, { ...pagination, lastPage: pagination.totalPages }, kept),
    meta: { pagination: paginationMember(pagination) },
  };
}

function organizationResource(view: OrganizationView, mount: string): object {
  return {
    // Clients know an organization by its name.
    id: view.name,
    type: 'organizations',
    attributes: {
      name: view.name,
      'created-at': view.createdAt,
      permissions: { 'can-traverse': true, 'can-update': false, 'can-destroy': false, 'can-create-workspace': false },
    },
    links: { self: `${mount}/organizations/${encodeURIComponent(view.name)}` },
  };
}

function entitlementResource({ organization }: EntitlementView): object {
  return {
    id: organization,
    type: 'entitlement-sets',
    attributes: Object.fromEntries(features.map((feature) => [feature, false])),
  };
}

/** Features that clients query; this server has none of them. */
const features = [
  'agents',
  'audit-logging',
  'cost-estimation',
  'global-run-tasks',
  'operations',
  'private-module-registry',
  'private-run-tasks',
  'run-tasks',
  'sentinel',
  'sso',
  'state-storage',
  'teams',
  'vcs-integrations',
];

function workspaceResource(view: WorkspaceView, mount: string): object {
  return {
    id: view.id,
    type: 'workspaces',
    attributes: {
      name: view.name,
      'execution-mode': view.executionMode,
      operations: view.executionMode !== 'local',
      'assessments-enabled': view.healthAssessments,
      'health-assessments': view.healthAssessments,
      'drift-detection': view.driftDetection,
      url: view.url,
      'created-at': view.createdAt,
      permissions: { 'can-read-settings': true, 'can-update': view.right === 'admin', 'can-destroy': false },
    },
    relationships: { organization: { data: { id: view.organization, type: 'organizations' } } },
    links: { self: `${mount}/workspaces/${encodeURIComponent(view.id)}` },
  };
}

/** The ID of a membership is that of its user: a user belongs to one organization. */
function membershipResource({ id, email, organization }: User): object {
  return {
    id,
    type: 'organization-memberships',
    attributes: { status: 'active', email },
    relationships: {
      organization: { data: { id: organization, type: 'organizations' } },
      user: { data: { id, type: 'users' } },
      teams: { data: [] },
    },
  };
}

function includedUsers(call: RouteCall, users: readonly User[]): object {
  if (call.query.get('include').unwrapOr(undefined) === undefined) return {};
  return { included: users.map((user) => accountResource({ ...user, isServiceAccount: false })) };
}

function accountResource(view: AccountView): object {
  return {
    id: view.id,
    type: 'users',
    attributes: { username: view.username, email: view.email, 'is-service-account': view.isServiceAccount },
  };
}
