import { type JsonSchema, namedSchema, orNull } from './json-codecs.js';

/** The result of a read: the value, and the index for the next blocking query. */
export interface Indexed<T> {
  /** Pass it as `index` to the next read to wait for a change. */
  readonly index: number;
  /** The result at that index. */
  readonly value: T;
}

/** A page of a list, and the token of the next page; empty on the last page. */
export interface PageOf<T> {
  readonly items: readonly T[];
  /** Pass it as `nextToken` to the next read of the list. */
  readonly nextToken: string;
}

/** A stored record as operations return it: its JSON text can be relayed without parsing. */
export interface StoredRow<R> {
  readonly record: R;
  readonly text: string;
}

/** The inputs of a call, by name. */
export type CallInput = Readonly<Record<string, unknown>>;

/**
 * The answer of a call in its three forms: the operation's result (V), the client's result (A), and the wire form. Both
 * clients return `toClient` of the operation's result, so in-process and HTTP clients have equal results.
 */
export interface AnswerForm<V, A> {
  /** Absent if there is no body. */
  readonly schema: JsonSchema | undefined;
  readonly status: number;
  /** For a status that depends on the value: the function, and the other possible statuses. */
  statusOf?(value: V): number;
  readonly otherStatuses?: readonly number[];
  /** The schema of the answers with `otherStatuses`, if it differs from `schema`. */
  readonly otherSchema?: JsonSchema;
  /** The client's result: plain JSON data. */
  toClient(value: V, input: CallInput): A;
  /** The JSON text of `toClient`, if it can be obtained without serialising the value. */
  clientText?(value: V): string;
  /** The JSON text on the wire; undefined if the object does not exist. */
  toWire(value: V, input: CallInput): string | undefined;
  /** The bytes of an item if the stream is requested raw; absent: the item itself is bytes. */
  toBytes?(value: V, input: CallInput): Uint8Array;
  /**
   * The client's form of an item of a stream, from its parsed JSON on the wire; undefined for an item of another form. Absent: the
   * two forms are equal.
   */
  fromWire?(item: unknown): A | undefined;
  /** The index for the header; undefined if the interface sends none. */
  indexOf(value: V): number | undefined;
  /** The token of the next page, for paginated lists. */
  nextToken?(value: V): string;
  /** The content type of answers that are not JSON, if there are any. */
  readonly otherContentType?: string;
  /** The content type of an answer that is not JSON; otherwise undefined. */
  contentTypeOf?(value: V): string | undefined;
  /** The JSON:API resource type of the answer, which then has the wire form of the notification interface. */
  readonly resource?: string;
  /** Types of the two forms; absent at run time. */
  readonly types?: readonly [V, A];
}

/** One stored record, or 404. Relayed as it is stored. */
export function row<R>(schema: string): AnswerForm<Indexed<StoredRow<R> | undefined>, Indexed<R | undefined>> {
  return {
    schema: namedSchema(schema),
    status: 200,
    toClient: ({ index, value }) => ({ index, value: value?.record }),
    clientText: ({ index, value }) => indexedText(index, value?.text),
    toWire: ({ value }) => value?.text,
    indexOf,
  };
}

/** A list of stored records. */
export function rows<R>(schema: string): AnswerForm<Indexed<readonly StoredRow<R>[]>, Indexed<readonly R[]>> {
  return {
    schema: listSchema(schema),
    status: 200,
    toClient: ({ index, value }) => ({ index, value: value.map(({ record }) => record) }),
    clientText: ({ index, value }) => indexedText(index, textOfRows(value)),
    toWire: ({ value }) => textOfRows(value),
    indexOf,
  };
}

/** A page of stored records. */
export function rowPage<R>(schema: string): AnswerForm<Indexed<PageOf<StoredRow<R>>>, Indexed<PageOf<R>>> {
  return {
    schema: listSchema(schema),
    status: 200,
    toClient: ({ index, value }) => ({
      index,
      value: { items: value.items.map(({ record }) => record), nextToken: value.nextToken },
    }),
    clientText: ({ index, value }) => pageText(index, textOfRows(value.items), value.nextToken),
    toWire: ({ value }) => textOfRows(value.items),
    indexOf,
    nextToken,
  };
}

/** A page of list entries. */
export function page<T>(schema: string): AnswerForm<Indexed<PageOf<T>>, Indexed<PageOf<T>>> {
  return {
    schema: listSchema(schema),
    status: 200,
    toClient: (answer) => answer,
    toWire: ({ value }) => JSON.stringify(value.items),
    indexOf,
    nextToken,
  };
}

/** A page of views of stored values. */
export function shownPage<V, A>(
  schema: string,
  show: (value: V, input: CallInput) => A,
): AnswerForm<Indexed<PageOf<V>>, Indexed<PageOf<A>>> {
  return {
    schema: listSchema(schema),
    status: 200,
    toClient: ({ index, value }, input) => ({
      index,
      value: { items: value.items.map((item) => show(item, input)), nextToken: value.nextToken },
    }),
    toWire: ({ value }, input) => JSON.stringify(value.items.map((item) => show(item, input))),
    indexOf,
    nextToken,
  };
}

