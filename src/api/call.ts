import type { CallAccess } from './access.js';
import type { AnswerForm } from './answers.js';
import type { ErrorTag } from './errors.js';
import { eitherOf, type Inputs, inBody, inQuery } from './inputs.js';
import { jsonName } from './json-codecs.js';
import { duration, flag, name, unsigned } from './text-codecs.js';

/**
 * Kind of a call. `waiting`: a read that can block until a change; `plain`: one request, one answer; `stream`: the answer
 * is a sequence of items; `socket`: opens a WebSocket.
 */
type CallKind = 'waiting' | 'plain' | 'stream' | 'socket';

/** The interface that a call belongs to, which determines the form of its errors. `system`: about the server itself. */
export type Interface = 'jobs' | 'notifications' | 'system';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `lines`: one JSON text per line; `joined`: concatenated JSON strings; `bytes`: raw. */
export type Framing = 'lines' | 'joined' | 'bytes';

/** The definition of a call. */
interface CallDefinition<
  I extends Inputs = Inputs,
  V = unknown,
  A = unknown,
  T extends ErrorTag = ErrorTag,
  P extends readonly string[] = readonly string[],
> {
  /** Parameters in braces. Paths of the notification interface begin below the path where it is mounted. */
  readonly path: string;
  /** A second path of the call, with the same parameters. Clients use the first one. */
  readonly alias?: string;
  readonly access: CallAccess;
  /** One sentence for the reference, without a full stop. */
  readonly summary: string;
  readonly inputs: I;
  /** The inputs that are positional arguments of the client method, in order; all others are members of the options after them. */
  readonly args?: P;
  readonly answer: AnswerForm<V, A>;
  /** Errors of the call, besides missing rights and storage failures. */
  readonly errors?: readonly T[];
  /** The first one is documented and used by the client. */
  readonly methods?: readonly [HttpMethod, ...HttpMethod[]];
  /** The message of the 404 for a missing object. */
  readonly absent?: string;
  /** Close codes of a socket by error, if they differ from the default ones. */
  readonly closeCodes?: Readonly<Partial<Record<ErrorTag, 1008 | 1011>>>;
  /** Framing of the items of a stream on the wire. */
  readonly framing?: Framing;
  /** For a stream: the input flag that requests raw bytes. */
  readonly bytesWhen?: string;
  /** For a list that is always answered in pages: the request gets one page also if it names no size. */
  readonly alwaysPaged?: true;
  /** Content type of a stream of bytes; default `application/octet-stream`. */
  readonly contentType?: string;
  /** Content type of a stream of items; default `application/json`. */
  readonly framesType?: string;
  /** For a call without blocking: it still sends the headers of a read, and the leader headers that clients of such calls expect. */
  readonly leaderHeaders?: 'known' | 'unknown';
  /** Whether an absent body means an empty one, always or beside a query parameter. If not set, the body is required if any input is in it. */
  readonly optionalBody?: true | { readonly withParameter: string };
}

/** One row of the call table. */
export interface Call<
  K extends CallKind = CallKind,
  I extends Inputs = Inputs,
  V = unknown,
  A = unknown,
  T extends ErrorTag = ErrorTag,
  P extends readonly string[] = readonly string[],
> extends CallDefinition<I, V, A, T, P> {
  readonly kind: K;
  readonly interface: Interface;
  readonly methods: readonly [HttpMethod, ...HttpMethod[]];
  readonly args: P;
  readonly errors: readonly T[];
}

/** Framing of the items of a stream, for one request. */
export function framingOf(call: Call, input: Readonly<Record<string, unknown>>): Framing {
  if (input['download'] === true || (call.bytesWhen !== undefined && input[call.bytesWhen] === true)) return 'bytes';
  return call.framing ?? 'lines';
}

const namespace = inQuery('namespace', name, 'Namespace; `default` when absent');
/** Calls may name one region only: that of this server. */
export const region = inQuery('region', name, 'Region; must be the one of this server');

/** The common inputs of the calls of the job interface. */
const onServer = { region } as const;
const inNamespace = { namespace, region } as const;
export type ServerInputs = typeof onServer;
export type NamespaceInputs = typeof inNamespace;
const namedInBody = {
  namespace: eitherOf(namespace, inBody('Namespace', jsonName)),
  region: eitherOf(region, inBody('Region', jsonName)),
};
type AllInputs<C, I> = Omit<C, keyof I> & I;

