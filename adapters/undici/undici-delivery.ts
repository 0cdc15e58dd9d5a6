import { err, ResultAsync } from 'neverthrow';
import { checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { amount, callable, optional } from '../../src/options/option-kinds.js';
import type { DeliveryRequest, HttpDelivery } from '../../src/ports/http-delivery.js';
import type { Milliseconds } from '../../src/shared/duration.js';
import type { Instant } from '../../src/shared/instant.js';
import { connectionTable } from './connection-options.js';
import { type ConnectionPool, connectionPool, type PoolSettings } from './connection-pool.js';
import type { FaultType } from './delivery-fault.js';
import { type DeliveryUrl, deliveryUrlFromText } from './delivery-url.js';
import { Exchange, type Outcome } from './exchange.js';
import { type GuardedConnector, guardedConnector } from './guarded-connector.js';
import type { Resolver } from './name-resolver.js';
import { type AllowedDestinations, type OutboundGuard, outboundGuard } from './outbound-guard.js';
import { outboundProxy, type ProxySettings } from './outbound-proxy.js';

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

interface Refusal {
  readonly type: FaultType;
  readonly message: string;
}

type Destination =
  | { readonly target: DeliveryUrl; readonly refusal: null }
  | { readonly target: null; readonly refusal: Refusal };

const settingTable: OptionTable<UndiciDeliverySettings> = {
  ...connectionTable,
  socketsPerHost: optional(amount),
  keepAlive: optional(amount),
  now: optional(callable),
};

const mostDestinations = 1000;

/**
 * Delivery over undici 7, which is loaded at the first request. The outbound guard checks every connection when it is made,
 * redirects are never followed, and time and size of an answer are limited. Throws a
 * TypeError for invalid settings.
 */
export function undiciDelivery(settings: UndiciDeliverySettings = {}): HttpDelivery {
  checkOptions('undiciDelivery', settings, settingTable);
  const limits = checkedLimits(settings);
  const guard = outboundGuard(settings.allow, settings.hint);
  const destinationOf = destinationsJudgedBy(settings, guard);
  const now = settings.now ?? Date.now;
  const connector = connectorOf(settings, guard);
  let pool: ConnectionPool | null = null;
  let loading: Promise<ConnectionPool> | null = null;
  let closed = false;

  const load = async (): Promise<ConnectionPool> => {
    const { Client } = await import('undici');
    pool = connectionPool({ makeClient: (origin, options) => new Client(origin, options), connector, ...limits });
    return pool;
  };

  const begin = (request: DeliveryRequest, settle: (outcome: Outcome) => void): void => {
    const startedAt = now();
    const refuse = (type: FaultType, message: string): void => {
      settle(err({ type, message, address: null, timing: { startedAt, headersAfter: null, total: 0 } }));
    };
    const { target, refusal } = destinationOf(request.url);
    if (target === null) {
      refuse(refusal.type, refusal.message);
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
      const { target, refusal } = destinationOf(text);
      return target === null ? { allowed: false, message: refusal.message } : { allowed: true };
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

function connectorOf({ ca, lookup, proxy }: UndiciDeliverySettings, guard: OutboundGuard): GuardedConnector {
  return guardedConnector({
    guard,
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? [ca] : ca }),
    ...(lookup === undefined ? {} : { resolve: lookup }),
    ...(proxy === undefined ? {} : { proxy: outboundProxy(proxy) }),
  });
}

/** Caches the checks of a URL alone, because destinations are used many times. */
function destinationsJudgedBy(settings: UndiciDeliverySettings, guard: OutboundGuard): (text: string) => Destination {
  const forbiddenPorts = new Set(settings.forbiddenPorts ?? []);

  const refusalOf = (target: DeliveryUrl): Refusal | null => {
    if (settings.httpsOnly === true && target.url.protocol !== 'https:') {
      return { type: 'invalid_url', message: 'the URL must begin with https://' };
    }
    if (forbiddenPorts.size > 0) {
      const port = Number(target.url.port || (target.url.protocol === 'https:' ? 443 : 80));
      if (forbiddenPorts.has(port))
        return { type: 'address_forbidden', message: `port ${port} is forbidden (forbiddenPorts)` };
    }
    const message = guard.judgeHost(target.url.hostname);
    return message === null ? null : { type: 'address_forbidden', message };
  };

  const destinations = new Map<string, Destination>();
  return (text) => {
    const known = destinations.get(text);
    if (known !== undefined) return known;
    const target = deliveryUrlFromText(text);
    const destination: Destination =
      typeof target === 'string'
        ? { target: null, refusal: { type: 'invalid_url', message: target } }
        : judged(target, refusalOf(target));
    if (destinations.size >= mostDestinations) destinations.clear();
    destinations.set(text, destination);
    return destination;
  };
}

function judged(target: DeliveryUrl, refusal: Refusal | null): Destination {
  if (refusal === null) return { target, refusal };
  return { target: null, refusal: { type: refusal.type, message: `${target.label}: ${refusal.message}` } };
}
