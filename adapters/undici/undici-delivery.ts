import { err, ResultAsync } from 'neverthrow';
import { checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { amount, callable, optional } from '../../src/options/option-kinds.js';
import type { DeliveryRequest, HttpDelivery } from '../../src/ports/http-delivery.js';
import type { Milliseconds } from '../../src/shared/duration.js';
import type { Instant } from '../../src/shared/instant.js';
import { remembered } from '../../src/shared/remembered.js';
import { ConnectionPool, connectionTable, type PoolSettings } from './connection-pool.js';
import type { FaultType } from './delivery-fault.js';
import { Exchange, type Outcome } from './exchange.js';
import { guardedConnector } from './guarded-connector.js';
import type { Resolver } from './name-resolver.js';
import { type AllowedDestinations, destinationFrom, longestUrl, outboundGuard } from './outbound-guard.js';
import type { ProxySettings } from './outbound-proxy.js';

/** The allowed destinations, and the connection options. */
export interface UndiciDeliverySettings {
  /** Destinations that are allowed although they are not public. None when absent. */
  readonly allow?: AllowedDestinations;
  /** Ports that are never connected to, for example 22 and 25. None when absent. */
  readonly forbiddenPorts?: readonly number[];
  /** Refuses http: URLs. Off when absent. */
  readonly httpsOnly?: boolean;
  /**
   * Maximum concurrent connections to one host, 1 to 64; further requests of all callers wait. Default: unlimited, because the engine
   * has fair limits for each configuration and each origin.
   */
  readonly socketsPerHost?: number;
  /** How long an idle connection is kept, unless the server announces a shorter time. 4 s when absent. */
  readonly keepAlive?: Milliseconds;
  /** Additional trusted certificate authorities (PEM). Certificates are always verified. */
  readonly ca?: string | readonly string[];
  /** The name resolver; default: `nameResolver()`. The guard checks its answers, too. */
  readonly lookup?: Resolver;
  /** The proxy that requests are sent through, with the CONNECT method; directly when absent. */
  readonly proxy?: ProxySettings;
  /** The end of refusal messages: what the operator can change. Default: the settings of this adapter. */
  readonly hint?: string;
  /** The clock of the timing's start; the host's clock when absent. */
  readonly now?: () => Instant;
}

const settingTable: OptionTable<UndiciDeliverySettings> = {
  ...connectionTable,
  socketsPerHost: optional(amount),
  keepAlive: optional(amount),
  now: optional(callable),
};

/**
 * Delivery over undici 7, which is loaded at the first request. The outbound guard checks every connection when it is made,
 * redirects are never followed, and time and size of an answer are limited. Throws a
 * TypeError for invalid settings.
 */
export function undiciDelivery(settings: UndiciDeliverySettings = {}): HttpDelivery {
  checkOptions('undiciDelivery', settings, settingTable);
  const limits = checkedLimits(settings);
  const guard = outboundGuard(settings.allow, settings.hint);
  const rules = { ...settings, guard };
  // Destinations are used many times.
  const destinationOf = remembered((text) => destinationFrom(text, rules), 1000, longestUrl);
  const now = settings.now ?? Date.now;
  const connector = guardedConnector(rules);
  let pool: ConnectionPool | null = null;
  let loading: Promise<ConnectionPool> | null = null;
  let closed = false;

  const load = async (): Promise<ConnectionPool> => {
    const { Client } = await import('undici');
    pool = new ConnectionPool({ makeClient: (origin, options) => new Client(origin, options), connector, ...limits });
    return pool;
  };

  const begin = (request: DeliveryRequest, settle: (outcome: Outcome) => void): void => {
    const startedAt = now();
    const refuse = (type: FaultType, message: string): void => {
      settle(err({ type, message, address: null, timing: { startedAt, headersAfter: null, total: 0 } }));
    };
    const target = destinationOf(request.url);
    if ('type' in target) {
      refuse(target.type, target.message);
      return;
    }
    if (closed || request.signal?.aborted === true) {
      refuse('aborted', `${target.label}: the attempt was cancelled before it began`);
      return;
    }
    const exchange = new Exchange(request, target, startedAt, settle);
    if (pool !== null) {
      pool.enter(exchange);
      return;
    }
    loading ??= load();
    loading.then(
      (loaded) => {
        if (!exchange.settled) loaded.enter(exchange);
      },
      () => exchange.fail({ type: 'connect_failed', message: 'the HTTP client (undici 7) could not be loaded' }),
    );
  };

  return {
    send: (request) => new ResultAsync(new Promise<Outcome>((settle) => begin(request, settle))),
    check: (text) => {
      const target = destinationOf(text);
      return 'type' in target ? { allowed: false, message: target.message } : { allowed: true };
    },
    close: async () => {
      closed = true;
      // Exchanges with a connection, or that get one within a second, still receive their answer.
      if (loading !== null) await (await loading.catch(() => null))?.close();
    },
  };
}

function checkedLimits({
  socketsPerHost = Number.POSITIVE_INFINITY,
  keepAlive = 4000,
}: UndiciDeliverySettings): Pick<PoolSettings, 'socketsPerOrigin' | 'keepAlive'> {
  const unlimited = socketsPerHost === Number.POSITIVE_INFINITY;
  if (!unlimited && !(Number.isInteger(socketsPerHost) && socketsPerHost >= 1 && socketsPerHost <= 64)) {
    throw new TypeError(`socketsPerHost is ${socketsPerHost}, but must be a whole number from 1 to 64`);
  }
  if (!(keepAlive >= 1)) throw new TypeError(`keepAlive is ${keepAlive}, but must be at least 1 ms`);
  return { socketsPerOrigin: socketsPerHost, keepAlive };
}
