import { err, ok, type Result } from 'neverthrow';
import type { BadInput } from '../errors/bad-input.js';

/** The query string of a request, parsed on first access. A repeated name keeps its first value. */
export class Query {
  /** As sent, without the question mark. */
  readonly raw: string;
  #values: Map<string, string | undefined> | undefined;

  constructor(raw: string) {
    this.raw = raw;
  }

  get isEmpty(): boolean {
    return this.raw === '';
  }

  /** The decoded value; undefined when the name does not occur. An invalid percent-encoding is an error. */
  get(name: string): Result<string | undefined, BadInput> {
    if (this.raw === '') return ok(undefined);
    this.#values ??= valuesFrom(this.raw);
    const value = this.#values.get(name);
    if (value === undefined && this.#values.has(name)) {
      return err(undecodable(name));
    }
    return ok(value);
  }

  /** Every value of a name that may be repeated, in order. */
  all(name: string): Result<readonly string[], BadInput> {
    if (this.raw === '') return ok([]);
    const values = valuesOf(this.raw, name);
    const texts = values.filter((value) => value !== undefined);
    return texts.length < values.length ? err(undecodable(name)) : ok(texts);
  }
}

/** All values of a name, decoded. */
function valuesOf(raw: string, wanted: string): readonly (string | undefined)[] {
  return raw.split('&').flatMap((pair) => {
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    return pair === '' || name !== wanted ? [] : [equals < 0 ? '' : decodeFormText(pair.slice(equals + 1))];
  });
}

function undecodable(name: string): BadInput {
  return badParameter(name, `the value of "${name}" holds an invalid percent-encoding; write % as %25`);
}

export function badParameter(parameter: string, message: string, status?: 500): BadInput {
  return { type: 'bad_input', reason: 'malformed', message, parameter, ...(status === undefined ? {} : { status }) };
}

/** Names that cannot be decoded are dropped; values that cannot be decoded are kept as undefined. */
function valuesFrom(raw: string): Map<string, string | undefined> {
  const values = new Map<string, string | undefined>();
  for (const pair of raw.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    if (name === undefined || values.has(name)) continue;
    values.set(name, equals < 0 ? '' : decodeFormText(pair.slice(equals + 1)));
  }
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
