import type { NotificationConfiguration, StoredResponse } from '../../../notifications/configurations/configuration.js';
import type { DestinationKind } from '../../../notifications/configurations/destination.js';
import { deliveries } from '../../../notifications/delivery/delivery.js';
import {
  noDeliveryOptions,
  type OpenOptions,
  type StoredDeliveryOptions,
} from '../../../notifications/delivery/delivery-options.js';
import { withoutUserinfo } from '../../../notifications/delivery/redact.js';
import type { VerificationResponse } from '../../../notifications/errors.js';
import { type DestinationHealth, healthOf } from '../../../notifications/queue/decide-alerts.js';
import { newQueue, type QueueRecord, queues } from '../../../notifications/queue/queue-record.js';
import { users, type Workspace } from '../../../notifications/workspace.js';
import type { ReadView } from '../../../ports/storage.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { decryptOptions, decryptSecret } from '../../records/stored-secrets.js';
import { queueClock } from '../log/delivery-log.js';

/** A configuration as a caller with admin rights sees it. The token is write-only and not part of it. */
export interface ConfigurationView {
  /** `nc-` and 16 characters. */
  readonly id: string;
  readonly workspaceId: string;
  /** The canonical kind of `destinationType`. */
  readonly kind: DestinationKind;
  /** As the caller wrote it. */
  readonly destinationType: string;
  readonly enabled: boolean;
  readonly name: string;
  /** Null for e-mail, and when the key that encrypted it is missing. */
  readonly url: string | null;
  /** As the caller wrote them. */
  readonly triggers: readonly string[];
  /** Recipients that still belong to the organization. */
  readonly users: readonly string[];
  /** The latest verification response, if any. */
  readonly response: VerificationResponse | null;
  /** Null without options beyond the notification interface. Shows which secrets are set, not their values. */
  readonly delivery: DeliveryOptionsView | null;
  /** The health of its deliveries. */
  readonly health: HealthView;
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string;
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string;
}

/** The options without their secrets. */
export interface DeliveryOptionsView extends OpenOptions {
  /** Names of the extra headers. */
  readonly headerNames: readonly string[];
  /** How requests are authenticated; null for not at all. */
  readonly authentication: 'basic' | 'bearer' | null;
  /** Whether there is a client certificate. */
  readonly clientCertificate: boolean;
}

/** The health of deliveries, see `DestinationHealth`; times are RFC 3339 in UTC with milliseconds. */
export interface HealthView {
  /** Whether a user has paused it. */
  readonly paused: boolean;
  /** See `DestinationHealth`. */
  readonly breaker: DestinationHealth['breaker'];
  /** Since when the breaker is not closed; null while it is. */
  readonly breakerSince: string | null;
  /** When the destination is tried again; null while the breaker is closed. */
  readonly nextProbeAt: string | null;
  /** Consecutive failures while the breaker is closed. */
  readonly failures: number;
  /** First failure since the last success; null for none. */
  readonly failingSince: string | null;
  /**
   * The failure on this side that blocks deliveries: `proxy_failed` or `transform_failed`. It does not open the breaker or
   * use up attempts. Null when the last attempt reached the destination.
   */
  readonly hinderedBy: DestinationHealth['hinderedBy'];
  /** Since when it blocks; null while nothing does. */
  readonly hinderedSince: string | null;
  /**
   * Deliveries that wait for their first attempt. Behind a pause or an open breaker they are counted, up to one or two thousand; otherwise the
   * number is approximate, and 0 when small.
   */
  readonly backlog: number;
}

export function viewConfiguration(
  context: EngineContext,
  view: ReadView,
  configuration: NotificationConfiguration,
  workspace: Workspace,
): ConfigurationView {
  const url = decryptSecret(context, configuration.url);
  if (url.isErr()) {
    context.logger.warn({ configuration: configuration.id, error: url.error.message }, 'A destination cannot be read');
  }
  return {
    id: configuration.id,
    workspaceId: configuration.workspaceId,
    kind: configuration.kind,
    destinationType: configuration.destinationType,
    enabled: configuration.enabled,
    name: configuration.name,
    url: url.unwrapOr(null),
    triggers: configuration.triggers,
    users: configuration.users.filter((id) => view.get(users, [id])?.record.organization === workspace.organization),
    response: configuration.response === null ? null : viewResponse(context, configuration.response),
    delivery: configuration.options === undefined ? null : viewOptions(context, configuration.options),
    health: viewHealth(context, view, configuration.id),
    createdAt: isoFromInstant(configuration.createdAt),
    updatedAt: isoFromInstant(configuration.updatedAt),
  };
}

function viewOptions(context: EngineContext, stored: StoredDeliveryOptions): DeliveryOptionsView {
  const { secrets: _sealed, ...open } = stored;
  const secrets = decryptOptions(context, stored).unwrapOr({ ...noDeliveryOptions });
  return {
    ...open,
    headerNames: Object.keys(secrets.headers),
    authentication: secrets.authentication?.type ?? null,
    clientCertificate: secrets.clientCertificate !== null,
  };
}

function viewHealth(context: EngineContext, view: ReadView, configurationId: string): HealthView {
  const queue = view.get(queues, [configurationId])?.record ?? newQueue(configurationId, '');
  const clock = queueClock(context, view);
  const health = healthOf(queue, clock.queue);
  const shown = (moment: Instant | null): string | null =>
    moment === null ? null : isoFromInstant(clock.shown(moment));
  const isHeld = health.paused || health.breaker !== 'closed';
  return {
    ...health,
    backlog: isHeld ? countWaiting(view, queue) : health.backlog,
    breakerSince: shown(health.breakerSince),
    nextProbeAt: shown(health.nextProbeAt),
    failingSince: shown(health.failingSince),
    hinderedSince: shown(health.hinderedSince),
  };
}

export function viewResponse(context: EngineContext, response: StoredResponse): VerificationResponse {
  const { body, code, headers, successful } = response;
  const url = withoutUserinfo(decryptSecret(context, response.url).unwrapOr(''));
  return { url, body, code, headers, sentAt: isoFromInstant(response.sentAt), successful };
}

/** The maximum number of deliveries examined, so that a reader of health does not wait for a long queue. */
const mostCounted = 1000;

/**
 * Deliveries that wait for their first attempt behind a pause or an open breaker. They are counted on demand: nobody maintains the
 * number in the meantime, and publishers must not pay for it.
 */
function countWaiting(view: ReadView, { configurationId, cancellation }: QueueRecord): number {
  const first = (cancellation?.through ?? 0) + 1;
  const from = [configurationId, first];
  const range = { from, to: [configurationId, ''], limit: mostCounted };
  const rows = view.list(deliveries, { index: 'unfinished', ...range });
  return rows.filter(({ record }) => record.attempts.length === 0).length;
}
