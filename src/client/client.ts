import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import type { CallInput } from '../api/answers.js';
import type { Call } from '../api/call.js';
import type { ErrorOf, ErrorTag } from '../api/errors.js';
import { type Api, api, type NamedCall } from '../api/index.js';
import type { InputValues } from '../api/inputs.js';
import type { MessageSocket } from '../api/message-socket.js';
import { type Milliseconds, parseDurationNanos } from '../shared/duration.js';
import { badRequest, wrongInput } from './check-inputs.js';
import type { BadRequest, ClientError } from './client-error.js';
import { SignalboxError } from './or-throw.js';

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call: it returns the error `aborted`. */
  readonly signal?: AbortSignal;
}

/** Options of every read that can wait for a change. */
export interface WaitingOptions extends CallOptions {
  /** Wait until the answer's index is greater than this index of an earlier answer. */
  readonly index?: number;
  /** The longest wait, in milliseconds or as a string such as `60s`; default: 5 minutes. */
  readonly wait?: Milliseconds | string;
}

type InputsOf<C> = C extends Call<infer _K, infer I, infer _V, infer _A, infer _T, infer _P> ? InputValues<I> : never;
type ArgumentNamesOf<C> = C extends { readonly args: infer P extends readonly string[] } ? P : never;
type AnswerOf<C> = C extends Call<infer _K, infer _I, infer _V, infer A> ? A : never;
type TagsOf<C> = C extends { readonly errors: readonly (infer T)[] } ? Extract<T, ErrorTag> : never;
type KindOf<C> = C extends { readonly kind: infer K } ? K : never;

type ArgumentsOf<V, P extends readonly string[]> = P extends readonly [infer N, ...infer R extends readonly string[]]
  ? [N extends keyof V ? V[N] : never, ...ArgumentsOf<V, R>]
  : [];
type OptionsOf<C> = Omit<InputsOf<C>, ArgumentNamesOf<C>[number]> &
  (KindOf<C> extends 'waiting' ? WaitingOptions : CallOptions);
type OptionalLast<O> = Record<never, never> extends O ? [options?: O] : [options: O];

/** The arguments of a call: the inputs named by its row, then its options. */
type CallArguments<C> = [...ArgumentsOf<InputsOf<C>, ArgumentNamesOf<C>>, ...OptionalLast<OptionsOf<C>>];

/** The errors of a call: its refusals, missing rights, a store failure, and transport errors. */
type CallErrors<C> = ErrorOf<TagsOf<C> | 'permission_denied' | 'storage_failed' | 'unknown_region'> | ClientError;

/**
 * A method of the client. A stream throws a `SignalboxError` where it is read; a refused socket opens and then ends with the
 * refusal.
 */
type Method<C> =
  KindOf<C> extends 'stream'
    ? (...args: CallArguments<C>) => AsyncIterable<AnswerOf<C>>
    : KindOf<C> extends 'socket'
      ? (...args: CallArguments<C>) => ResultAsync<MessageSocket, ClientError>
      : (...args: CallArguments<C>) => ResultAsync<AnswerOf<C>, CallErrors<C>>;

/** Methods for the calls of a table, by area and name. */
type ClientOf<T> = { readonly [A in keyof T]: { readonly [M in keyof T[A]]: Method<T[A][M]> } };

/** The whole interface, the same in the engine's process and over HTTP. */
export type Client = ClientOf<Api>;

/** What a method passes to a transport in addition to the inputs. */
export interface TransportOptions {
  readonly signal: AbortSignal | undefined;
  /** How a read waits; absent for other calls, and for reads that do not wait. */
  readonly waiting: { readonly index: number; readonly wait: Milliseconds | undefined } | undefined;
}

/** How calls reach an engine. */
export interface Transport {
  answer(call: NamedCall, input: CallInput, options: TransportOptions): Promise<Result<unknown, TaggedError>>;
  /** Items as they arrive. Ends, or throws a `SignalboxError`. */
  stream(call: NamedCall, input: CallInput, options: TransportOptions): AsyncIterable<unknown>;
  open(call: NamedCall, input: CallInput, options: TransportOptions): Promise<Result<MessageSocket, TaggedError>>;
}

export interface TaggedError {
  readonly type: string;
}

type Table = Readonly<Record<string, Readonly<Record<string, Call>>>>;