/** The additional inputs of every read of the job interface: the waiting options of clients. */
export const waitingInputs = {
  index: inQuery('index', unsigned('Invalid index'), 'Wait until the answer is newer than this index'),
  wait: inQuery('wait', duration('Invalid wait time'), 'The longest wait; default: 5 minutes'),
  stale: inQuery('stale', flag, 'Accepted without effect: every answer of this server is current'),
} as const;

/** The same for a call: those of the notification interface ignore `stale`, like every parameter that they do not know. */
export function waitingInputsOf({ kind, interface: of }: Pick<Call, 'kind' | 'interface'>): Inputs {
  if (kind !== 'waiting') return {};
  const { stale: _stale, ...ofNotifications } = waitingInputs;
  return of === 'notifications' ? ofNotifications : waitingInputs;
}

/** The common part of calls of one kind. */
interface CommonTraits<K extends CallKind, C extends Inputs> {
  readonly kind: K;
  readonly interface: Interface;
  /** Default of calls whose definition does not set it. */
  readonly methods: Call['methods'];
  readonly inputs: (access: CallAccess) => C;
}

/** A function that completes the definitions of calls of one kind. */
function callsOf<K extends CallKind, C extends Inputs>(common: CommonTraits<K, C>) {
  return <
    const I extends Inputs,
    V,
    A,
    const T extends ErrorTag = never,
    const P extends readonly (keyof I & string)[] = readonly [],
  >(
    definition: CallDefinition<I, V, A, T, P>,
  ): Call<K, AllInputs<C, I>, V, A, T, P> => ({
    ...definition,
    kind: common.kind,
    interface: common.interface,
    methods: definition.methods ?? common.methods,
    inputs: { ...common.inputs(definition.access), ...definition.inputs } as AllInputs<C, I>,
    args: definition.args ?? ([] as unknown as P),
    errors: definition.errors ?? [],
  });
}

/** Reads of the job interface: in a namespace, and of objects without one. */
export const read = callsOf({ kind: 'waiting', interface: 'jobs', methods: ['GET'], inputs: () => inNamespace });
export const readServer = callsOf({ kind: 'waiting', interface: 'jobs', methods: ['GET'], inputs: () => onServer });

/**
 * A call of the job interface, in a namespace, that is answered once. PUT and POST are equivalent unless `methods` says
 * otherwise. If the access allows the body to name the namespace, it may name the region, too; the query takes precedence over it.
 */
export const write = callsOf({
  kind: 'plain',
  interface: 'jobs',
  methods: ['POST', 'PUT'],
  inputs: (access): NamespaceInputs =>
    access.type === 'namespace' && access.namedBy === 'body' ? namedInBody : inNamespace,
});
/** The same for objects without a namespace. */
export const writeServer = callsOf({
  kind: 'plain',
  interface: 'jobs',
  methods: ['POST', 'PUT'],
  inputs: () => onServer,
});

/** A call of the notification interface. */
export const notification = callsOf({
  kind: 'plain',
  interface: 'notifications',
  methods: ['GET'],
  inputs: () => ({}),
});
/** A read of the notification interface that can wait for a change. */
export const notificationRead = callsOf({
  kind: 'waiting',
  interface: 'notifications',
  methods: ['GET'],
  inputs: () => ({}),
});
/** A call about the server itself. */
export const system = callsOf({ kind: 'plain', interface: 'system', methods: ['GET', 'HEAD'], inputs: () => ({}) });

/** Calls of the job interface that are answered with a sequence of items: in a namespace, and of objects without one. */
export const stream = callsOf({ kind: 'stream', interface: 'jobs', methods: ['GET'], inputs: () => inNamespace });
export const streamServer = callsOf({ kind: 'stream', interface: 'jobs', methods: ['GET'], inputs: () => onServer });

/** Calls of the job interface that open a WebSocket. */
export const socket = callsOf({ kind: 'socket', interface: 'jobs', methods: ['GET'], inputs: () => inNamespace });
export const socketServer = callsOf({ kind: 'socket', interface: 'jobs', methods: ['GET'], inputs: () => onServer });
