import { deepestValue, wholeWork } from './limits.js';

/** One check: a value that fits, one that does not, and one of which it cannot be said because a part of the schema is not usable. */
export type Verdict = -1 | 0 | 1;

export const UNFIT = -1;
export const OPEN = 0;
export const FITS = 1;

/** A part of a schema, ready to check values. */
export interface SchemaNode {
  /** JSON pointer of the part within the schema; empty for the whole. */
  readonly pointer: string;
  readonly checks: Check[];
  /** The parts that check the same value. */
  readonly inPlace: SchemaNode[];
  /** Whether a reference leads here: the same value can be checked by it many times. */
  isTarget: boolean;
}

/** What one keyword says of a value. */
export type Check = (value: unknown, run: Run, place: Place) => Verdict;

/** Where a value is in the data, from the inside out. */
export interface Place {
  readonly name: string | number;
  readonly outer: Place | null;
}

/** What is wrong with a value. */
export interface SchemaFault {
  /** Names of members and numbers of elements, from the outside in. */
  readonly path: readonly (string | number)[];
  /** The rest of a sentence that begins with the value. */
  readonly message: string;
}

/** The most errors that are reported. */
const mostFaults = 20;

/** Marks the value itself; its name is not used. */
export const top: Place = { name: '', outer: null };

/** The check of one value: what may still be spent on it, and the faults found. */
export class Run {
  readonly faults: SchemaFault[] = [];
  /** Why the check stopped before its end. */
  stopped: string | null = null;
  #left = wholeWork;
  #depth = 0;
  #silence = 0;
  readonly #known = new Map<SchemaNode, Map<unknown, Verdict>>();

  /** Whether the work, in units of about 10 ns, may still be done. */
  spend(work: number): boolean {
    this.#left -= work;
    if (this.#left < 0) this.stopped ??= 'takes too much work to check against its schema';
    return this.stopped === null;
  }

  get isSilent(): boolean {
    return this.#silence > 0;
  }

  /** Checks without reporting faults: of one alternative among several, for example. */
  silently(judge: () => Verdict): Verdict {
    this.#silence += 1;
    const verdict = judge();
    this.#silence -= 1;
    return verdict;
  }

  unfit(place: Place, message: string): Verdict {
    if (!this.isSilent && this.faults.length < mostFaults) this.faults.push({ path: pathOf(place), message });
    return UNFIT;
  }

  judge(node: SchemaNode, value: unknown, place: Place): Verdict {
    if (!this.spend(20)) return OPEN;
    if (!node.isTarget || typeof value !== 'object' || value === null) return this.#judgeAnew(node, value, place);
    const known = this.#known.get(node) ?? new Map<unknown, Verdict>();
    const verdict = known.get(value);
    // What does not fit is checked again where its faults are to be reported.
    if (verdict !== undefined && (verdict !== UNFIT || this.isSilent)) return verdict;
    const judged = this.#judgeAnew(node, value, place);
    this.#known.set(node, known.set(value, judged));
    return judged;
  }

  #judgeAnew(node: SchemaNode, value: unknown, place: Place): Verdict {
    if (this.#depth >= deepestValue) {
      this.stopped ??= 'is nested too deep';
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
