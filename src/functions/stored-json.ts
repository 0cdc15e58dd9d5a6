import { err, ok, type Result } from 'neverthrow';
import { byteLength } from '../jobs/validation/problems.js';

/** What an input, a result and the value of a step may be. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json | undefined };

/** How deep a value may be: far more than people write, far less than would exhaust the stack. */
const deepest = 200;

/** A value of the host as it is kept: a copy, which later changes of the original do not reach, and its JSON. */
export interface StoredJson {
  readonly value: Json;
  readonly text: string;
}

/** Why a value is not kept. */
interface RefusedJson {
  readonly type: 'not_json' | 'too_large';
  readonly message: string;
}

/**
 * The JSON of a value, which is kept as it is or refused with the path of the part. Members that are undefined count as absent. Each
 * part is read once: it may be a getter or a proxy, and throw. `what` is the subject of the message; `most`: bytes.
 */
export function storedJson(what: string, given: unknown, most: number): Result<StoredJson, RefusedJson> {
  // Somewhat too large ones are measured, so that the message can name the part.
  const copy = new Copy(most + 65_536);
  let value: Json;
  try {
    value = copy.of(given);
  } catch (error) {
    if (error instanceof TooLarge) return err(tooLarge(what, `more than ${most}`, `, reached in ${copy.place}`, most));
    // A getter or a proxy has thrown.
    const fault = error instanceof Fault ? error.message : `${copy.place} cannot be read`;
    return err({ type: 'not_json', message: `the ${what} is not JSON: ${fault}` });
  }
  const text = JSON.stringify(value);
  // Not counted for short ones: a character has three bytes at most.
  const size = text.length * 3 <= most ? text.length : byteLength(text);
  if (size <= most) return ok({ value, text });
  const largest = largestPart(value);
  return err(
    tooLarge(what, String(size), largest === undefined ? '' : `, ${largest.bytes} of them in ${largest.path}`, most),
  );
}

const tooLarge = (what: string, size: string, part: string, most: number): RefusedJson => ({
  type: 'too_large',
  message: `the ${what} has ${size} bytes of JSON${part}: at most ${most} are kept`,
});

/** The part that makes a value large: as deep as one member has more than half of it. */
function largestPart(value: unknown): { readonly path: string; readonly bytes: number } | undefined {
  let found: { readonly path: string; readonly bytes: number } | undefined;
  for (let depth = 0; depth < 5 && typeof value === 'object' && value !== null; depth += 1) {
    const isList = Array.isArray(value);
    const parts = Object.entries(value).flatMap(([name, part]: [string, unknown]) =>
      part === undefined ? [] : [{ name, part, bytes: byteLength(JSON.stringify(part)) }],
    );
    const all = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    const largest = parts.find(({ bytes }) => bytes * 2 > all);
    if (largest === undefined) return found;
    const name = largest.name.slice(0, 128);
    const path =
      found === undefined ? (isList ? `[${name}]` : name) : `${found.path}${isList ? `[${name}]` : `.${name}`}`;
    found = { path, bytes: largest.bytes };
    value = largest.part;
  }
  return found;
}

class Fault extends Error {}
/** More parts than the JSON may have characters: such as an object that contains another one very often. */
class TooLarge extends Error {}

const shortened = (name: string): string => (name.length <= 64 ? name : `${name.slice(0, 64)}…`);

const ownMember = { enumerable: true, configurable: true, writable: true };

/** Copies one value. */
class Copy {
  /** Where it is: names of members and numbers of items. */
  readonly #path: (string | number)[] = [];
  /** Characters that are left at most. */
  #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  get place(): string {
    if (this.#path.length === 0) return 'the value';
    const shown = this.#path
      .slice(0, 10)
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${shortened(part)}`));
    return `${shown.join('').replace(/^\./, '')}${this.#path.length > shown.length ? '…' : ''}`;
  }

  of(value: unknown): Json {
    this.#room -= 1;
    if (this.#room < 0) throw new TooLarge();
    if (typeof value === 'string') {
      this.#room -= value.length;
      return value;
    }
    if (value === null || typeof value === 'boolean') return value;
    if (typeof value === 'object') return this.#ofObject(value);
    if (typeof value !== 'number') throw this.#fault(value === undefined ? 'is undefined' : `is a ${typeof value}`);
    if (!Number.isFinite(value)) throw this.#fault(`is ${value}, which JSON has not`);
    // JSON has no negative zero.
    return value + 0;
  }

  #ofObject(value: object): Json {
    if (this.#path.length >= deepest) throw this.#fault(`is nested more than ${deepest} deep`);
    const isList = Array.isArray(value);
    if (!isList && !isPlain(value)) throw this.#fault(`is a ${kindOf(value)}: only plain objects and lists are kept`);
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') throw this.#fault('has a method toJSON');
    return isList ? this.#ofItems(value) : this.#ofMembers(value);
  }

  #ofItems(items: readonly unknown[]): Json {
    const { length } = items;
    const copy: Json[] = [];
    for (let at = 0; at < length; at += 1) copy.push(this.#part(items, at) ?? null);
    return copy;
  }

  #ofMembers(members: object): Json {
    const copy: Record<string, Json> = {};
    for (const name of Object.keys(members)) {
      const value = this.#part(members, name);
      if (value === undefined) continue;
      this.#room -= name.length;
      // An assignment to this name would set the prototype.
      if (name === '__proto__') Object.defineProperty(copy, name, { ...ownMember, value });
      else copy[name] = value;
    }
    const symbols = Object.getOwnPropertySymbols(members);
    if (symbols.some((symbol) => Object.prototype.propertyIsEnumerable.call(members, symbol)))
      throw this.#fault('has a member whose name is a symbol');
    return copy;
  }

  /** A member or an item; undefined for a member that counts as absent. */
  #part(whole: object, at: string | number): Json | undefined {
    this.#path.push(at);
    const value = (whole as Readonly<Record<string | number, unknown>>)[at];
    const copy = value === undefined && typeof at === 'string' ? undefined : this.of(value);
    this.#path.pop();
    return copy;
  }

  #fault(fault: string): Fault {
    return new Fault(`${this.place} ${fault}`);
  }
}

/** Objects of another realm, such as those of a test runner, have another `Object.prototype`. */
function isPlain(value: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty');
}

function kindOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? shortened(name) : 'class instance';
}
