/**
 * Limits on the cost of one evaluation. The language itself has none: a nested `for` over `range(1024)`, or a chain of
 * locals that each use the previous one twice, is a few lines of source and an unbounded amount of work.
 *
 * Work is counted in units of about 0.1 µs of processor time: the cost of an expression, an element or a few dozen
 * characters. Longer operations charge their cost in this unit before they start.
 */
export interface BudgetLimits {
  /** Units of work in one turn, that is, between two points where the work can be interrupted. A synchronous call is one turn. */
  readonly steps: number;
  /** Units of work in all turns together. */
  readonly totalSteps: number;
  /** Nesting of blocks, expressions, templates and values. */
  readonly depth: number;
  /** Characters (UTF-16 units) in one string. */
  readonly textLength: number;
  /** Direct elements of one collection. */
  readonly collectionSize: number;
  /** Size of one value (see `sizeOf`): nested elements and characters; shared parts count once per reference. */
  readonly valueSize: number;
  /** Characters of the source to parse. */
  readonly sourceLength: number;
  /** Tokens of the source to parse, including line ends. */
  readonly sourceTokens: number;
}

/** Far above any job written by hand; they keep a hostile source below a quarter of a second per turn. */
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

/** Work left in one evaluation. A spent budget stays spent: `try` and `can` do not hide it. */
export interface Budget {
  /** The limits that it was created with. */
  readonly limits: BudgetLimits;
  /** Steps charged so far, in all turns. */
  readonly spent: number;
  /** Whether the evaluation has used up its budget. */
  readonly exhausted: boolean;
  /** Charges work before it is done; false if the budget does not cover it, and the work must not be done. */
  charge(steps: number): boolean;
  /** Charges a string before it is built; false if it exceeds the limit of one string, or the budget is spent. */
  chargeText(length: number): boolean;
  /** Charges a collection before it is built; false if it has too many elements, or the budget is spent. */
  chargeElements(count: number): boolean;
  /** True if the turn is nearly used up and should end at the next interruption point. */
  readonly turnIsLong: boolean;
  /** Begins a new turn with a full turn's steps, or with what is left of the total if that is less. */
  beginTurn(): void;
}

/** The fraction of a turn's steps after which it ends at the next interruption point. */
const LONG_TURN = 1 / 4;

/** A new budget. Limits that are not given have their defaults. */
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