/** A value unchanged, or 404 if it is undefined. */
export function found<T>(schema: string): AnswerForm<Indexed<T>, Indexed<T>> {
  return {
    schema: namedSchema(schema),
    status: 200,
    toClient: (answer) => answer,
    toWire: ({ value }) => (value === undefined ? undefined : JSON.stringify(value)),
    indexOf,
  };
}

/** A record that a write has stored, with the index of the write. */
export function stored<T extends { readonly ModifyIndex: number }>(schema: string): AnswerForm<T, Indexed<T>> {
  return {
    schema: namedSchema(schema),
    status: 200,
    toClient: (value) => ({ index: value.ModifyIndex, value }),
    toWire: (value) => JSON.stringify(value),
    indexOf: ({ ModifyIndex }) => ModifyIndex,
  };
}

/** A list of values. */
export function list<T>(schema: string): AnswerForm<Indexed<readonly T[]>, Indexed<readonly T[]>> {
  return { ...found<readonly T[]>(schema), schema: listSchema(schema) };
}

/** A value, or the JSON `null`. */
export function nullable<T>(schema: string): AnswerForm<Indexed<T | null>, Indexed<T | null>> {
  return { ...found<T | null>(schema), schema: orNull(namedSchema(schema)) };
}

/** The view of a stored value, for clients and on the wire; undefined if there is none. */
export function shown<V, A>(
  schema: JsonSchema,
  show: (value: V, input: CallInput) => A,
): AnswerForm<Indexed<V>, Indexed<A>> {
  return {
    schema,
    status: 200,
    toClient: ({ index, value }, input) => ({ index, value: show(value, input) }),
    toWire: ({ value }, input) => {
      const wire = show(value, input);
      return wire === undefined ? undefined : JSON.stringify(wire);
    },
    indexOf,
  };
}

/**
 * The result of a write, with the wire names of its members. `constants` are members that clients of the interface
 * expect but that carry no information.
 */
export function written<T extends object>(
  schema: string,
  names: { readonly [K in keyof T]: string },
  constants: Readonly<Record<string, unknown>> = {},
): AnswerForm<T, T> {
  const entries = Object.entries<string>(names);
  return {
    schema: namedSchema(schema),
    status: 200,
    toClient: (value) => value,
    toWire: (value) => {
      const wire: Record<string, unknown> = {};
      for (const [own, name] of entries) wire[name] = value[own as keyof T];
      return JSON.stringify(Object.assign(wire, constants));
    },
    indexOf: (value) => ('index' in value && typeof value.index === 'number' ? value.index : undefined),
  };
}

/** A write that returns its index; on the wire only as a header. */
export function done(): AnswerForm<{ readonly index: number }, { readonly index: number }> {
  return { schema: undefined, status: 200, toClient: (value) => value, toWire: () => '', indexOf };
}

/** A computed JSON document, without an index. */
export function computed<T>(schema: string, toWire: (value: T) => unknown = (value) => value): AnswerForm<T, T> {
  return {
    schema: namedSchema(schema),
    status: 200,
    toClient: (value) => value,
    toWire: (value) => JSON.stringify(toWire(value)),
    indexOf: () => undefined,
  };
}

/** A resource of the notification interface, or several; the HTTP adapter writes its JSON:API document. */
export function resource<T>(type: string, schema: string, status = 200): AnswerForm<T, T> {
  return {
    schema: namedSchema(schema),
    status,
    toClient: (value) => value,
    toWire: (value) => JSON.stringify(value),
    indexOf: () => undefined,
    resource: type,
  };
}

/** What a read of the notification interface answers, with the index to wait for next. */
export function indexedResource<T extends object>(
  type: string,
  schema: string,
): AnswerForm<T & { readonly index: number }, T & { readonly index: number }> {
  return { ...resource<T & { readonly index: number }>(type, schema), indexOf };
}

/** An empty answer. */
export function nothing(status = 204): AnswerForm<void, void> {
  return { schema: undefined, status, toClient: () => undefined, toWire: () => '', indexOf: () => undefined };
}

/** The members of a write's body that carry what reads have in headers. */
export const inlinedMetadata = { LastContact: 0, KnownLeader: false, NextToken: '' } as const;

/** A list of stored rows. */
export function textOfRows(rowList: readonly StoredRow<unknown>[]): string {
  return '[' + rowList.map((stored) => stored.text).join(',') + ']';
}

export function listSchema(schema: string): JsonSchema {
  return { type: 'array', items: namedSchema(schema) };
}

function indexOf({ index }: { readonly index: number }): number {
  return index;
}

function nextToken({ value }: Indexed<PageOf<unknown>>): string {
  return value.nextToken;
}

function indexedText(index: number, value: string | undefined): string {
  return value === undefined ? `{"index":${index}}` : `{"index":${index},"value":${value}}`;
}

function pageText(index: number, items: string, token: string): string {
  return `{"index":${index},"value":{"items":${items},"nextToken":${JSON.stringify(token)}}}`;
}

/**
 * The media type with which a client requests the engine's own values and errors instead of the forms of the two
 * interfaces: the JSON of the value, or of `{"error": …}`.
 */
export const plainType = 'application/vnd.signalbox.v1+json';