/** The client of the interface over a transport. */
export function clientOver(transport: Transport): Client {
  return clientOfTable(api, transport);
}

/** The same for another table of calls. */
function clientOfTable<T extends Table>(table: T, transport: Transport): ClientOf<T> {
  const areas = {};
  for (const area in table) {
    // Created at the first use: a service creates a client for each request and uses few of its methods.
    const get = (): unknown => {
      const methods = methodsOf(area, table[area] as Table[string], transport);
      Object.defineProperty(areas, area, { value: methods, enumerable: true });
      return methods;
    };
    Object.defineProperty(areas, area, { get, enumerable: true, configurable: true });
  }
  return areas as ClientOf<T>;
}

function methodsOf(area: string, calls: Table[string], transport: Transport): Readonly<Record<string, unknown>> {
  const methods: Record<string, unknown> = {};
  for (const [method, call] of Object.entries(calls)) {
    methods[method] = methodOf({ name: `${area}.${method}`, area, method, call }, transport);
  }
  return methods;
}

function methodOf(named: NamedCall, transport: Transport): (...args: readonly unknown[]) => unknown {
  const { call, name } = named;
  const inCall = (error: BadRequest): BadRequest => ({ ...error, message: `${name}: ${error.message}` });
  return (...args) => {
    const request = requestFrom(call, args).mapErr(inCall);
    if (request.isErr()) return call.kind === 'stream' ? throwing(request.error) : errAsync(request.error);
    const { input, options } = request.value;
    if (call.kind === 'stream') return transport.stream(named, input, options);
    return new ResultAsync(
      call.kind === 'socket' ? transport.open(named, input, options) : transport.answer(named, input, options),
    );
  };
}

/** A stream that cannot begin throws where it is read. */
function throwing(error: TaggedError): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new SignalboxError(error)) }) };
}

interface CallRequest {
  readonly input: CallInput;
  readonly options: TransportOptions;
}

interface GivenOptions extends WaitingOptions {
  readonly [name: string]: unknown;
}

/** The inputs by name; members that are undefined are left out. Only a read has waiting options. */
function requestFrom(call: Call, args: readonly unknown[]): Result<CallRequest, BadRequest> {
  const { signal, ...options } = (args[call.args.length] ?? {}) as GivenOptions;
  const { index, wait, ...read } = options;
  const named: Readonly<Record<string, unknown>> = call.kind === 'waiting' ? read : options;
  const input: Record<string, unknown> = {};
  call.args.forEach((name, at) => {
    if (args[at] !== undefined) input[name] = args[at];
  });
  for (const name in named) if (named[name] !== undefined) input[name] = named[name];
  leaveNullsOut(call, input);
  const wrong = wrongInput(call, input) ?? wrongOption(call, index, signal);
  if (wrong !== undefined) return err(wrong);
  if (call.kind !== 'waiting' || index === undefined || index <= 0) {
    return ok({ input, options: { signal, waiting: undefined } });
  }
  return millisecondsOf(wait).map((milliseconds) => ({
    input,
    options: { signal, waiting: { index, wait: milliseconds } },
  }));
}

/** In a body null means "not given", as it does on the wire. */
function leaveNullsOut(call: Call, input: Record<string, unknown>): void {
  for (const name in input)
    if (input[name] === null && call.inputs[name]?.locations[0].in === 'body') delete input[name];
}

/** The fault of an option of every call. */
function wrongOption(call: Call, index: unknown, signal: unknown): BadRequest | undefined {
  if (call.kind === 'waiting' && index !== undefined && !Number.isSafeInteger(index))
    return badRequest('"index" must be a whole number', 'index');
  return signal === undefined || signal instanceof AbortSignal
    ? undefined
    : badRequest('"signal" must be an AbortSignal', 'signal');
}

function millisecondsOf(wait: Milliseconds | string | undefined): Result<Milliseconds | undefined, BadRequest> {
  if (wait === undefined || (typeof wait === 'number' && wait >= 0)) return ok(wait);
  if (typeof wait !== 'string')
    return err(badRequest('"wait" must be a number of milliseconds or a string such as 60s', 'wait'));
  return parseDurationNanos(wait)
    .map((nanos) => Number(nanos) / 1_000_000)
    .mapErr(({ message }) => badRequest(message, 'wait'));
}
