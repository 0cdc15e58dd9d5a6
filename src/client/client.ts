import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import type { CallInput } from '../api/answers.js';
import type { Call } from '../api/call.js';
import type { ErrorOf, ErrorTag } from '../api/errors.js';
import { type Api, api, type NamedCall } from '../api/index.js';
import type { DocumentShape, InputLocation, InputValues } from '../api/inputs.js';
import { type JsonCodec, printJson } from '../api/json-codecs.js';
import type { MessageSocket } from '../api/message-socket.js';
import { type Milliseconds, parseDurationNanos } from '../shared/duration.js';
import type { BadRequest, ClientError } from './client-error.js';

/** What every call takes beside its own options. */
export interface CallOptions {
  /** Ends the call: it gives the error `aborted`. */
  readonly signal?: AbortSignal;
}

/** What every read takes that can wait for a change. */
export interface WaitingOptions extends CallOptions {
  /** Wait until the answer's index is greater than this one, which an earlier answer gave. */
  readonly index?: number;
  /** How long at most, in milliseconds or as a text such as `60s`; 5 minutes when absent. */
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

/** The arguments of a call: those that its row names, then its options. */
type CallArguments<C> = [...ArgumentsOf<InputsOf<C>, ArgumentNamesOf<C>>, ...OptionalLast<OptionsOf<C>>];

/** The errors of a call: what it can refuse, missing rights, a store that fails, and what can happen on the way. */
type CallErrors<C> = ErrorOf<TagsOf<C> | 'permission_denied' | 'storage_failed' | 'unknown_region'> | ClientError;

/**
 * A method of the client. A stream throws a `SignalboxError` where it is read; what the engine refuses of a socket comes as
 * the end of the opened socket.
 */
type Method<C> =
  KindOf<C> extends 'stream'
    ? (...args: CallArguments<C>) => AsyncIterable<AnswerOf<C>>
    : KindOf<C> extends 'socket'
      ? (...args: CallArguments<C>) => ResultAsync<MessageSocket, ClientError>
      : (...args: CallArguments<C>) => ResultAsync<AnswerOf<C>, CallErrors<C>>;

/** Methods for the calls of a table, by area and name. */
type ClientOf<T> = { readonly [A in keyof T]: { readonly [M in keyof T[A]]: Method<T[A][M]> } };

/** The whole interface: the same for a caller in the engine's process and for one that is connected to a server. */
export type Client = ClientOf<Api>;

/** What a method asks of a transport, beside the inputs. */
export interface TransportOptions {
  readonly signal: AbortSignal | undefined;
  /** How a read waits; absent for other calls, and for reads that are answered at once. */
  readonly waiting: { readonly index: number; readonly wait: Milliseconds | undefined } | undefined;
}

/** How calls reach an engine. */
export interface Transport {
  answer(call: NamedCall, input: CallInput, options: TransportOptions): Promise<Result<unknown, TaggedError>>;
  /** Items as they come. Ends, or throws a `SignalboxError`. */
  stream(call: NamedCall, input: CallInput, options: TransportOptions): AsyncIterable<unknown>;
  open(call: NamedCall, input: CallInput, options: TransportOptions): Promise<Result<MessageSocket, TaggedError>>;
}

export interface TaggedError {
  readonly type: string;
}

type Table = Readonly<Record<string, Readonly<Record<string, Call>>>>;

/** The client of the interface over a transport. */
export function clientOver(transport: Transport): Client {
  return clientOfTable(api, transport) as Client;
}

/** The same for another table of calls. */
function clientOfTable<T extends Table>(table: T, transport: Transport): ClientOf<T> {
  const areas = {};
  for (const area in table) {
    // Made at the first use: a service makes a client for each of its requests, and uses a few methods of it.
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
  const { call } = named;
  return (...args) => {
    const request = requestFrom(call, args);
    if (request.isErr()) return errAsync(request.error);
    const { input, options } = request.value;
    if (call.kind === 'stream') return transport.stream(named, input, options);
    return new ResultAsync(
      call.kind === 'socket' ? transport.open(named, input, options) : transport.answer(named, input, options),
    );
  };
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
  const wrong = wrongParameter(call, input);
  if (wrong !== undefined) return err(wrong);
  if (call.kind !== 'waiting' || index === undefined || index <= 0) {
    return ok({ input, options: { signal, waiting: undefined } });
  }
  return millisecondsOf(wait).map((milliseconds) => ({
    input,
    options: { signal, waiting: { index, wait: milliseconds } },
  }));
}

/** Inputs are judged as a server reads them, so that wrong ones are refused in process, too. */
function wrongParameter(call: Call, input: CallInput): BadRequest | undefined {
  for (const name in input) {
    const location = call.inputs[name]?.locations[0];
    if (location === undefined) return badRequest(`there is no option "${name}"`, name);
    const wrong = input[name] === undefined ? undefined : wrongValue(name, location, input[name]);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function wrongValue(name: string, location: InputLocation, value: unknown): BadRequest | undefined {
  switch (location.in) {
    case 'document': {
      const stray = strayMember(location.document, value);
      if (stray === undefined) return undefined;
      return badRequest(`there is no attribute ${JSON.stringify(stray)}`, `${name}.${stray}`);
    }
    case 'query': {
      const read = location.codec.parse(location.codec.print(value), location.name);
      return read.match(
        () => undefined,
        (message) => badRequest(message, location.name),
      );
    }
    case 'body': {
      const message = value === null ? undefined : faultOfMember(location.codec, value);
      return message === undefined ? undefined : badRequest(`"${name}" ${message}`, name);
    }
    case 'path':
    case 'queries':
    case 'members':
    case 'bytes':
      return undefined;
  }
}

/** What is wrong with a value of another type than the member of the body has. */
function faultOfMember(codec: JsonCodec<unknown>, value: unknown): string | undefined {
  const expected = `must be ${codec.expected}`;
  try {
    const read = codec.read(printJson(codec, value));
    return read === undefined ? expected : 'message' in read ? `${read.pointer} ${read.message}`.trim() : undefined;
  } catch {
    // Printing takes values of the declared type for granted.
    return expected;
  }
}

function badRequest(message: string, parameter: string): BadRequest {
  return { type: 'bad_request', message, parameter };
}

/** A member that has no place in the document, and that would be lost on the way to a server. */
function strayMember({ attributes, relationships, told = [] }: DocumentShape, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(attributes).length === 0) return undefined;
  const known = (name: string): boolean =>
    Object.hasOwn(attributes, name) || Object.hasOwn(relationships, name) || told.includes(name);
  return Object.keys(value).find((name) => !known(name) && (value as CallInput)[name] !== undefined);
}

function millisecondsOf(wait: Milliseconds | string | undefined): Result<Milliseconds | undefined, BadRequest> {
  if (typeof wait !== 'string') return ok(wait);
  return parseDurationNanos(wait)
    .map((nanos) => Number(nanos) / 1_000_000)
    .mapErr(({ message }) => badRequest(message, 'wait'));
}
