import type { CallAccess } from './access.js';
import type { AnswerForm } from './answers.js';
import type { ErrorTag } from './errors.js';
import { eitherOf, type Inputs, inBody, inQuery } from './inputs.js';
import { jsonName } from './json-codecs.js';
import { duration, flag, name, unsigned } from './text-codecs.js';

/**
 * How a call is made. `waiting`: it changes nothing, and can wait for a change; `plain`: it is answered once; `stream`: it
 * is answered with a sequence of items; `socket`: it opens a conversation.
 */
export type CallKind = 'waiting' | 'plain' | 'stream' | 'socket';

/** Which interface a call belongs to: it decides the form of its errors. `system` answers for the server itself. */
export type Interface = 'jobs' | 'notifications' | 'system';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `lines`: one JSON text on each line; `joined`: JSON texts one after the other; `bytes`: as they are. */
export type Framing = 'lines' | 'joined' | 'bytes';

/** What the author of a call writes. */
export interface CallDefinition<
  I extends Inputs = Inputs,
  V = unknown,
  A = unknown,
  T extends ErrorTag = ErrorTag,
  P extends readonly string[] = readonly string[],
> {
  /** Parameters in braces. Paths of the notification interface begin below the path where it is mounted. */
  readonly path: string;
  readonly access: CallAccess;
  /** One sentence for the reference, without a full stop. */
  readonly summary: string;
  readonly inputs: I;
  /** The inputs that the client takes as arguments, in order; all others stand in the options behind them. */
  readonly args?: P;
  readonly answer: AnswerForm<V, A>;
  /** What the call can refuse, besides missing rights and a store that fails. */
  readonly errors?: readonly T[];
  /** The first one is documented, and used by the client. */
  readonly methods?: readonly [HttpMethod, ...HttpMethod[]];
  /** Other methods mean the same, only where the interface's contract does not look at the method. */
  readonly anyMethod?: true;
  /** The text of the 404 when there is no such thing. */
  readonly absent?: string;
  /** Statuses that differ from those of other calls. */
  readonly statuses?: Readonly<Partial<Record<ErrorTag, number>>>;
  /** Codes that close a socket for an error, where they differ from those of other calls. */
  readonly closeCodes?: Readonly<Partial<Record<ErrorTag, 1008 | 1011>>>;
  /** Of a stream: the name of a flag among the inputs with which the items are bytes as they are. */
  readonly bytesWhen?: string;
  /** Of a stream of bytes; `application/octet-stream` when absent. */
  readonly contentType?: string;
  /** Answered once, and yet with the headers of a read; what they say of the leader is what clients know from such calls. */
  readonly leaderHeaders?: 'known' | 'unknown';
  /** Whether an absent body means an empty one. Absent: it must be there when any input stands in it. */
  readonly optionalBody?: true;
}

/** One row of the interface. */
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
  /** How the items of a stream follow each other on the wire. */
  readonly framing?: Framing;
}

/** How the items of a stream follow each other, for one request. */
export function framingOf(call: Call, input: Readonly<Record<string, unknown>>): Framing {
  if (call.bytesWhen !== undefined && input[call.bytesWhen] === true) return 'bytes';
  return call.framing ?? 'lines';
}

const namespace = inQuery('namespace', name, 'Namespace; `default` when absent');
const region = inQuery('region', name, 'Region; must be the one of this server');

/** What the calls of the job interface take beside their own inputs. */
export interface ServerInputs {
  readonly region: typeof region;
}
export interface NamespaceInputs extends ServerInputs {
  readonly namespace: typeof namespace;
}
type AllInputs<C, I> = Omit<C, keyof I> & I;

/** What every read of the job interface takes besides; a client has these as its waiting options. */
export const waitingInputs = {
  index: inQuery('index', unsigned('Invalid index'), 'Wait until the answer is newer than this index'),
  wait: inQuery('wait', duration('Invalid wait time'), 'How long to wait at most; 5 minutes when absent'),
  stale: inQuery('stale', flag, 'Accepted; every answer of this server is current'),
} as const;

/** A read of the job interface, in a namespace. */
export function read<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'waiting', AllInputs<NamespaceInputs, I>, V, A, T, P> {
  return complete({ kind: 'waiting', interface: 'jobs', methods: ['GET'], inputs: { namespace, region } }, definition);
}

