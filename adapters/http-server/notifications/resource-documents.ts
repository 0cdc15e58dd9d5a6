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
  Pagination,
  PublishedEvent,
  Recovered,
  User,
  VerificationResponse,
  Workspace,
  WorkspaceList,
  WorkspaceView,
} from '../../../src/index.js';
import type { RouteCall } from '../calls/router.js';
import { type HttpResponse, jsonApiType, splitTarget } from '../http-message.js';

/** The JSON:API document of the answer of a notification call. */
export function resourceResponse({ answer, kind }: Call, call: RouteCall, value: unknown): HttpResponse {
  const render = documents[answer.resource ?? ''];
  const document = render === undefined ? recordDocument(answer.resource ?? '', value) : render(value as never, call);
  const headers = kind === 'waiting' ? [call.dialect.headers.index, String(answer.indexOf(value))] : [];
  return { status: answer.status, headers: ['Content-Type', jsonApiType, ...headers], body: JSON.stringify(document) };
}

/** Each takes the value of the calls whose answers have its name. */
type Render = (value: never, call: RouteCall) => object;

/** The documents by the names of the interface. */
const documents: Readonly<Record<string, Render>> = {
  'notification-configuration': (value: ConfigurationView, call: RouteCall) => ({
    data: configurationResource(value, call.notificationsPath, responsePrinter(call)),
  }),
  'notification-configuration-list': (value: ConfigurationList, call: RouteCall) => configurationList(value, call),
  'notification-event': (value: PublishedEvent) => ({ data: eventResource(value) }),
  'notification-delivery': (value: DeliverySummary, call: RouteCall) => ({
    data: deliveryResource(value, call.notificationsPath),
  }),
  'notification-delivery-details': (value: DeliveryDetails, call: RouteCall) => ({
    data: deliveryDetailsResource(value, call.notificationsPath),
  }),
  'notification-delivery-list': (value: DeliveryList, call: RouteCall) => deliveryList(value, call),
  'notification-recovery': (value: Recovered) => recovery(value),
  'notification-recovery-list': ({ items }: { readonly items: readonly object[] }) =>
    recordDocument('notification-recoveries', items),
  'notification-event-list': (value: EventList, call: RouteCall) => eventList(value, call),
  // Organizations, workspaces and the account. Features that this server does not have are false.
  organization: (value: OrganizationView, call: RouteCall) => ({
    data: organizationResource(value, call.notificationsPath),
  }),
  'organization-list': (value: OrganizationList, call: RouteCall) => {
    const { items, pagination } = value;
    const data = items.map((view) => organizationResource(view, call.notificationsPath));
    return listDocument(call, data, pagination, ['q']);
  },
  'entitlement-set': (value: EntitlementView) => ({ data: entitlementResource(value) }),
  workspace: (value: WorkspaceView, call: RouteCall) => ({ data: workspaceResource(value, call.notificationsPath) }),
  'stored-workspace': (value: Workspace, call: RouteCall) => {
    const { createdAt, ...workspace } = value;
    // Storing workspaces needs the management right, which includes all others.
    const view: WorkspaceView = { ...workspace, createdAt: new Date(createdAt).toISOString(), right: 'admin' };
    return { data: workspaceResource(view, call.notificationsPath) };
  },
  'workspace-list': (value: WorkspaceList, call: RouteCall) => {
    const { items, pagination } = value;
    const data = items.map((view) => workspaceResource(view, call.notificationsPath));
    return listDocument(call, data, pagination, workspaceFilters);
  },
  'membership-list': (value: MembershipList, call: RouteCall) => {
    const { items, pagination } = value;
    const document = listDocument(call, items.map(membershipResource), pagination, membershipFilters);
    return { ...document, ...includedUsers(call, items) };
  },
  membership: (value: User, call: RouteCall) => ({ data: membershipResource(value), ...includedUsers(call, [value]) }),
  account: (value: AccountView) => ({ data: accountResource(value) }),
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
  const { id, name, configurationId, index: _index, ...rest } = record as Readonly<Record<string, unknown>>;
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
  const kept = keptFilters(call, ['trigger', 'outcome', 'since', 'until', 'expression']);
  return {
    data: list.items.map((event) => recordResource('notification-events', event)),
    links: pageLinks(call, { ...list, lastPage: null }, kept),
    meta: {
      pagination: { ...pageMember(list), 'total-count': list.totalCount, counted: list.counted },
    },
  };
}

