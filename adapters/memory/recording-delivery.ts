import { setMaxListeners } from 'node:events';
import { err, errAsync, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { checkOptions } from '../../src/options/check-options.js';
import { anything, callable, clock as clockKind, optional } from '../../src/options/option-kinds.js';
import type { Clock } from '../../src/ports/clock.js';
import type {
  DeliveryError,
  DeliveryRequest,
  DeliveryResponse,
  DeliveryTiming,
  HttpDelivery,
} from '../../src/ports/http-delivery.js';
import type { MailError, Mailer, MailMessage } from '../../src/ports/mailer.js';
import type { Milliseconds } from '../../src/shared/duration.js';
import { heldSignal } from '../../src/shared/held-signal.js';
import type { Instant } from '../../src/shared/instant.js';

/** How the simulated destination answers one request. */
export type ScriptedAnswer =
  | {
      readonly status: number;
      /** None when absent. */
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
      /** Empty when absent. */
      readonly body?: string;
      /** How long it takes on the given clock. */
      readonly after?: Milliseconds;
    }
  /** Fails without an answer. */
  | { readonly error: DeliveryError['type']; readonly message?: string; readonly after?: Milliseconds }
  /** Never answers: the total timeout or the signal ends the request. */
  | { readonly hang: true };

/** One answer for all requests, or a function of the request and its number from 1; a promise delays the answer. */
export type AnswerScript =
  | ScriptedAnswer
  | ((request: DeliveryRequest, n: number) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** Options of a recording delivery. */
export interface RecordingDeliveryOptions {
  /** 204 without a body when absent. */
  readonly answer?: AnswerScript;
  /** The clock for `after`, timeouts and timing. Without one, no time passes and every start is 0. */
  readonly clock?: Clock;
  /** Returns the message of a refusal, or null to allow the URL. URLs other than http: and https: are always refused. */
  readonly refuse?: (url: URL) => string | null;
}

/** A request that a recording delivery received. */
export interface RecordedRequest extends DeliveryRequest {
  /** When it was sent, by the given clock. */
  readonly sentAt: Instant;
}

/** A delivery without a network: it records requests and answers them by a script. */
export interface RecordingDelivery extends HttpDelivery {
  /** All requests that were allowed, in order. */
  readonly requests: readonly RecordedRequest[];
  /** Replaces the script from now on. */
  answer(script: AnswerScript): void;
  /** Removes the recorded requests; their numbers continue. */
  clear(): void;
}

/**
 * A delivery without a network: records the requests and returns the answers of a script. The limits of each request (timeouts on
 * the given clock, maximum body and headers, signal) apply as in the real adapter.
 */
export function recordingDelivery(options: RecordingDeliveryOptions = {}): RecordingDelivery {
  checkOptions<RecordingDeliveryOptions>('recordingDelivery', options, {
    answer: optional(anything),
    clock: optional(clockKind),
    refuse: optional(callable),
  });
  const { clock } = options;
  const requests: RecordedRequest[] = [];
  let script: AnswerScript = options.answer ?? { status: 204 };
  let sent = 0;
  const closing = new AbortController();
  // One listener for each request in progress.
  setMaxListeners(0, closing.signal);

  const play = async (request: DeliveryRequest): Promise<Result<DeliveryResponse, DeliveryError>> => {
    const timing = timingOn(clock);
    const failed = ({ type, message }: Failing): Result<DeliveryResponse, DeliveryError> =>
      err({ type, message: `${hostOf(request.url)}: ${message}`, address: null, timing: timing(false) });

    const refusal = refusalOf(request.url, options.refuse);
    if (refusal !== null) return failed(refusal);
    const stop =
      request.signal === undefined ? closing.signal : AbortSignal.any([closing.signal, heldSignal(request.signal)]);
    if (stop.aborted) return failed(ended);
    sent += 1;
    requests.push({ ...request, sentAt: timing(false).startedAt });

    const given = typeof script === 'function' ? script(request, sent) : script;
    const answer = given instanceof Promise ? await orAborted(given, stop) : given;
    if (answer === null) return failed(ended);
    const waited = await waitFor(answer, request, clock, stop);
    if (waited !== null || 'hang' in answer) return failed(waited ?? tooLate(request));
    if ('error' in answer) return failed({ type: answer.error, message: answer.message ?? `scripted ${answer.error}` });
    return ok({ ...cappedResponse(answer, request), address: '192.0.2.1', timing: timing(true) });
  };

  return {
    send: (request) => new ResultAsync(play(request)),
    check: (url) => {
      const refusal = refusalOf(url, options.refuse);
      return refusal === null ? { allowed: true } : { allowed: false, message: refusal.message };
    },
    close: async () => closing.abort(),
    requests,
    answer: (next) => {
      script = next;
    },
    clear: () => {
      requests.length = 0;
    },
  };
}

type Failing = Pick<DeliveryError, 'type' | 'message'>;

const ended: Failing = { type: 'aborted', message: 'the attempt was cancelled' };

function tooLate({ totalTimeout }: DeliveryRequest): Failing {
  return { type: 'total_timeout', message: `no answer within ${totalTimeout} ms` };
}

/** The timing of a delivery that begins now. */
function timingOn(clock: RecordingDeliveryOptions['clock']): (headersCame: boolean) => DeliveryTiming {
  const startedAt = clock?.now() ?? 0;
  const began = clock?.monotonic() ?? 0;
  return (headersCame) => {
    const total = (clock?.monotonic() ?? 0) - began;
    return { startedAt, headersAfter: headersCame ? total : null, total };
  };
}

function refusalOf(url: string, refuse: RecordingDeliveryOptions['refuse']): Failing | null {
  if (!URL.canParse(url)) return { type: 'invalid_url', message: 'the URL is not absolute' };
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return { type: 'invalid_url', message: 'the URL must begin with http:// or https://' };
  }
  const message = refuse?.(parsed) ?? null;
  return message === null ? null : { type: 'address_forbidden', message };
}

/** The part of a scripted response within the limits of the request. */
function cappedResponse(
  answer: Extract<ScriptedAnswer, { status: number }>,
  { maximumResponseBytes }: DeliveryRequest,
): Pick<DeliveryResponse, 'status' | 'headers' | 'body' | 'truncated'> {
  const headers = cappedHeaders(answer.headers ?? {});
  return { status: answer.status, headers, ...cappedBody(answer.body ?? '', maximumResponseBytes) };
}

/** Waits for the answer; returns the fault if it does not arrive. */
async function waitFor(
  answer: ScriptedAnswer,
  request: DeliveryRequest,
  clock: RecordingDeliveryOptions['clock'],
  stop: AbortSignal,
): Promise<Failing | null> {
  const hangs = 'hang' in answer;
  const after = hangs ? Number.POSITIVE_INFINITY : (answer.after ?? 0);
  await clock?.sleep(Math.min(after, request.totalTimeout), stop);
  // Without a clock only the caller's own signal can end the wait.
  if (clock === undefined && hangs && request.signal !== undefined) await orAborted(new Promise(() => {}), stop);
  if (stop.aborted) return ended;
  return after >= request.totalTimeout ? tooLate(request) : null;
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(null);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** At most 100 values and 16 KiB of names and values. */
function cappedHeaders(given: Readonly<Record<string, string | readonly string[]>>): Record<string, readonly string[]> {
  const headers: Record<string, string[]> = {};
  let values = 0;
  let bytes = 0;
  for (const [name, value] of Object.entries(given)) {
    for (const each of typeof value === 'string' ? [value] : value) {
      values += 1;
      bytes += name.length + each.length;
      if (values > 100 || bytes > 16_384) return headers;
      const list = headers[name.toLowerCase()] ?? [];
      list.push(each);
      headers[name.toLowerCase()] = list;
    }
  }
  return headers;
}

function cappedBody(body: string, bytes: number): { body: string; truncated: boolean } {
  const encoded = Buffer.from(body, 'utf8');
  if (encoded.length <= bytes) return { body, truncated: false };
  let end = bytes;
  // Step back from within a character: the bytes after its first are 10xxxxxx.
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return { body: encoded.toString('utf8', 0, end), truncated: true };
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) return 'the URL';
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** Which messages a recording mailer refuses. */
export interface RecordingMailerOptions {
  /** The error for the n-th message (from 1), null for none. */
  readonly fail?: (message: MailMessage, n: number) => MailError | null;
}

/** A mailer without a server: it records messages. */
export interface RecordingMailer extends Mailer {
  /** All messages that were accepted, in order. */
  readonly messages: readonly MailMessage[];
}

/** A mailer without a mail server: records the messages and numbers them (`<1@mail.test>`). */
export function recordingMailer(options: RecordingMailerOptions = {}): RecordingMailer {
  const messages: MailMessage[] = [];
  let tried = 0;
  let closed = false;
  return {
    send: (message) => {
      if (closed) return errAsync({ type: 'mail_unavailable', message: 'the mailer is closed' });
      tried += 1;
      const error = options.fail?.(message, tried) ?? null;
      if (error !== null) return errAsync(error);
      messages.push(message);
      return okAsync({ messageId: message.headers['message-id'] ?? `<${tried}@mail.test>` });
    },
    close: async () => {
      closed = true;
    },
    messages,
  };
}
