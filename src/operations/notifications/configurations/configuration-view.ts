import type { NotificationConfiguration, StoredResponse } from '../../../notifications/configurations/configuration.js';
import type { DestinationKind } from '../../../notifications/configurations/destination.js';
import {
  noDeliveryOptions,
  type OpenOptions,
  type StoredDeliveryOptions,
} from '../../../notifications/delivery/delivery-options.js';
import { withoutUserinfo } from '../../../notifications/delivery/redact.js';
import type { VerificationResponse } from '../../../notifications/errors.js';
import { type DestinationHealth, healthOf } from '../../../notifications/queue/destination-health.js';
import { newQueue, queues } from '../../../notifications/queue/queue-record.js';
import { users } from '../../../notifications/user.js';
import type { Workspace } from '../../../notifications/workspace.js';
import type { ReadView } from '../../../ports/storage.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { queueClock } from '../log/queue-clock.js';
import { countWaiting } from './count-waiting.js';
import { openOptions, openSecret } from './stored-secrets.js';

/** A configuration as returned to callers with admin rights, without the write-only token. */
export interface ConfigurationView {
  /** `nc-` and 16 characters. */
  readonly id: string;
  readonly workspaceId: string;
  /** The canonical kind of `destinationType`. */
  readonly kind: DestinationKind;
  /** In the form of the request. */
  readonly destinationType: string;
  readonly enabled: boolean;
  readonly name: string;
  /** Null for e-mail, and if its encryption key is missing. */
  readonly url: string | null;
  /** In the form of the request. */
  readonly triggers: readonly string[];
  /** Recipients that still belong to the organization. */
  readonly users: readonly string[];
  /** The latest verification response, if any. */
  readonly response: VerificationResponse | null;
  /** Delivery options beyond the notification interface, or null. Of secrets, only their presence. */
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
  /** How requests are authenticated; null: not at all. */
  readonly authentication: 'basic' | 'bearer' | null;
  /** Whether a client certificate is set. */
  readonly clientCertificate: boolean;
}

/** The health of deliveries, see `DestinationHealth`; times are RFC 3339 in UTC with milliseconds. */
export interface HealthView {
  /** Whether the configuration is paused by a user. */
  readonly paused: boolean;
  /** See `DestinationHealth`. */
  readonly breaker: DestinationHealth['breaker'];
  /** Since when the breaker is open or half open; null while it is closed. */
  readonly breakerSince: string | null;
  /** Time of the next trial attempt; null while the breaker is closed. */
  readonly nextProbeAt: string | null;
  /** Consecutive failures while the breaker is closed. */
  readonly failures: number;
  /** Time of the first failure since the last success, or null. */
  readonly failingSince: string | null;
  /**
   * The fault on the side of this service that blocks deliveries: `proxy_failed` or `transform_failed`. It opens no breaker and uses no
   * attempt. Null if the last attempt reached the destination.
   */
  readonly hinderedBy: DestinationHealth['hinderedBy'];
  /** Since when deliveries are blocked, or null. */
  readonly hinderedSince: string | null;
  /**
   * New deliveries that wait for their first attempt: counted up to one or two thousand while a pause or a breaker holds them, otherwise
   * approximate, and 0 for a few.
   */
  readonly backlog: number;
}

export function viewConfiguration(
  context: EngineContext,
  view: ReadView,
  configuration: NotificationConfiguration,
  workspace: Workspace,
): ConfigurationView {
  const url = openSecret(context, configuration.url);
  if (url.isErr()) {
    context.logger.warn(
      { configuration: configuration.id, error: url.error.message },
      'The URL of a notification configuration cannot be decrypted',
    );
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
  const secrets = openOptions(context, stored).unwrapOr({ ...noDeliveryOptions });
  return {
    ...open,
    headerNames: Object.keys(secrets.headers),
    authentication: secrets.authentication?.type ?? null,
    clientCertificate: secrets.clientCertificate !== null,
  };
}

function viewHealth(context: EngineContext, view: ReadView, configurationId: string): HealthView {
  const queue = view.get(queues, [configurationId])?.record ?? newQueue(configurationId, '', 0);
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
  const url = withoutUserinfo(openSecret(context, response.url).unwrapOr(''));
  return { url, body, code, headers, sentAt: isoFromInstant(response.sentAt), successful };
}