/** A read of the job interface of what is in no namespace. */
export function readServer<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'waiting', AllInputs<ServerInputs, I>, V, A, T, P> {
  return complete({ kind: 'waiting', interface: 'jobs', methods: ['GET'], inputs: { region } }, definition);
}

/**
 * A call of the job interface, in a namespace, that is answered once: PUT and POST mean the same unless `methods` says
 * otherwise. Where the access says that the body may name the namespace, it is looked for there after the query; the
 * body's region counts before the query's.
 */
export function write<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'plain', AllInputs<NamespaceInputs, I>, V, A, T, P> {
  const { access } = definition;
  const inBodyToo = access.type === 'namespace' && access.namedBy === 'body';
  return complete(
    {
      kind: 'plain',
      interface: 'jobs',
      methods: ['POST', 'PUT'],
      inputs: inBodyToo ? namedInBody : { namespace, region },
    },
    definition,
  );
}

/** The same for what is in no namespace. */
export function writeServer<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'plain', AllInputs<ServerInputs, I>, V, A, T, P> {
  return complete({ kind: 'plain', interface: 'jobs', methods: ['POST', 'PUT'], inputs: { region } }, definition);
}

/** A call of the notification interface. */
export function notification<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'plain', I, V, A, T, P> {
  return complete({ kind: 'plain', interface: 'notifications', methods: ['GET'], inputs: {} }, definition);
}

/** A call about the server itself. */
export function system<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'plain', I, V, A, T, P> {
  return complete({ kind: 'plain', interface: 'system', methods: ['GET', 'HEAD'], inputs: {} }, definition);
}

/** A call of the job interface that is answered with a sequence of items. */
export function stream<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(
  framing: Framing,
  definition: CallDefinition<I, V, A, T, P>,
): Call<'stream', AllInputs<NamespaceInputs, I>, V, A, T, P> {
  return {
    ...complete({ kind: 'stream', interface: 'jobs', methods: ['GET'], inputs: { namespace, region } }, definition),
    framing,
  };
}

/** The same for what is in no namespace. */
export function streamServer<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(framing: Framing, definition: CallDefinition<I, V, A, T, P>): Call<'stream', AllInputs<ServerInputs, I>, V, A, T, P> {
  return {
    ...complete({ kind: 'stream', interface: 'jobs', methods: ['GET'], inputs: { region } }, definition),
    framing,
  };
}

/** A call of the job interface that opens a conversation. */
export function socket<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'socket', AllInputs<NamespaceInputs, I>, V, A, T, P> {
  return complete({ kind: 'socket', interface: 'jobs', methods: ['GET'], inputs: { namespace, region } }, definition);
}

/** The same for what is in no namespace. */
export function socketServer<
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag = never,
  const P extends readonly (keyof I & string)[] = readonly [],
>(definition: CallDefinition<I, V, A, T, P>): Call<'socket', AllInputs<ServerInputs, I>, V, A, T, P> {
  return complete({ kind: 'socket', interface: 'jobs', methods: ['GET'], inputs: { region } }, definition);
}

const namedInBody = {
  namespace: eitherOf(namespace, inBody('Namespace', jsonName)),
  region: eitherOf(inBody('Region', jsonName), region),
};

/** What calls of one sort have in common. */
interface CommonTraits<K extends CallKind, C extends Inputs> {
  readonly kind: K;
  readonly interface: Interface;
  /** Unless a call's definition names its own. */
  readonly methods: Call['methods'];
  readonly inputs: C;
}

function complete<
  K extends CallKind,
  C extends Inputs,
  const I extends Inputs,
  V,
  A,
  const T extends ErrorTag,
  const P extends readonly string[],
>(common: CommonTraits<K, C>, definition: CallDefinition<I, V, A, T, P>): Call<K, AllInputs<C, I>, V, A, T, P> {
  return {
    ...definition,
    kind: common.kind,
    interface: common.interface,
    methods: definition.methods ?? common.methods,
    inputs: { ...common.inputs, ...definition.inputs } as AllInputs<C, I>,
    args: definition.args ?? ([] as unknown as P),
    errors: definition.errors ?? [],
  };
}