function deliveryList(list: DeliveryList, call: RouteCall): object {
  const kept = keptFilters(call, ['outcome', 'trigger', 'status', 'since', 'until', 'configuration']);
  return {
    data: list.items.map((delivery) => deliveryResource(delivery, call.notificationsPath)),
    links: pageLinks(call, { ...list, lastPage: null }, kept),
    meta: { pagination: { ...pageMember(list), ...(list.whole ? {} : { whole: false }) } },
  };
}

/** The filters of the request, which the links of its pages keep. */
function keptFilters({ query }: RouteCall, names: readonly string[]): Readonly<Record<string, string | undefined>> {
  const filterOf = (name: string): string | undefined =>
    query.get(`filter[${name}]`).unwrapOr(undefined) ?? query.get(name).unwrapOr(undefined);
  return Object.fromEntries(names.map((name) => [`filter[${name}]`, filterOf(name)]));
}

function recovery({ count, more, reached }: Recovered): object {
  return { meta: { count, more, reached: reached === null ? null : new Date(reached).toISOString() } };
}

/** The form of an element of `delivery-responses` for the requesting client. */
function responsePrinter({ deliveryResponses, request }: RouteCall): (response: VerificationResponse) => object {
  return deliveryResponses === undefined ? responseMember : (response) => deliveryResponses(request, response);
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

/*
 * The resources of the notification interface in JSON:API form (notification interface, Resources): plural types, member names in
 * kebab case.
 */

interface Resource {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships: Readonly<Record<string, unknown>>;
  readonly links: { readonly self: string };
}

/** A configuration; `mount` is the path of the interface. */
function configurationResource(
  view: ConfigurationView,
  mount: string,
  printed: (response: VerificationResponse) => object = responseMember,
): Resource {
  return {
    id: view.id,
    type: 'notification-configurations',
    attributes: {
      enabled: view.enabled,
      name: view.name,
      url: view.url,
      'destination-type': view.destinationType,
      // Write-only.
      token: null,
      triggers: view.triggers,
      'delivery-responses': view.response === null ? [] : [printed(view.response)],
      'email-addresses': null,
      ...(view.delivery === null ? {} : { delivery: view.delivery }),
      'created-at': view.createdAt,
      'updated-at': view.updatedAt,
    },
    relationships: {
      subscribable: { data: { id: view.workspaceId, type: 'workspaces' } },
      users: { data: view.users.map((id) => ({ id, type: 'users' })) },
    },
    links: { self: `${mount}/notification-configurations/${encodeURIComponent(view.id)}` },
  };
}

/** One element of `delivery-responses`. */
export function responseMember(response: VerificationResponse): Readonly<Record<string, unknown>> {
  return {
    url: response.url,
    body: response.body,
    code: response.code,
    headers: response.headers,
    'sent-at': response.sentAt,
    successful: response.successful,
  };
}

/** An accepted event; if it notifies no configuration, with the reasons for each. */
function eventResource(event: PublishedEvent): Omit<Resource, 'links'> {
  return {
    id: event.eventId,
    type: 'notification-events',
    attributes: {
      trigger: event.trigger,
      repeated: event.repeated,
      backlog: event.backlog,
      explanations: event.explanations.map(({ configurationId, ...explanation }) => ({
        'configuration-id': configurationId,
        ...explanation,
      })),
    },
    relationships: {
      workspace: { data: { id: event.workspaceId, type: 'workspaces' } },
      deliveries: { data: event.deliveryIds.map((id) => ({ id, type: 'notification-deliveries' })) },
    },
  };
}

function deliveryResource(delivery: DeliverySummary, mount: string): Resource {
  return {
    id: delivery.id,
    type: 'notification-deliveries',
    attributes: {
      trigger: delivery.trigger,
      kind: delivery.kind,
      sample: delivery.sample,
      outcome: delivery.outcome,
      reason: delivery.reason,
      'created-at': delivery.createdAt,
      'next-attempt-at': delivery.nextAttemptAt,
      'waits-for': delivery.waitsFor,
      'settled-at': delivery.settledAt,
      'attempt-count': delivery.attemptCount,
      'last-status': delivery.lastStatus,
      'last-failure': delivery.lastFailure,
    },
    relationships: {
      workspace: { data: { id: delivery.workspaceId, type: 'workspaces' } },
      'notification-configuration': { data: { id: delivery.configurationId, type: 'notification-configurations' } },
      'notification-event': { data: { id: delivery.eventId, type: 'notification-events' } },
    },
    links: { self: `${mount}/notification-deliveries/${encodeURIComponent(delivery.id)}` },
  };
}

/** Includes the sent message and every attempt. Stored answers are untrusted: data, never markup. */
function deliveryDetailsResource(delivery: DeliveryDetails, mount: string): Resource {
  const resource = deliveryResource(delivery, mount);
  return {
    ...resource,
    attributes: {
      ...resource.attributes,
      body: delivery.body,
      recipients: delivery.recipients.map(({ userId, ...result }) => ({ 'user-id': userId, ...result })),
      attempts: delivery.attempts.map((attempt) => ({
        number: attempt.number,
        manual: attempt.manual,
        'started-at': attempt.startedAt,
        'headers-after': attempt.headersAfter,
        total: attempt.total,
        destination: attempt.destination,
        address: attempt.address,
        status: attempt.status,
        headers: attempt.headers,
        body: attempt.body,
        truncated: attempt.truncated,
        failure: attempt.failure,
        request:
          attempt.request === null
            ? null
            : {
                method: attempt.request.method,
                headers: attempt.request.headers,
                'body-bytes': attempt.request.bodyBytes,
              },
      })),
    },
  };
}

interface PageNumbers {
  readonly currentPage: number;
  readonly pageSize: number;
  readonly prevPage: number | null;
  readonly nextPage: number | null;
  /** Null when the total is not known. */
  readonly lastPage: number | null;
}

/** The absolute links of a page; `further` are the query parameters to keep. */
function pageLinks(
  call: RouteCall,
  numbers: PageNumbers,
  further: Readonly<Record<string, string | undefined>> = {},
): Readonly<Record<string, string | null>> {
  const { publicOrigin } = call.engine.settings.notifications;
  const path = publicOrigin + splitTarget(call.request.target).path;
  const kept = Object.entries(further)
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`&${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
    )
    .join('');
  const link = (page: number | null): string | null =>
    page === null ? null : `${path}?page%5Bnumber%5D=${page}&page%5Bsize%5D=${numbers.pageSize}${kept}`;
  return {
    self: link(numbers.currentPage),
    first: link(1),
    prev: link(numbers.prevPage),
    next: link(numbers.nextPage),
    ...(numbers.lastPage === null ? {} : { last: link(numbers.lastPage) }),
  };
}

/** The numbers of a page under their JSON:API names. */
function pageMember(numbers: Omit<PageNumbers, 'lastPage'>): object {
  return {
    'current-page': numbers.currentPage,
    'page-size': numbers.pageSize,
    'prev-page': numbers.prevPage,
    'next-page': numbers.nextPage,
  };
}

/** The same with the totals of the list. */
function paginationMember(pagination: Pagination): object {
  return {
    ...pageMember(pagination),
    'total-pages': pagination.totalPages,
    'total-count': pagination.totalCount,
  };
}
