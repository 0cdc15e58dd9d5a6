import { lookup as lookUp } from 'node:dns/promises';
import { connect as connectSocket, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectSecurely, createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import type { Milliseconds } from '../../src/shared/duration.js';
import { faultError, faultFromError, type Phase } from './delivery-fault.js';
import { bareHost, type OutboundGuard } from './outbound-guard.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name. A failure is a rejection. */
export type Resolver = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export interface ConnectTarget {
  readonly protocol: string;
  /** Without the brackets of IPv6. */
  readonly hostname: string;
  readonly port: string;
}

/**
 * Opens a socket, with TLS for https:, that stands when `done` is called without an error. The socket is returned at once,
 * so that it can be destroyed while it is being opened; null when it was refused before there was any.
 */
export type GuardedConnector = (
  target: ConnectTarget,
  timeout: Milliseconds,
  done: (error: Error | null, socket: Socket | null) => void,
) => Socket | null;

export interface ConnectorSettings {
  readonly guard: OutboundGuard;
  /** Authorities (PEM) trusted beside the usual ones. */
  readonly ca?: readonly string[];
  /** The operating system's resolver when absent. */
  readonly resolve?: Resolver;
}

/**
 * How long one address of several may take before the next is tried. Node's 250 ms gives up on hosts that are merely far
 * away, since it does not come back to an address.
 */
const attemptTimeout: Milliseconds = 1500;

/**
 * A connector that asks the guard where the connection is made, not before: about a literal before any socket exists
 * (resolvers are not called for those), about every address of a name between resolving and connecting, and about the
 * address that was reached in the end. So there is no moment in which a name can change its mind.
 */
export function guardedConnector(settings: ConnectorSettings): GuardedConnector {
  const { guard } = settings;
  const resolve = settings.resolve ?? systemResolver;
  const secureContext = lazily(() => contextOf(settings.ca ?? []));

  return (target, timeout, done) => {
    const refusal = guard.judgeHost(target.hostname);
    if (refusal !== null) {
      process.nextTick(done, faultError('address_forbidden', refusal), null);
      return null;
    }
    const secure = target.protocol === 'https:';
    const host = target.hostname;
    const options = {
      host,
      port: Number(target.port === '' ? (secure ? 443 : 80) : target.port),
      lookup: guardedLookup(guard, resolve),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: attemptTimeout,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
    };
    const socket: Socket = secure
      ? connectSecurely({
          ...options,
          ...(isIP(host) === 0 ? { servername: bareHost(host) } : {}),
          secureContext: secureContext(),
          ALPNProtocols: ['http/1.1'],
          // By name: an environment variable must not be able to switch it off.
          rejectUnauthorized: true,
        })
      : connectSocket(options);

    let phase: Phase = 'connecting';
    let finished = false;
    const finish = (error: Error | null): void => {
      if (finished) return;
      finished = true;
      clearTimeout(timer);
      if (error !== null) socket.destroy();
      done(error, error === null ? socket : null);
    };
    const timer = setTimeout(
      () => finish(faultError('connect_timeout', `no connection within ${timeout} ms`)),
      timeout,
    );
    const stands = (): void => {
      const reached = socket.remoteAddress;
      if (reached === undefined) {
        finish(faultError('connect_failed', 'the connection was closed as soon as it was made'));
        return;
      }
      const forbidden = guard.judge(host, reached);
      finish(forbidden === null ? null : faultError('address_forbidden', forbidden));
    };
    socket.on('connect', () => {
      if (secure) phase = 'handshaking';
      else stands();
    });
    if (secure) socket.on('secureConnect', stands);
    const failed = (error?: Error): void => {
      if (finished) return;
      const fault = faultFromError(error ?? { code: 'ECONNRESET' }, phase);
      finish(faultError(fault.type, fault.message));
    };
    // Stays for the socket's life, since a destroyed socket may still emit an error. The client adds its own.
    socket.on('error', failed);
    socket.on('close', () => failed());
    return socket;
  };
}

function guardedLookup(guard: OutboundGuard, resolve: Resolver): LookupFunction {
  return (hostname, options, callback) => {
    void judgedAddresses(guard, resolve, hostname).then((judged) => {
      if (judged instanceof Error) callback(judged, '', 4);
      else if (options.all === true) callback(null, [...judged]);
      else callback(null, judged[0].address, judged[0].family);
    });
  };
}

/** The addresses of a name, all of them allowed, else the error to fail with. Never rejects. */
async function judgedAddresses(
  guard: OutboundGuard,
  resolve: Resolver,
  hostname: string,
): Promise<readonly [ResolvedAddress, ...ResolvedAddress[]] | Error> {
  try {
    const [first, ...others] = await resolve(hostname);
    if (first === undefined) return faultError('name_not_resolved', 'the name has no address');
    // One forbidden address among others is a trap or a mistake; neither is to be sent to.
    for (const { address } of [first, ...others]) {
      const refusal = guard.judge(hostname, address);
      if (refusal !== null) return faultError('address_forbidden', refusal);
    }
    return [first, ...others];
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
    return faultError('name_not_resolved', `the name could not be resolved${code}`);
  }
}

const systemResolver: Resolver = async (hostname) => {
  const addresses = await lookUp(hostname, { all: true, verbatim: true });
  return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/** One context for all connections: building one reads the whole list of authorities. */
function contextOf(ca: readonly string[]): SecureContext {
  return createSecureContext(ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] });
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
