import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { connect as connectSecurely, type SecureContext } from 'node:tls';
import { faultError } from './delivery-fault.js';
import { bareHost } from './outbound-guard.js';

/** A proxy for requests to destinations. */
export interface ProxySettings {
  /** `http://user:password@proxy.corp.example:3128`, or https: for a proxy that speaks TLS itself. */
  readonly url: string;
  /** Hosts that are connected to directly; `*.corp.example` means all names below it. */
  readonly except?: readonly string[];
}

export interface OutboundProxy {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The value of the proxy-authorization header; null without credentials. */
  readonly authorization: string | null;
  /** Whether connections to the host go through it. */
  serves(host: string): boolean;
}

/** The most bytes of a proxy's answer to a CONNECT request. */
const mostAnswerBytes = 16_384;

/** The proxy of the settings. Throws a TypeError for an invalid URL. */
export function outboundProxy({ url, except = [] }: ProxySettings): OutboundProxy {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new TypeError('proxy.url must be an http: or https: URL such as http://proxy.corp.example:3128');
  }
  const { username, password } = parsed;
  const secure = parsed.protocol === 'https:';
  const names = except.map((name) => name.toLowerCase());
  return {
    secure,
    host: bareHost(parsed.hostname),
    port: parsed.port === '' ? (secure ? 443 : 80) : Number(parsed.port),
    authorization: username === '' && password === '' ? null : `Basic ${login(username, password)}`,
    serves: (host) => {
      const bare = bareHost(host).toLowerCase();
      return !names.some((name) => (name.startsWith('*.') ? bare.endsWith(name.slice(1)) : bare === name));
    },
  };
}

function login(username: string, password: string): string {
  try {
    return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  } catch {
    throw new TypeError('the name and the password of proxy.url must be percent-encoded');
  }
}

interface TunnelOptions {
  readonly host: string;
  readonly port: number;
  /** Aborts when the attempt has ended without a connection. */
  readonly signal: AbortSignal;
  /** Used with a proxy that speaks TLS itself; null for the usual authorities. */
  readonly secureContext: SecureContext | null;
  /** Called when the proxy is connected (with TLS, if it uses it), before the CONNECT request. */
  readonly onReached: () => void;
}

/**
 * A connection to the target through the proxy. A failure on the way to the proxy or of the proxy itself is a `proxy_failed`,
 * which does not count against the destination. An answer of 403, 502 or 504 is a failure of the destination.
 */
export function openTunnel(proxy: OutboundProxy, target: TunnelOptions): Promise<Socket> {
  const { signal, onReached } = target;
  return new Promise((resolve, reject) => {
    const socket = connectTo(proxy, target.secureContext);
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const unreachable = (error?: Error): void => {
      const code = error !== undefined && 'code' in error ? ` (${String(error.code)})` : '';
      fail(faultError('proxy_failed', `the outbound proxy could not be reached${code}`));
    };
    signal.addEventListener('abort', () => fail(faultError('connect_timeout', 'no connection in time')), {
      once: true,
    });
    socket.once(proxy.secure ? 'secureConnect' : 'connect', () => {
      onReached();
      socket.write(connectRequest(proxy, target));
    });
    socket.on('error', unreachable);
    const ended = (): void => unreachable();
    socket.once('close', ended);
    let answer = Buffer.alloc(0);
    const read = (chunk: Buffer): void => {
      answer = Buffer.concat([answer, chunk]);
      const end = answer.indexOf('\r\n\r\n');
      if (end < 0) {
        if (answer.length > mostAnswerBytes) unreachable();
        return;
      }
      socket.off('data', read);
      socket.off('close', ended);
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer.toString('latin1'))?.[1] ?? 0);
      if (status < 200 || status > 299 || answer.length > end + 4) {
        fail(refusal(status));
        return;
      }
      socket.pause();
      resolve(socket);
    };
    socket.on('data', read);
  });
}

function connectTo({ host, port, secure }: OutboundProxy, secureContext: SecureContext | null): Socket {
  if (!secure) return connectSocket({ host, port, noDelay: true });
  return connectSecurely({
    host,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(secureContext === null ? {} : { secureContext }),
    // Set explicitly, so that an environment variable cannot disable it: the credentials are sent to this peer.
    rejectUnauthorized: true,
  });
}

function refusal(status: number): Error {
  if (status === 403 || status === 502 || status === 504) {
    return faultError('connect_failed', `the outbound proxy does not reach the destination (${status})`);
  }
  return faultError('proxy_failed', `the outbound proxy refused the connection (${status})`);
}

function connectRequest({ authorization }: OutboundProxy, { host, port }: { host: string; port: number }): string {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const login = authorization === null ? '' : `proxy-authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${login}\r\n`;
}
