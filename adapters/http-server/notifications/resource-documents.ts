import type {
  ConfigurationView,
  DeliveryDetails,
  DeliverySummary,
  Pagination,
  PublishedEvent,
  VerificationResponse,
} from '../../../src/index.js';
import type { RouteCall } from '../calls/router.js';
import { splitTarget } from '../edge/target.js';

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
export function configurationResource(
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
export function eventResource(event: PublishedEvent): Omit<Resource, 'links'> {
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

export function deliveryResource(delivery: DeliverySummary, mount: string): Resource {
  return {
    id: delivery.id,
    type: 'notification-deliveries',
    attributes: {
      trigger: delivery.trigger,
      kind: delivery.kind,
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
export function deliveryDetailsResource(delivery: DeliveryDetails, mount: string): Resource {
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
export function pageLinks(
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
export function pageMember(numbers: Omit<PageNumbers, 'lastPage'>): object {
  return {
    'current-page': numbers.currentPage,
    'page-size': numbers.pageSize,
    'prev-page': numbers.prevPage,
    'next-page': numbers.nextPage,
  };
}

/** The same with the totals of the list. */
export function paginationMember(pagination: Pagination): object {
  return {
    ...pageMember(pagination),
    'total-pages': pagination.totalPages,
    'total-count': pagination.totalCount,
  };
}
