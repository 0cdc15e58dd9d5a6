import type { JsonCodec, JsonMembers, MembersOf } from './json-codecs.js';
import type { JsonSchema } from './json-schema.js';
import type { TextCodec } from './text-codecs.js';

/** Where an input stands in a request. */
export type InputLocation =
  | { readonly in: 'path'; readonly name: string; readonly codec: TextCodec<unknown> }
  | {
      readonly in: 'query';
      readonly name: string;
      readonly codec: TextCodec<unknown>;
      readonly description: string;
      /** Other spellings in use; the first one present counts. */
      readonly aliases: readonly string[];
    }
  /** A name of the query that may stand there several times: a list of texts. */
  | { readonly in: 'queries'; readonly name: string; readonly description: string }
  | { readonly in: 'body'; readonly name: string; readonly codec: JsonCodec<unknown> }
  /** Several members of the body that make one value together. */
  | { readonly in: 'members'; readonly members: JsonMembers; readonly join: Join }
  /** The body as it is. */
  | { readonly in: 'bytes' }
  /** The attributes and relationships of a JSON:API document; the operation judges them. */
  | { readonly in: 'document'; readonly document: DocumentShape };

interface Join {
  /** The value of the members that were given; undefined when they make none. */
  read(members: Readonly<Record<string, unknown>>): unknown;
  print(value: unknown): Readonly<Record<string, unknown>>;
}

/** A request document of the notification interface. */
export interface DocumentShape {
  /** Resource types that are taken; the first one is documented, and sent. */
  readonly types: readonly [string, ...string[]];
  /** Own member name to attribute; all others are ignored. Empty: every attribute counts, under its own name. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Own member name to a relationship with many resources. */
  readonly relationships: Readonly<Record<string, { readonly name: string; readonly type: string }>>;
  readonly schema: JsonSchema;
}

/** One input of a call: its type, and the locations of a request where it may stand. The first location present counts. */
export interface Input<T, R extends boolean = boolean> {
  readonly required: R;
  readonly locations: readonly [InputLocation, ...InputLocation[]];
  /** What counts when it is not given; then its absence is no fault. */
  readonly fallback?: T;
  /** A member of the body that says the same once more: another value is refused. */
  readonly repeated?: Repeated;
  /** The type of the value; never there at run time. */
  readonly holds?: T;
}

interface Repeated {
  readonly name: string;
  /** Whether a body must hold it. */
  readonly required: boolean;
  /** What the member names, for messages. */
  readonly what: string;
}

export type Inputs = Readonly<Record<string, Input<unknown>>>;

type TypeOf<I> = I extends Input<infer T> ? T : never;
type RequiredNames<I extends Inputs> = { [K in keyof I]: I[K]['required'] extends true ? K : never }[keyof I];

/** The values of a call's inputs, under their own names; those that were not given are absent. */
export type InputValues<I extends Inputs> = {
  readonly [K in RequiredNames<I>]: TypeOf<I[K]>;
} & {
  readonly [K in Exclude<keyof I, RequiredNames<I>>]?: TypeOf<I[K]>;
};

function optional<T>(...locations: readonly [InputLocation, ...InputLocation[]]): Input<T, false> {
  return { required: false, locations };
}

/** A parameter of the path, in braces there. */
export function inPath(name: string, codec: TextCodec<string>): Input<string, true> {
  return { required: true, locations: [{ in: 'path', name, codec }] };
}

/** A parameter of the query. */
export function inQuery<T>(
  name: string,
  codec: TextCodec<T>,
  description: string,
  aliases: readonly string[] = [],
): Input<T, false> {
  return optional({ in: 'query', name, codec: codec, description, aliases });
}

/** A parameter of the query that may be given several times. */
export function inQueries(name: string, description: string): Input<readonly string[], false> {
  return optional({ in: 'queries', name, description });
}

/** A member of a JSON body. */
export function inBody<T>(name: string, codec: JsonCodec<T>): Input<T, false> {
  return optional({ in: 'body', name, codec });
}

/** A value that several members of a JSON body make together. */
export function inMembers<T, M extends JsonMembers>(
  members: M,
  join: { read(members: MembersOf<M>): T | undefined; print(value: T): MembersOf<M> },
): Input<T, false> {
  return optional({ in: 'members', members, join: join as Join });
}

/** The whole body, as it is. */
export function asBytes(): Input<Uint8Array, false> {
  return optional({ in: 'bytes' });
}

/** The attributes of a JSON:API document, with its relationships among them. */
export function inDocument<T>(document: DocumentShape): Input<T, true> {
  return { required: true, locations: [{ in: 'document', document }] };
}

/** The same input, which must be given. */
export function required<T>(input: Input<T>): Input<T, true> {
  return { ...input, required: true };
}

/** An input that has a value in any case. */
export function withDefault<T>(input: Input<T>, fallback: T): Input<T, true> {
  return { ...input, required: true, fallback };
}

/** An input that clients must give, and whose absence the operation words itself. */
export function judgedByOperation<T>(input: Input<T>): Input<T, true> {
  return { ...input, required: true, fallback: undefined as T };
}

/** An input of the path that the body says once more. */
export function repeatedInBody<R extends boolean>(input: Input<string, R>, repeated: Repeated): Input<string, R> {
  return { ...input, repeated };
}

/** One input that may stand in several locations; the first location in the list counts first. */
export function eitherOf<T>(first: Input<T>, ...others: readonly Input<T>[]): Input<T, false> {
  const [location, ...further] = first.locations;
  return optional(location, ...further, ...others.flatMap((input) => input.locations));
}
