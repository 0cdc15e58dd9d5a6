export type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum nesting of checks: each level of the data needs one or more. */
const deepestValue = 1_000;

/** Maximum work for one value, in units of about 10 ns: a quarter of a second. */
const wholeWork = 25_000_000;

/** Result of a check: the value fits, does not fit, or the result is unknown because a part of the schema is unusable. */
export type Verdict = -1 | 0 | 1;

export const UNFIT = -1;
export const OPEN = 0;
export const FITS = 1;

/** A part of a schema, ready to validate values. */
export interface SchemaNode {
  /** JSON pointer of the part within the schema; empty for the whole. */
  readonly pointer: string;
  readonly checks: Check[];
  /** The parts that check the same value. */
  readonly inPlace: SchemaNode[];
  /** Whether a reference points here, so that the same value may be checked by it many times. */
  isTarget: boolean;
}

/** Result of one keyword for a value. */
export type Check = (value: unknown, run: Run, place: Place) => Verdict;

/** Position of a value in the data, from the inside out. */
export interface Place {
  readonly name: string | number;
  readonly outer: Place | null;
}

/** A fault of a value. */
export interface SchemaFault {
  /** Names of members and numbers of elements, from the outside in. */
  readonly path: readonly (string | number)[];
  /** The rest of a sentence whose subject is the value. */
  readonly message: string;
}

/** Maximum number of reported errors. */
const mostFaults = 20;

/** Marks the value itself; its name is not used. */
export const top: Place = { name: '', outer: null };

/** The validation of one value: the remaining work, and the faults found. */
export class Run {
  readonly faults: SchemaFault[] = [];
  /** Why the validation stopped early. */
  stopped: string | null = null;
  #left = wholeWork;
  #depth = 0;
  #silence = 0;
  readonly #known = new Map<SchemaNode, Map<unknown, Verdict>>();

  /** Charges work, in units of about 10 ns; false if it exceeds the limit. */
  spend(work: number): boolean {
    this.#left -= work;
    if (this.#left < 0) this.stopped ??= 'takes too much work to check against its schema';
    return this.stopped === null;
  }

  get isSilent(): boolean {
    return this.#silence > 0;
  }

  /** Checks without reporting faults: for example one alternative among several. */
  silently(check: () => Verdict): Verdict {
    this.#silence += 1;
    const verdict = check();
    this.#silence -= 1;
    return verdict;
  }

  unfit(place: Place, message: string): Verdict {
    if (!this.isSilent && this.faults.length < mostFaults) this.faults.push({ path: pathOf(place), message });
    return UNFIT;
  }

  check(node: SchemaNode, value: unknown, place: Place): Verdict {
    if (!this.spend(20)) return OPEN;
    if (!node.isTarget || typeof value !== 'object' || value === null) return this.#checkAnew(node, value, place);
    const known = this.#known.get(node) ?? new Map<unknown, Verdict>();
    const verdict = known.get(value);
    // A failed value is checked again if its faults are to be reported.
    if (verdict !== undefined && (verdict !== UNFIT || this.isSilent)) return verdict;
    const checked = this.#checkAnew(node, value, place);
    this.#known.set(node, known.set(value, checked));
    return checked;
  }

  #checkAnew(node: SchemaNode, value: unknown, place: Place): Verdict {
    if (this.#depth >= deepestValue) {
      this.stopped ??= 'is nested too deeply';
      return OPEN;
    }
    this.#depth += 1;
    let verdict: Verdict = FITS;
    for (const check of node.checks) {
      verdict = worse(verdict, check(value, this, place));
      if (this.stopped !== null || (verdict === UNFIT && this.isSilent)) break;
    }
    this.#depth -= 1;
    return verdict;
  }
}

export function worse(a: Verdict, b: Verdict): Verdict {
  return a < b ? a : b;
}

function pathOf(place: Place): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: Place = place; at.outer !== null; at = at.outer) path.push(at.name);
  return path.reverse();
}

/** A problem of a schema. */
export interface SchemaProblem {
  /** JSON pointer within the schema; empty for the whole. */
  readonly pointer: string;
  /** The rest of a sentence whose subject is the keyword or the schema. */
  readonly message: string;
}

/** A reference, whose target is resolved when the whole schema has been read. */
export interface Reference {
  readonly text: string;
  readonly from: SchemaNode;
  target: SchemaNode | null;
}

/** A part of a schema while it is read: the context of keywords. */
export interface Part {
  readonly schema: JsonObject;
  readonly node: SchemaNode;
  /** Reports that a keyword cannot be enforced. Its check leaves the value open. */
  refuse(keyword: string, message: string): Check;
  /** Reads a part for a child of the value: a member or an element. */
  inner(schema: unknown, ...path: readonly (string | number)[]): SchemaNode;
  /** Reads a part for the value itself. */
  same(schema: unknown, ...path: readonly (string | number)[]): SchemaNode;
  reference(text: string): Reference;
  anchor(name: string): void;
  /** Whether a pattern that takes this many microseconds to compile may still be compiled. */
  spendCompiling(time: number): boolean;
}

/** Keywords that are interpreted together. */
export interface KeywordGroup {
  readonly keywords: readonly string[];
  /** The check of the group, called when a part has one of its keywords; null when there is nothing to check. */
  readonly read: (part: Part) => Check | null;
}

export const leaveOpen: Check = () => OPEN;

/** A name escaped for a JSON pointer. */
export function pointed(name: string | number): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1');
}
