import { err, ok, type Result } from 'neverthrow';
import type { CallInput } from '../api/answers.js';
import { type Call, waitingInputs } from '../api/call.js';
import type { DocumentShape, Input, InputLocation } from '../api/inputs.js';
import { type JsonMembers, printJson } from '../api/json-codecs.js';
import { hasLoneSurrogate, isRecord } from '../shared/values.js';
import type { TransportOptions } from './client.js';
import type { BadRequest } from './client-error.js';

/** A call as an HTTP request. */
export interface WireRequest {
  readonly method: string;
  /** Path and query, below the base of the interface. */
  readonly target: string;
  readonly body: string | Uint8Array | undefined;
  readonly contentType: string | undefined;
}

/** Writes each input of a call to the first location that its row lists. */
export function requestFromCall(
  call: Call,
  input: CallInput,
  waiting: TransportOptions['waiting'],
): Result<WireRequest, BadRequest> {
  const parts: Parts = { path: new Map(), query: new URLSearchParams(), body: {}, bytes: undefined };
  for (const [name, definition] of Object.entries(call.inputs)) {
    const value = input[name];
    if (value !== undefined) writeInput(parts, definition, value);
  }
  if (waiting !== undefined) writeWaiting(parts, waiting);
  return pathOf(call.path, parts.path).map((path) => {
    const query = parts.query.toString();
    return { method: call.methods[0], target: query === '' ? path : `${path}?${query}`, ...bodyOf(call, parts) };
  });
}

interface Parts {
  readonly path: Map<string, string>;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  bytes: Uint8Array | undefined;
}

function writeInput(parts: Parts, { locations, repeated }: Input<unknown>, value: unknown): void {
  const [location] = locations;
  writeLocation(parts, location, value);
  if (repeated !== undefined) parts.body[repeated.name] = value;
}

function writeLocation(parts: Parts, location: InputLocation, value: unknown): void {
  switch (location.in) {
    case 'path':
      parts.path.set(location.name, location.codec.print(value));
      return;
    case 'query':
      parts.query.set(location.name, location.codec.print(value));
      return;
    case 'queries':
      for (const text of value as readonly string[]) parts.query.append(location.name, text);
      return;
    case 'body':
      parts.body[location.name] = printJson(location.codec, value);
      return;
    case 'members':
      mergeInto(parts.body, printMembers(location.members, location.join.print(value)));
      return;
    case 'bytes':
      parts.bytes = value as Uint8Array;
      return;
    case 'document':
      parts.body['data'] = documentFrom(location.document, value as CallInput);
      return;
  }
}

function printMembers(
  members: JsonMembers,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const printed: Record<string, unknown> = {};
  for (const [own, { name, codec }] of Object.entries(members)) {
    if (values[own] !== undefined) printed[name] = printJson(codec, values[own]);
  }
  return printed;
}

/** Several inputs may write members of one object. */
function mergeInto(body: Record<string, unknown>, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    const before = body[name];
    body[name] = isRecord(before) && isRecord(value) ? { ...before, ...value } : value;
  }
}

function writeWaiting({ query }: Parts, { index, wait }: NonNullable<TransportOptions['waiting']>): void {
  query.set('index', String(index));
  const [location] = waitingInputs.wait.locations;
  if (wait !== undefined && location.in === 'query') query.set('wait', location.codec.print(wait));
}

/** A resource with the attributes and relationships in the shape; with all attributes when the shape lists none. */
function documentFrom(shape: DocumentShape, value: CallInput): object {
  const [type] = shape.types;
  const names = Object.entries(shape.attributes);
  if (names.length === 0) return { type, attributes: value };
  const attributes: Record<string, unknown> = {};
  for (const [own, name] of names) if (value[own] !== undefined) attributes[name] = value[own];
  const relationships: Record<string, unknown> = {};
  for (const [own, relationship] of Object.entries(shape.relationships)) {
    if (value[own] !== undefined) relationships[relationship.name] = relatedTo(relationship.type, value[own]);
  }
  return { type, attributes, ...(Object.keys(relationships).length === 0 ? {} : { relationships }) };
}

/** Relationship data from IDs, or from references as they are. */
function relatedTo(type: string, value: unknown): unknown {
  if (value === null) return { data: [] };
  if (!Array.isArray(value)) return value;
  return { data: value.map((item: unknown) => (typeof item === 'string' ? { type, id: item } : item)) };
}

/** The path with its values. URLs drop the segments `.` and `..`, escaped or not, so these values are refused. */
function pathOf(pattern: string, values: ReadonlyMap<string, string>): Result<string, BadRequest> {
  for (const [name, value] of values) {
    if (value === '' || value === '.' || value === '..' || hasLoneSurrogate(value)) {
      return err({ type: 'bad_request', message: `${name} cannot be ${JSON.stringify(value)}`, parameter: name });
    }
  }
  return ok(pattern.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values.get(name) ?? '')));
}

function bodyOf(call: Call, { body, bytes }: Parts): Pick<WireRequest, 'body' | 'contentType'> {
  if (bytes !== undefined) return { body: bytes, contentType: 'application/octet-stream' };
  if (call.methods[0] === 'GET') return { body: undefined, contentType: undefined };
  if (Object.keys(body).length === 0 && !takesMembers(call)) return { body: undefined, contentType: undefined };
  const contentType = call.interface === 'notifications' ? 'application/vnd.api+json' : 'application/json';
  return { body: JSON.stringify(body), contentType };
}

function takesMembers(call: Call): boolean {
  return Object.values(call.inputs).some(
    ({ locations, repeated }) =>
      repeated !== undefined || locations.some(({ in: location }) => location === 'body' || location === 'members'),
  );
}
