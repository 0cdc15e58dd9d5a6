import { X509Certificate } from 'node:crypto';
import { connect as connectSocket, isIP, type LookupFunction, type Socket } from 'node:net';
import {
  connect as connectSecurely,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import type { ClientCertificate } from '../../src/ports/http-delivery.js';
import { type Milliseconds, timerOf } from '../../src/shared/duration.js';
import { faultError, faultFromError, type Phase } from './delivery-fault.js';
import { nameResolver, type ResolvedAddress, type Resolver } from './name-resolver.js';
import { bareHost, type OutboundGuard } from './outbound-guard.js';
import { type OutboundProxy, openTunnel, outboundProxy, type ProxySettings } from './outbound-proxy.js';

export interface ConnectTarget {
  readonly protocol: string;
  /** Without the brackets of IPv6. */
  readonly hostname: string;
  readonly port: string;
}

interface ConnectOptions {
  /** For the name, the connection and TLS together. */
  readonly timeout: Milliseconds;
  /** The owner of the connection; see `ResolveOptions`. */
  readonly partition: string;
  readonly clientCertificate: ClientCertificate | null;
}

/**
 * Opens a socket, with TLS for https:. It is connected when `done` is called without an error. The returned function cancels
 * the connection attempt, and later closes the socket.
 */
export type GuardedConnector = (
  target: ConnectTarget,
  options: ConnectOptions,
  done: (error: Error | null, socket: Socket | null) => void,
) => () => void;

interface ConnectorSettings {
  readonly guard: OutboundGuard;
  /** Authorities (PEM) trusted beside the usual ones. */
  readonly ca?: string | readonly string[] | undefined;
  /** `nameResolver()` when absent. */
  readonly lookup?: Resolver | undefined;
  /** The proxy for connections; direct when absent. */
  readonly proxy?: ProxySettings | undefined;
}

/**
 * How long one address of several may take before the next is tried. Node's 250 ms is too short for distant hosts, since an
 * address is not tried twice.
 */
const attemptTimeout: Milliseconds = 1500;

/**
 * A connector that applies the guard where the connection is made: to a literal before any socket exists (resolvers are not
 * called for literals), to every address of a name between resolving and connecting, and to the address that was reached. A
 * name therefore cannot change between check and use.
 */
export function guardedConnector(settings: ConnectorSettings): GuardedConnector {
  const { guard, ca = [], lookup = nameResolver() } = settings;
  const proxy = settings.proxy === undefined ? null : outboundProxy(settings.proxy);
  const contexts = secureContexts((typeof ca === 'string' ? [ca] : ca).map(checkedAuthorities));

  return (target, options, done) => {
    const refusal = guard.judgeHost(target.hostname);
    if (refusal !== null) {
      process.nextTick(done, faultError('address_forbidden', refusal), null);
      return () => undefined;
    }
    const context = target.protocol === 'https:' ? contexts(options.clientCertificate) : null;
    if (context instanceof Error) {
      process.nextTick(done, context, null);
      return () => undefined;
    }
    const ending = new AbortController();
    const attempt: Attempt = { guard, target, options, signal: ending.signal, context };
    if (!proxy?.serves(target.hostname)) return settle(attempt, directly(attempt, lookup), ending, done);
    const proxyContext = proxy.secure ? contexts(null) : null;
    if (proxyContext instanceof Error) {
      process.nextTick(done, proxyContext, null);
      return () => undefined;
    }
    return settle(attempt, throughProxy(attempt, proxy, proxyContext), ending, done);
  };
}

interface Attempt {
  readonly guard: OutboundGuard;
  readonly target: ConnectTarget;
  readonly options: ConnectOptions;
  /** Aborts when the attempt has ended without a connection. */
  readonly signal: AbortSignal;
  /** Null without TLS. */
  readonly context: SecureContext | null;
}

/** A socket that is being connected. */
interface Opening {
  /** Null until it exists. */
  socket(): Socket | null;
  /** Called once, when the socket is connected (with TLS, if any) or with the reason of the failure. */
  onEnd(ended: (error: unknown, phase: Phase) => void): void;
  /** The error after this many milliseconds without a connection. */
  lateness(timeout: Milliseconds): Error;
}

/** One deadline for everything, and one outcome. */
function settle(
  { options, guard, target }: Attempt,
  opening: Opening,
  ending: AbortController,
  done: Parameters<GuardedConnector>[2],
): () => void {
  let finished = false;
  const finish = (error: Error | null): void => {
    if (finished) return;
    finished = true;
    clearTimeout(timer);
    const socket = opening.socket();
    if (error !== null) {
      ending.abort();
      socket?.destroy();
    }
    done(error, error === null ? socket : null);
  };
  const timer = setTimeout(() => finish(opening.lateness(options.timeout)), timerOf(options.timeout));
  opening.onEnd((error, phase) => {
    if (error !== null) {
      const fault = faultFromError(error, phase);
      finish(faultError(fault.type, fault.message));
      return;
    }
    const reached = opening.socket()?.remoteAddress;
    if (reached === undefined) {
      finish(faultError('connect_failed', 'the connection was closed as soon as it was made'));
      return;
    }
    const forbidden = phase === 'tunnelled' ? null : guard.judge(target.hostname, reached);
    finish(forbidden === null ? null : faultError('address_forbidden', forbidden));
  });
  return () => {
    finish(faultError('aborted', 'the attempt was cancelled'));
    opening.socket()?.destroy();
  };
}

/** To one of the addresses of the name, each of which the guard has allowed. */
function directly(attempt: Attempt, resolve: Resolver): Opening {
  const { target, options, signal, guard } = attempt;
  const secure = target.protocol === 'https:';
  const connection = {
    host: target.hostname,
    port: portOf(target),
    lookup: guardedLookup(guard, (name) => resolve(name, { signal, partition: options.partition })),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeout,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  };
  const socket: Socket = secure
    ? connectSecurely({ ...connection, ...tlsOptions(attempt) })
    : connectSocket(connection);
  return {
    socket: () => socket,
    lateness: noConnectionWithin,
    onEnd: (ended) => {
      let phase: Phase = 'connecting';
      socket.on('connect', () => {
        if (secure) phase = 'handshaking';
        else ended(null, phase);
      });
      if (secure) socket.on('secureConnect', () => ended(null, phase));
      // Both listeners are never removed, since a destroyed socket may still emit an error. The client adds its own.
      socket.on('error', (error) => ended(error, phase));
      socket.on('close', () => ended({ code: 'ECONNRESET' }, phase));
    },
  };
}

/** Through a tunnel. The proxy resolves names. */
function throughProxy(attempt: Attempt, proxy: OutboundProxy, secureContext: SecureContext | null): Opening {
  const { target, signal } = attempt;
  let socket: Socket | null = null;
  let reached = false;
  const onReached = (): void => {
    reached = true;
  };
  return {
    socket: () => socket,
    lateness: (timeout) =>
      reached
        ? noConnectionWithin(timeout)
        : faultError('proxy_failed', `the outbound proxy could not be reached within ${timeout} ms`),
    onEnd: (ended) => {
      openTunnel(proxy, { host: target.hostname, port: portOf(target), signal, secureContext, onReached }).then(
        (tunnel) => {
          socket = target.protocol === 'https:' ? connectSecurely({ socket: tunnel, ...tlsOptions(attempt) }) : tunnel;
          socket.on('error', (error) => ended(error, 'handshaking'));
          socket.on('close', () => ended({ code: 'ECONNRESET' }, 'handshaking'));
          if (socket === tunnel) ended(null, 'tunnelled');
          else socket.on('secureConnect', () => ended(null, 'tunnelled'));
        },
        (error: unknown) => ended(error, 'connecting'),
      );
    },
  };
}

function noConnectionWithin(timeout: Milliseconds): Error {
  return faultError('connect_timeout', `no connection within ${timeout} ms`);
}

function tlsOptions({ target, context }: Attempt) {
  return {
    ...(isIP(target.hostname) === 0 ? { servername: bareHost(target.hostname) } : {}),
    ...(context === null ? {} : { secureContext: context }),
    ALPNProtocols: ['http/1.1'],
    // Set explicitly, so that an environment variable cannot switch it off.
    rejectUnauthorized: true,
  };
}

function portOf({ port, protocol }: ConnectTarget): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

function guardedLookup(guard: OutboundGuard, resolve: Lookup): LookupFunction {
  return (hostname, options, callback) => {
    void judgedAddresses(guard, resolve, hostname).then((judged) => {
      if (judged instanceof Error) callback(judged, '', 4);
      else if (options.all === true) callback(null, [...judged]);
      else callback(null, judged[0].address, judged[0].family);
    });
  };
}

/**
 * The addresses of a name to connect to, all of them allowed, else the error to fail with. Never rejects.
 *
 * A name with a forbidden address beside public ones is an attack or a mistake: nothing is sent to it. If the host application
 * has listed some of the addresses (`localhost` is `127.0.0.1` and `::1`), only the listed ones are used.
 */
async function judgedAddresses(
  guard: OutboundGuard,
  resolve: Lookup,
  hostname: string,
): Promise<readonly [ResolvedAddress, ...ResolvedAddress[]] | Error> {
  try {
    const resolved = await resolve(hostname);
    const refusals = resolved.map(({ address }) => guard.judge(hostname, address));
    const refusal = refusals.find((each) => each !== null);
    const [first, ...others] =
      refusal === undefined ? resolved : resolved.filter(({ address }) => guard.isListed(address));
    if (first !== undefined) return [first, ...others];
    return refusal === undefined || refusal === null
      ? faultError('name_not_resolved', 'the name has no address')
      : faultError('address_forbidden', refusal);
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
    return faultError('name_not_resolved', `the name could not be resolved${code}`);
  }
}

/** The certificates in PEM. Throws a TypeError if there is none or one is unreadable, which Node would ignore. */
function checkedAuthorities(text: string): string {
  const found = text.match(/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*/g) ?? [];
  if (found.length === 0) throw new TypeError('ca contains no PEM certificate');
  for (const [at, begin] of found.entries()) {
    const label = /-----BEGIN (.*?)-----/.exec(begin)?.[1] ?? '';
    try {
      new X509Certificate(`${begin}-----END ${label}-----\n`);
    } catch {
      throw new TypeError(`certificate ${at + 1} of ca is not a valid certificate`);
    }
  }
  return text;
}

const mostContexts = 100;

/**
 * One context for all connections with the same certificate: building one reads the whole list of authorities. An error for
 * a certificate or key that cannot be used.
 */
function secureContexts(ca: readonly string[]): (certificate: ClientCertificate | null) => SecureContext | Error {
  const made = new Map<string, SecureContext>();
  const trusted = ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] };
  return (certificate) => {
    const name = certificate === null ? '' : `${certificate.certificate}\n${certificate.key}`;
    const known = made.get(name);
    if (known !== undefined) return known;
    const own = certificate === null ? {} : { cert: certificate.certificate, key: certificate.key };
    const context = contextOf({ ...trusted, ...own });
    if (context instanceof Error) return context;
    if (made.size >= mostContexts) made.clear();
    made.set(name, context);
    return context;
  };
}

function contextOf(options: SecureContextOptions): SecureContext | Error {
  try {
    return createSecureContext(options);
  } catch {
    return faultError('tls_failed', 'invalid client certificate or key: both must be PEM and belong together');
  }
}
