import { configurations, type NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import { usesUrl } from '../../../notifications/configurations/destination.js';
import { queueName } from '../../../notifications/delivery/delivery.js';
import type { DeliveryOptions } from '../../../notifications/delivery/delivery-options.js';
import { originOf } from '../../../notifications/delivery/redact.js';
import type { Recipient } from '../../../notifications/payloads/message-outline.js';
import { hookHolds, type Pace } from '../../../notifications/queue/queue-record.js';
import { digestOfUrl } from '../../../notifications/signature.js';
import { type Workspace, workspaces } from '../../../notifications/workspace.js';
import type { ReadView } from '../../../ports/storage.js';
import type { Route } from '../../../queue/choose-starts.js';
import { processes } from '../../../queue/process.js';
import type { Settings } from '../../../settings.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { decryptOptions, decryptSecret } from '../../records/stored-secrets.js';
import { recipientsOf } from '../configurations/verify-notification-configuration.js';
import { queueClock } from '../log/delivery-log.js';

/** The limits that apply to the attempts at a destination. */
export interface DestinationRoute extends Route {
  /** Concurrent attempts; null uses the adaptive limit. */
  readonly concurrency: number | null;
}

/** A configuration's destination as currently configured, with decrypted secrets. */
export type Destination =
  /** Nothing may be sent any more; waiting deliveries are cancelled. */
  | { readonly type: 'closed'; readonly reason: 'configuration_disabled' | 'configuration_deleted' }
  | {
      readonly type: 'http';
      readonly url: string;
      /** Scheme, host and port: all that logs may show. */
      readonly origin: string;
      readonly token: string | null;
      /** Replaced tokens, each with the wall time until which it signs. */
      readonly retiredTokens: readonly { readonly token: string; readonly until: Instant }[];
      readonly options: DeliveryOptions;
      readonly workspaceId: string;
      readonly route: DestinationRoute;
    }
  | {
      readonly type: 'email';
      readonly configuration: NotificationConfiguration;
      readonly workspace: Workspace;
      readonly recipients: readonly Recipient[];
      readonly route: DestinationRoute;
    }
  /** Encrypted with a key that the host no longer provides. */
  | { readonly type: 'unreadable'; readonly message: string; readonly route: DestinationRoute };

export type OpenDestination = Exclude<Destination, { type: 'closed' }>;

export function loadDestination(context: EngineContext, view: ReadView, configurationId: string): Destination {
  const configuration = view.get(configurations, [configurationId])?.record;
  const workspace = configuration && view.get(workspaces, [configuration.workspaceId])?.record;
  if (configuration === undefined || workspace === undefined) {
    return { type: 'closed', reason: 'configuration_deleted' };
  }
  if (!configuration.enabled) return { type: 'closed', reason: 'configuration_disabled' };
  const { kind, workspaceId } = configuration;
  const rate = rateOf(context.settings, configuration);
  const concurrency = configuration.options?.concurrency ?? null;
  const route = { origin: '', rateKey: configurationId, rate, concurrency };
  if (!usesUrl(kind)) {
    const recipients = recipientsOf(view, configuration, workspace);
    return { type: 'email', configuration, workspace, recipients, route: { ...route, origin: 'mailto:' } };
  }
  const opened = openHttp(context, configuration);
  if (opened === undefined) {
    return { type: 'unreadable', message: 'The URL or a secret of the configuration cannot be decrypted', route };
  }
  const origin = originOf(opened.url);
  const rateKey = rateKeyOf(configuration, opened.url);
  return { type: 'http', origin, ...opened, workspaceId, route: { ...route, origin, rateKey } };
}

/** The key of the rate limit. Chat services limit the hook, whichever configurations use it. */
function rateKeyOf({ id, kind }: Pick<NotificationConfiguration, 'id' | 'kind'>, url: string): string {
  return kind === 'generic' ? id : digestOfUrl(url);
}

/** The rate limit of the configuration's destination. */
export function paceOf(context: EngineContext, view: ReadView, configuration: NotificationConfiguration): Pace {
  const url = decryptSecret(context, configuration.url).unwrapOr(null);
  const hold = url === null ? undefined : view.get(hookHolds, [rateKeyOf(configuration, url)]);
  const servedUntil = servedUntilOf(context, view);
  return { rate: rateOf(context.settings, configuration), heldUntil: hold?.record.until ?? null, servedUntil };
}

/** The latest end of the leases on deliveries. Those of other hosts are taken for new. */
function servedUntilOf(context: EngineContext, view: ReadView): Instant | null {
  const { clock, settings } = context;
  const { queue } = queueClock(context, view);
  const ends = view
    .list(processes, { prefix: [queueName] })
    .map(({ record: { timeline, leaseUntil } }) =>
      timeline === clock.timeline
        ? queue + leaseUntil - clock.monotonic()
        : queue + settings.notifications.delivery.lease,
    );
  return ends.length === 0 ? null : Math.max(...ends);
}

type OpenedHttp = Pick<Extract<Destination, { type: 'http' }>, 'url' | 'token' | 'retiredTokens' | 'options'>;

/** The decrypted URL and secrets of a configuration; undefined when one of them cannot be decrypted. */
function openHttp(context: EngineContext, configuration: NotificationConfiguration): OpenedHttp | undefined {
  const url = decryptSecret(context, configuration.url);
  const token = decryptSecret(context, configuration.token);
  const options = decryptOptions(context, configuration.options);
  if (url.isErr() || token.isErr() || options.isErr() || url.value === null) return undefined;
  const retiredTokens = configuration.retiredTokens.flatMap(({ token: stored, until }) =>
    decryptSecret(context, stored)
      .map((opened) => [{ token: opened, until }])
      .unwrapOr([]),
  );
  return { url: url.value, token: token.value, retiredTokens, options: options.value };
}

/** Attempts per second: the configuration's value, otherwise that of its kind. 0 means unlimited. */
function rateOf(settings: Settings, { kind, options }: Pick<NotificationConfiguration, 'kind' | 'options'>): number {
  const { rate } = settings.notifications.delivery;
  if (options?.rate !== undefined && options.rate !== null) return options.rate;
  switch (kind) {
    case 'generic':
      return rate.generic;
    case 'chat-a':
      return rate.chatA;
    case 'chat-b':
      return rate.chatB;
    case 'email':
      return rate.email;
  }
}
