import type { EventEmitter } from 'node:events';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Client, Dispatcher } from 'undici';
import { checkOptions } from '../../src/options/check-options.js';
import type { Download, DownloadError, DownloadRequest } from '../../src/ports/download.js';
import { timerOf } from '../../src/shared/duration.js';
import { heldSignal } from '../../src/shared/held-signal.js';
import { connectionTable } from './connection-pool.js';
import { type Fault, faultError, faultFromError } from './delivery-fault.js';
import { type GuardedConnector, guardedConnector } from './guarded-connector.js';
import { type DeliveryUrl, destinationFrom, outboundGuard } from './outbound-guard.js';
import type { UndiciDeliverySettings } from './undici-delivery.js';

/** The allowed sources of downloads, and the connection options. */
export type UndiciDownloadSettings = Pick<
  UndiciDeliverySettings,
  'allow' | 'forbiddenPorts' | 'httpsOnly' | 'ca' | 'lookup' | 'proxy' | 'hint'
>;

const mostRedirects = 10;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Downloads over undici 7, which is loaded at the first one. The outbound guard checks every connection when it is made, including
 * those of redirects. Throws a TypeError for invalid settings.
 */
export function undiciDownload(settings: UndiciDownloadSettings = {}): Download {
  checkOptions('undiciDownload', settings, connectionTable);
  const rules = { ...settings, guard: outboundGuard(settings.allow, settings.hint) };
  const connector = guardedConnector(rules);
  const destinationOf = (url: string): DeliveryUrl | Fault => destinationFrom(url, rules);
  return {
    fetch: (request, take) => new ResultAsync(fetchFile({ destinationOf, connector, request, take })),
  };
}

interface Fetching {
  readonly destinationOf: (url: string) => DeliveryUrl | Fault;
  readonly connector: GuardedConnector;
  readonly request: DownloadRequest;
  readonly take: (bytes: Uint8Array) => Promise<void>;
}

/** The result of one request: the file or a redirect. */
type Hop = { readonly bytes: number } | { readonly location: string };

async function fetchFile(fetching: Fetching): Promise<Result<number, DownloadError>> {
  const { request } = fetching;
  const deadline = AbortSignal.any([
    heldSignal(request.signal),
    heldSignal(AbortSignal.timeout(timerOf(request.totalTimeout))),
  ]);
  let target = fetching.destinationOf(request.url);
  const first = 'type' in target ? '' : target.origin;
  for (let redirected = 0; redirected <= mostRedirects; redirected += 1) {
    if ('type' in target) return failed(target.message, true);
    const hop = await oneHop(fetching, target, target.origin === first ? request.headers : {}, deadline);
    if (hop.isErr()) return err(hop.error);
    if ('bytes' in hop.value) return ok(hop.value.bytes);
    const next = nextTarget(target, hop.value.location, fetching.destinationOf);
    target = next;
  }
  return failed(`more than ${mostRedirects} redirects`, false);
}

function nextTarget(
  from: DeliveryUrl,
  location: string,
  destinationOf: Fetching['destinationOf'],
): DeliveryUrl | Fault {
  const invalid = (message: string): Fault => ({ type: 'invalid_url', message: `${from.label}: ${message}` });
  if (!URL.canParse(location, from.url.href)) return invalid('the redirect has an invalid URL');
  const next = destinationOf(new URL(location, from.url).href);
  const isDowngrade = from.url.protocol === 'https:' && !('type' in next) && next.url.protocol === 'http:';
  return isDowngrade ? invalid('a redirect from https: to http: is not followed') : next;
}

/** One request on a separate connection, which is closed whatever happens. */
async function oneHop(
  fetching: Fetching,
  target: DeliveryUrl,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Result<Hop, DownloadError>> {
  const { request } = fetching;
  const client = await clientFor(fetching, target);
  try {
    const answer = await client.request({ path: target.path, method: 'GET', headers: sent(headers, target), signal });
    const { statusCode, body } = answer;
    const location = answer.headers['location'];
    if (redirects.has(statusCode) && typeof location === 'string') {
      body.on('error', () => undefined).destroy();
      return ok({ location });
    }
    if (statusCode < 200 || statusCode > 299) {
      body.on('error', () => undefined).destroy();
      return failed(`${target.label}: the server answered with status ${statusCode}`, false);
    }
    return (await takeAll(body, request, fetching.take)).mapErr(({ message }) =>
      failure(`${target.label}: ${message}`, false),
    );
  } catch (error) {
    if (error instanceof StoringFailed) throw error.cause;
    return err(failureOf(error, target, request));
  } finally {
    client.destroy(null, () => undefined);
  }
}

async function clientFor({ connector, request }: Fetching, target: DeliveryUrl): Promise<Client> {
  const { Client } = await import('undici');
  const options = { timeout: request.connectTimeout, partition: 'downloads', clientCertificate: null };
  const client = new Client(target.origin, {
    pipelining: 1,
    allowH2: false,
    headersTimeout: request.idleTimeout,
    bodyTimeout: request.idleTimeout,
    connect: (target, done) => {
      connector(target, options, (error, socket) => {
        if (socket !== null) done(null, socket);
        else done(error ?? new Error('no connection'), null as never);
      });
    },
  });
  // An unhandled error event would end the process.
  const emitter: EventEmitter = client;
  emitter.on('error', () => undefined);
  return client;
}

function sent(headers: Readonly<Record<string, string>>, { authorization }: DeliveryUrl): Record<string, string> {
  const all: Record<string, string> = { 'accept-encoding': 'identity' };
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  if (authorization !== null) all['authorization'] ??= authorization;
  return all;
}

/** The consumer of the bytes failed, not the download. */
class StoringFailed extends Error {}

async function takeAll(
  body: Dispatcher.ResponseData['body'],
  { maximumBytes }: DownloadRequest,
  take: (bytes: Uint8Array) => Promise<void>,
): Promise<Result<{ readonly bytes: number }, { readonly message: string }>> {
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maximumBytes) return err({ message: `the file is larger than ${maximumBytes} bytes` });
    try {
      await take(chunk);
    } catch (cause) {
      throw new StoringFailed('the downloaded bytes could not be stored', { cause });
    }
  }
  return ok({ bytes });
}

function failureOf(error: unknown, { label }: DeliveryUrl, request: DownloadRequest): DownloadError {
  if (request.signal.aborted) return failure(`${label}: the download was cancelled`, false);
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError') return failure(`${label}: no complete answer within ${request.totalTimeout} ms`, false);
  if (name === 'HeadersTimeoutError' || name === 'BodyTimeoutError') {
    return failure(`${label}: the server sent nothing for ${request.idleTimeout} ms`, false);
  }
  const fault = faultFromError(error ?? faultError('connection_reset', 'the connection was closed'), 'exchanging');
  return failure(`${label}: ${fault.message}`, fault.type === 'address_forbidden' || fault.type === 'invalid_url');
}

function failure(message: string, isFinal: boolean): DownloadError {
  return { type: 'download_failed', message, isFinal };
}

function failed(message: string, isFinal: boolean): Result<never, DownloadError> {
  return err(failure(message, isFinal));
}
