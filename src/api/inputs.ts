import {
  type JsonCodec,
  type JsonMembers,
  type JsonSchema,
  jsonBoolean,
  jsonText,
  jsonUnsigned,
  type MembersOf,
  member,
} from './json-codecs.js';
import {
  beginningOfId,
  boolean,
  integer,
  literalTrue,
  pageToken,
  positive,
  type TextCodec,
  text,
} from './text-codecs.js';

/** Location of an input in a request. */
export type InputLocation =
  | { readonly in: 'path'; readonly name: string; readonly codec: TextCodec<unknown> }
  | {
      readonly in: 'query';
      readonly name: string;
      readonly codec: TextCodec<unknown>;
      readonly description: string;
      /** Accepted aliases; the first one present is used. */
      readonly aliases: readonly string[];
    }
  /** A query parameter that may be repeated: a list of strings. */
  | { readonly in: 'queries'; readonly name: string; readonly description: string }
  | { readonly in: 'body'; readonly name: string; readonly codec: JsonCodec<unknown> }
  /** Several members of the body that form one value. */
  | { readonly in: 'members'; readonly members: JsonMembers; readonly join: Join }
  /** The whole body, unchanged. */
  | { readonly in: 'bytes' }
  /** The attributes and relationships of a JSON:API document; the operation validates them. */
  | { readonly in: 'document'; readonly document: DocumentShape };

interface Join {
  /** The value formed by the given members; undefined if they form none. */
  read(members: Readonly<Record<string, unknown>>): unknown;
  print(value: unknown): Readonly<Record<string, unknown>>;
}

/** A request document of the notification interface. */
export interface DocumentShape {
  /** Accepted resource types; the first one is documented and sent by clients. */
  readonly types: readonly [string, ...string[]];
  /** Member name to attribute; other attributes are ignored unless it is closed. Empty: every attribute is accepted under its own name. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Member name to a to-many relationship. */
  readonly relationships: Readonly<Record<string, { readonly name: string; readonly type: string }>>;
  /** Whether other attributes, and faults outside the attributes, are refused before the call. Otherwise the call receives the faults. */
  readonly closed?: boolean;
  /** Members of records that are not attributes of requests. Clients omit them, so that a record can be read, changed and sent back. */
  readonly readOnly?: readonly string[];
  readonly schema: JsonSchema;
}

/** One input of a call: its type, and its possible locations in a request. The first location present is used. */
export interface Input<T, R extends boolean = boolean> {
  readonly required: R;
  readonly locations: readonly [InputLocation, ...InputLocation[]];
  /** Default value; an input with a default is optional. */
  readonly fallback?: T;
  /** A member of the body that repeats the value; a different value is refused. */
  readonly repeated?: Repeated;
  /** The type of the value; absent at run time. */
  readonly holds?: T;
}

interface Repeated {
  readonly name: string;
  /** Whether a body must contain it. */
  readonly required: boolean;
  /** Name of the value in messages. */
  readonly what: string;
}

export type Inputs = Readonly<Record<string, Input<unknown>>>;

type TypeOf<I> = I extends Input<infer T> ? T : never;
type RequiredNames<I extends Inputs> = { [K in keyof I]: I[K]['required'] extends true ? K : never }[keyof I];

/** The values of a call's inputs by name; inputs that were not given are absent. */
export type InputValues<I extends Inputs> = {
  readonly [K in RequiredNames<I>]: TypeOf<I[K]>;
} & {
  readonly [K in Exclude<keyof I, RequiredNames<I>>]?: TypeOf<I[K]>;
};

function optional<T>(...locations: readonly [InputLocation, ...InputLocation[]]): Input<T, false> {
  return { required: false, locations };
}

/** A path parameter, in braces in the path. */
export function inPath(name: string, codec: TextCodec<string>): Input<string, true> {
  return { required: true, locations: [{ in: 'path', name, codec }] };
}

/** A query parameter. */
export function inQuery<T>(
  name: string,
  codec: TextCodec<T>,
  description: string,
  aliases: readonly string[] = [],
): Input<T, false> {
  return optional({ in: 'query', name, codec: codec, description, aliases });
}

/** A query parameter that may be repeated. */
export function inQueries(name: string, description: string): Input<readonly string[], false> {
  return optional({ in: 'queries', name, description });
}

/** A member of a JSON body. */
export function inBody<T>(name: string, codec: JsonCodec<T>): Input<T, false> {
  return optional({ in: 'body', name, codec });
}

