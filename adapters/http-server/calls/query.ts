import { err, ok, type Result } from 'neverthrow';
import { plainType } from '../../../src/api/plain-type.js';
import type { HeaderNames } from '../edge/header-names.js';
import type { BadInput } from '../errors/interface-errors.js';
import { type HttpRequest, headerValue } from '../http-message.js';

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

/** For clients of Nomad, undecodable parameters of reads are ignored, as in Nomad; writes with them are refused. */
export function queryFrom(
  request: HttpRequest,
  { vocabulary }: HeaderNames,
  raw: string,
  { changes }: { readonly changes: boolean },
): Query {
  const isRead = request.method === 'GET' && !changes;
  return new Query(raw, raw !== '' && vocabulary === 'upstream' && isRead && !asksForPlain(request));
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
  return badParameter(name, `the value of "${name}" contains an invalid percent-encoding; write % as %25`);
}

export function badParameter(parameter: string, message: string, status?: 500): BadInput {
  return { type: 'bad_input', reason: 'malformed', message, parameter, ...(status === undefined ? {} : { status }) };
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
