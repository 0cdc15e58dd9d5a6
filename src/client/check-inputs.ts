import type { CallInput } from '../api/answers.js';
import type { Call } from '../api/call.js';
import type { DocumentShape, InputLocation } from '../api/inputs.js';
import { type JsonCodec, type JsonMembers, printJson } from '../api/json-codecs.js';
import type { TextCodec } from '../api/text-codecs.js';
import { isRecord } from '../shared/values.js';
import type { BadRequest } from './client-error.js';

/** Checks inputs before they reach a transport, by the server's rules: in process and over HTTP the same ones are refused. */
export function wrongInput(call: Call, input: CallInput): BadRequest | undefined {
  for (const name in call.inputs) {
    if (input[name] === undefined && call.inputs[name]?.required === true)
      return badRequest(`"${name}" is missing`, name);
  }
  for (const name in input) {
    const location = call.inputs[name]?.locations[0];
    if (location === undefined) return badRequest(`there is no option "${name}"`, name);
    const wrong = wrongValue(name, location, input[name]);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function wrongValue(name: string, location: InputLocation, value: unknown): BadRequest | undefined {
  switch (location.in) {
    case 'document':
      return wrongDocument(name, location.document, value);
    case 'path':
    case 'query': {
      const message = faultOfText(name, location, value);
      return message === undefined ? undefined : badRequest(message, location.in === 'path' ? name : location.name);
    }
    case 'body':
      return badRequestFor(name, faultOfMember(location.codec, value));
    case 'queries':
      return badRequestFor(name, isListOfTexts(value) ? undefined : 'must be a list of strings');
    case 'members':
      return badRequestFor(name, faultOfMembers(location, value));
    case 'bytes':
      return badRequestFor(name, value instanceof Uint8Array ? undefined : 'must be a Uint8Array');
  }
}

function badRequestFor(name: string, message: string | undefined): BadRequest | undefined {
  return message === undefined ? undefined : badRequest(`"${name}" ${message}`, name);
}

function wrongDocument(name: string, shape: DocumentShape, value: unknown): BadRequest | undefined {
  if (!isRecord(value)) return badRequestFor(name, 'must be an object');
  const stray = strayMember(shape, value);
  if (stray === undefined) return undefined;
  return badRequest(`there is no attribute ${JSON.stringify(stray)}`, `${name}.${stray}`);
}

interface TextLocation {
  readonly name: string;
  readonly codec: TextCodec<unknown>;
}

function faultOfText(name: string, { name: onWire, codec }: TextLocation, value: unknown): string | undefined {
  const [type, expected] = heldBy(codec);
  if (typeof value !== type) return `"${name}" must be ${expected}`;
  return codec.parse(codec.print(value), onWire).match(
    () => undefined,
    (message) => message,
  );
}

/** The type of a codec's values, and its name in messages. */
function heldBy({ schema, holds }: TextCodec<unknown>): readonly [type: string, expected: string] {
  if (holds === 'milliseconds') return ['number', 'a number of milliseconds'];
  if (holds === 'instant') return ['number', 'a number of milliseconds since 1970'];
  if (schema['type'] === 'boolean') return ['boolean', 'a bool'];
  return schema['type'] === 'integer' ? ['number', 'a number'] : ['string', 'a string'];
}

/** The fault of a value whose type does not match the body member. */
function faultOfMember(codec: JsonCodec<unknown>, value: unknown): string | undefined {
  const expected = `must be ${codec.expected}`;
  if (value !== undefined && !isOfJson(value)) return expected;
  try {
    const read = codec.read(printJson(codec, value));
    return read === undefined ? expected : 'message' in read ? `${read.pointer} ${read.message}`.trim() : undefined;
  } catch {
    // The printer threw: it assumes values of the declared type.
    return expected;
  }
}

/** The same for a value that is spread over several members: their faults are its faults. */
function faultOfMembers(
  { members, join }: { readonly members: JsonMembers; readonly join: { print(value: unknown): CallInput } },
  value: unknown,
): string | undefined {
  for (const [name, part] of Object.entries(join.print(value))) {
    const codec = members[name]?.codec;
    const message = codec === undefined ? undefined : faultOfMember(codec, part);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Whether JSON can represent the value; anything else would be lost on the way to a server. */
function isOfJson(value: unknown): boolean {
  return ['string', 'number', 'boolean', 'object'].includes(typeof value);
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function badRequest(message: string, parameter: string): BadRequest {
  return { type: 'bad_request', message, parameter };
}

/** A member without a place in the document: it would be lost on the way to a server. */
function strayMember({ attributes, relationships, readOnly = [] }: DocumentShape, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Object.keys(attributes).length === 0) return undefined;
  const known = (name: string): boolean =>
    Object.hasOwn(attributes, name) || Object.hasOwn(relationships, name) || readOnly.includes(name);
  return Object.entries(value).find(([name, member]) => !known(name) && member !== undefined)?.[0];
}