/** A value formed by several members of a JSON body. */
export function inMembers<T, M extends JsonMembers>(
  members: M,
  join: { read(members: MembersOf<M>): T | undefined; print(value: T): MembersOf<M> },
): Input<T, false> {
  return optional({ in: 'members', members, join: join as Join });
}

/** The whole body, unchanged. */
export function asBytes(): Input<Uint8Array, false> {
  return optional({ in: 'bytes' });
}

/** The attributes of a JSON:API document, including its relationships. */
export function inDocument<T>(document: DocumentShape): Input<T, true> {
  return { required: true, locations: [{ in: 'document', document }] };
}

/** The same input, required. */
export function required<T>(input: Input<T>): Input<T, true> {
  return { ...input, required: true };
}

/** The same input with a default value. */
export function withDefault<T>(input: Input<T>, fallback: T): Input<T, true> {
  return { ...input, required: true, fallback };
}

/** An input that clients must give; the operation itself reports its absence. */
export function judgedByOperation<T>(input: Input<T>): Input<T, true> {
  return { ...input, required: true, fallback: undefined as T };
}

/** A path input that the body repeats. */
export function repeatedInBody<R extends boolean>(input: Input<string, R>, repeated: Repeated): Input<string, R> {
  return { ...input, repeated };
}

/** One input with several possible locations, in order of precedence. */
export function eitherOf<T>(first: Input<T>, ...others: readonly Input<T>[]): Input<T, false> {
  const [location, ...further] = first.locations;
  return optional(location, ...further, ...others.flatMap((input) => input.locations));
}

/** The job ID in the path. */
export const jobId = inPath('job_id', text);

/** The job ID in the path, which the body repeats. */
export const jobIdTwice = repeatedInBody(jobId, { name: 'JobID', required: true, what: 'job ID' });

/** Inputs of lists: an ID prefix, and a page. */
export const pageInputs = {
  prefix: inQuery('prefix', text, 'Only IDs with this prefix'),
  filter: inQuery('filter', text, 'A filter expression over the stored records'),
  perPage: inQuery('per_page', integer, 'Items per page; default or 0: all'),
  nextToken: inQuery('next_token', pageToken, 'Start of the page: the token that the previous page returned'),
  reverse: inQuery('reverse', literalTrue, 'In reverse order'),
} as const;

/** The same for records whose IDs are UUIDs. */
export const pageOfUuids = {
  ...pageInputs,
  prefix: inQuery('prefix', beginningOfId, 'Only IDs with this prefix'),
} as const;

/** Optional details in lists of nodes. */
export const nodeDetails = {
  resources: inQuery('resources', boolean, 'Include the resources of each node'),
  os: inQuery('os', boolean, 'Include the attribute os.name of each node'),
} as const;

/** Errors of a filter. */
export const filterFaults = ['filter_syntax', 'filter_evaluation'] as const;

/** The page inputs of a list of the notification interface. */
export const numberedPage = {
  pageNumber: inQuery('page[number]', positive, 'Page, from 1'),
  pageSize: inQuery('page[size]', positive, 'Items per page; default: 20, at most 100'),
} as const;

const checkedIndex = { enforce: member('EnforceIndex', jsonBoolean), index: member('JobModifyIndex', jsonUnsigned) };
const printCheckedIndex = (index: number) => ({ enforce: true, index });

/** Check-and-set: the index that the job must have, 0 for a new job. */
export const enforceIndex = inMembers<number, typeof checkedIndex>(checkedIndex, {
  read: ({ enforce, index }) => (enforce === true ? (index ?? 0) : undefined),
  print: printCheckedIndex,
});

/** The same, for calls where an index alone enables the check. */
export const enforceGivenIndex = inMembers<number, typeof checkedIndex>(checkedIndex, {
  read: ({ enforce, index = 0 }) => (enforce === true || index > 0 ? index : undefined),
  print: printCheckedIndex,
});

/** Idempotency token: a second call with the same token has no further effect. */
export const idempotencyToken = inQuery(
  'idempotency_token',
  text,
  'A repeated dispatch with the same token creates no second instance',
  ['IdempotencyToken'],
);

export const idempotencyTokenInBody = inBody('IdempotencyToken', jsonText);

/** The allocation ID in the path. */
export const allocationInPath = inPath('allocation_id', text);

/** The task that a command concerns. */
export const taskInQuery = inQuery('task', text, 'Name of the task');

/** Errors of commands that nodes carry out. */
export const commandErrors = ['command_invalid', 'command_not_found', 'command_failed'] as const;
