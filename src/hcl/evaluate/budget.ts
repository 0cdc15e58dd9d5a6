/**
 * What one evaluation may cost at most. The language itself has no such bound: a nested `for` over `range(1024)`, or a chain of
 * locals that each use the one before twice, is a few lines of text and an unbounded amount of work.
 *
 * Work is counted in units of about a tenth of a microsecond of processor time: what an expression, an element or a few dozen
 * characters cost. Whatever takes longer says so before it is done, at its price in this unit.
 */
export interface BudgetLimits {
  /** Units of work in one turn: between two points where the work can be interrupted. A synchronous call is one turn. */
  readonly steps: number;
  /** Units of work in all turns together. */
  readonly totalSteps: number;
  /** Nesting of blocks, expressions, templates and values. */
  readonly depth: number;
  /** Characters (UTF-16 units) in one string. */
  readonly textLength: number;
  /** Direct elements of one collection. */
  readonly collectionSize: number;
  /** Weight of one value (see `sizeOf`): nested elements and characters, each counted as often as it can be reached. */
  readonly valueSize: number;
  /** Characters of the text to parse. */
  readonly sourceLength: number;
  /** Words, signs and line ends of the text to parse. */
  readonly sourceTokens: number;
}

/** Limits that no job written by hand comes near, and that keep a hostile one below a quarter of a second in one turn. */
export const defaultBudgetLimits: BudgetLimits = {
  steps: 1_000_000,
  totalSteps: 10_000_000,
  depth: 200,
  textLength: 1024 * 1024,
  collectionSize: 100_000,
  valueSize: 2 * 1024 * 1024,
  sourceLength: 1024 * 1024,
  sourceTokens: 500_000,
};

/** Work left in one evaluation. Once spent it stays spent: `try` and `can` cannot hide it. */
export interface Budget {
  readonly limits: BudgetLimits;
  /** Steps charged so far, in all turns. */
  readonly spent: number;
  readonly exhausted: boolean;
  /** Charges work about to be done; false means there is not enough left, and it must not be done. */
  charge(steps: number): boolean;
  /** Charges text about to be made; false when it is longer than one string may be, or the budget is spent. */
  chargeText(length: number): boolean;
  /** Charges a collection about to be made; false when it has more elements than allowed, or the budget is spent. */
  chargeElements(count: number): boolean;
  /** True when this turn has done enough: it should be interrupted at the next point where it can be. */
  readonly turnIsLong: boolean;
  /** A new turn begins: the steps of one turn are there again, as far as there are any left in all. */
  beginTurn(): void;
}

/** The part of a turn's steps after which it is ended at the next point where it can be. */
const LONG_TURN = 1 / 4;

/** A fresh budget; limits that are not given are the defaults. */
export function createBudget(limits: Partial<BudgetLimits> = {}): Budget {
  const given: BudgetLimits = { ...defaultBudgetLimits, ...limits };
  const effective: BudgetLimits = { ...given, totalSteps: Math.max(given.totalSteps, given.steps) };
  let spent = 0;
  let turnEnds = effective.steps;
  let exhausted = false;
  const charge = (steps: number): boolean => {
    spent += steps;
    if (!(spent <= turnEnds)) exhausted = true;
    return !exhausted;
  };
  const chargeUpTo = (size: number, limit: number, steps: number): boolean => {
    if (!(size <= limit)) exhausted = true;
    return charge(steps);
  };
  return {
    limits: effective,
    get spent() {
      return spent;
    },
    get exhausted() {
      return exhausted;
    },
    charge,
    chargeText: (length) => chargeUpTo(length, effective.textLength, 1 + (length >>> 5)),
    chargeElements: (count) => chargeUpTo(count, effective.collectionSize, 1 + count),
    get turnIsLong() {
      return spent > turnEnds - effective.steps * (1 - LONG_TURN);
    },
    beginTurn: () => {
      turnEnds = Math.min(effective.totalSteps, spent + effective.steps);
    },
  };
}
