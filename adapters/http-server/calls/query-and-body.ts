import { err, ok, type Result } from 'neverthrow';
import { plainType } from '../../../src/api/answers.js';
import type { JobDialect } from '../dialect.js';
import { type BadInput, badInput } from '../errors/interface-errors.js';
import { type HttpRequest, headerValue, type RequestBody } from '../http-message.js';

/** The query string of a request, parsed on first access. A repeated name keeps its first value. */
export class Query {
  /** As sent, without the question mark. */
  readonly raw: string;
  readonly #lenient: boolean;
  #values: Map<string, string | undefined> | undefined;

  /** `lenient`: parameters with an invalid percent-encoding or a semicolon are ignored; otherwise the first one is an error. */
  constructor(raw: string, lenient = false) {
    this.raw = raw;
    this.#lenient = lenient;
  }

  get isEmpty(): boolean {
    return this.raw === '';
  }

  /** The decoded value; undefined if the name does not occur. */
  get(name: string): Result<string | undefined, BadInput> {
    if (this.raw === '') return ok(undefined);
    this.#values ??= valuesFrom(pairsOf(this.raw, this.#lenient));
    const value = this.#values.get(name);
    if (value === undefined && this.#values.has(name)) {
      return err(undecodable(name));
    }
    return ok(value);
  }

  /** Every value of a name that may be repeated, in order. */
  all(name: string): Result<readonly string[], BadInput> {
    if (this.raw === '') return ok([]);
    const values = valuesOf(pairsOf(this.raw, this.#lenient), name);
    const texts = values.filter((value) => value !== undefined);
    return texts.length < values.length ? err(undecodable(name)) : ok(texts);
  }
}

export function queryFrom(
  request: HttpRequest,
  { ignoresUndecodable }: JobDialect,
  raw: string,
  { changes }: { readonly changes: boolean },
): Query {
  return new Query(raw, ignoresUndecodable && request.method === 'GET' && !changes);
}

export function asksForPlain(request: HttpRequest): boolean {
  return headerValue(request, 'accept')?.includes(plainType) === true;
}

type Pair = readonly [name: string | undefined, value: string | undefined];

/** All values of a name. */
function valuesOf(pairs: Iterable<Pair>, wanted: string): readonly (string | undefined)[] {
  return [...pairs].filter(([name]) => name === wanted).map(([, value]) => value);
}

function undecodable(name: string): BadInput {
  const message = `the value of "${name}" contains an invalid percent-encoding; write % as %25`;
  return { ...badInput('malformed', message), parameter: name };
}

export function badParameter(parameter: string, message: string): BadInput {
  return { ...badInput('wrong_type', message), parameter };
}

/** Names that cannot be decoded are dropped; values that cannot be decoded are kept as undefined. */
function valuesFrom(pairs: Iterable<Pair>): Map<string, string | undefined> {
  const values = new Map<string, string | undefined>();
  for (const [name, value] of pairs) if (name !== undefined && !values.has(name)) values.set(name, value);
  return values;
}

function decodeFormText(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}

/** Decoded names and values; undefined if undecodable. */
function* pairsOf(raw: string, lenient: boolean): Iterable<Pair> {
  for (const pair of raw.split('&')) {
    if (pair === '' || (lenient && pair.includes(';'))) continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodeFormText(pair.slice(equals + 1));
    if (!lenient || value !== undefined) yield [name, value];
  }
}

/** Deeper than any document of the two interfaces, and far from a stack overflow of recursive code. */
const maximumJsonDepth = 64;

/**
 * The first JSON value of the body; what follows it is ignored, as the clients of the job interface expect. Refuses
 * deeper nesting than `maximumJsonDepth` and the key `__proto__`, so that the value is safe to copy and traverse.
 */
export function parseJsonBody(body: RequestBody): Result<unknown, BadInput> {
  switch (body.type) {
    case 'absent':
      return err(badInput('absent', 'request body is empty'));
    case 'too_large':
    case 'no_room':
    case 'aborted':
    case 'consumed':
      return err(unreadBody(body));
    case 'parsed':
      return checkedTree(body.value);
    case 'bytes':
      return parseText(body.bytes.toString('utf8')).andThen(checkedTree);
  }
}

/** The error for a body that was not read to its end. */
export function unreadBody(
  body: Extract<RequestBody, { type: 'too_large' | 'no_room' | 'aborted' | 'consumed' }>,
): BadInput {
  switch (body.type) {
    case 'too_large':
      return badInput('too_large', 'the request body is larger than this server accepts');
    case 'no_room':
      return badInput('no_room', "the server's memory for request bodies is full; try again shortly");
    case 'aborted':
      return badInput('aborted', 'the request ended before its body was complete');
    case 'consumed':
      return badInput(
        'malformed',
        'a framework has already consumed the request body: leave it unread, or keep it as request.body or rawBody (with Fastify, use fastifyRoute)',
      );
  }
}

function parseText(text: string): Result<unknown, BadInput> {
  try {
    return ok(JSON.parse(text));
  } catch (error) {
    const end = endOfFirstValue(text);
    if (end > 0 && end < text.length) {
      try {
        return ok(JSON.parse(text.slice(0, end)));
      } catch {
        // The message for the whole string is more precise.
      }
    }
    return err(badInput('malformed', 'the request body is not valid JSON: ' + reasonOf(error, text)));
  }
}

/** The message of `JSON.parse` quotes the input; it is shortened to one line. */
function reasonOf(error: unknown, text: string): string {
  if (text.trim() === '') return 'it is empty';
  const message = error instanceof Error ? error.message : 'unreadable';
  return JSON.stringify(message.slice(0, 160)).slice(1, -1);
}

/** Where the object or list at the start of the string closes; 0 if it starts with anything else or never closes. */
function endOfFirstValue(text: string): number {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) {
      if (depth === 0) return 0;
      inString = true;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth <= 0) return at + 1;
    }
  }
  return 0;
}

function checkedTree(value: unknown): Result<unknown, BadInput> {
  const fault = faultIn(value, 0);
  return fault === undefined ? ok(value) : err(badInput('malformed', fault));
}

function faultIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number in the request body is out of range';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= maximumJsonDepth) return `the request body is nested deeper than ${maximumJsonDepth} levels`;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = faultIn(value[i], depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
  for (const key in value) {
    if (key === '__proto__') return 'the key "__proto__" is not accepted';
    const fault = faultIn((value as Record<string, unknown>)[key], depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
