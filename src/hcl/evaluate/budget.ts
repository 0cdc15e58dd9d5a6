/**
 * What one evaluation may cost at most. The language itself has no such bound: a nested `for` over `range(1024)`, or a chain of
 * locals that each use the one before twice, is a few lines of text and an unbounded amount of work.
 */
export interface BudgetLimits {
  /** Units of work: one per expression evaluated, per collection element made, and per 64 characters of text made. */
  readonly steps: number;
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
}

/** Limits that no job written by hand comes near, and that keep a hostile one below about a second. */
export const defaultBudgetLimits: BudgetLimits = {
  steps: 2_000_000,
  depth: 200,
  textLength: 1024 * 1024,
  collectionSize: 100_000,
  valueSize: 2 * 1024 * 1024,
  sourceLength: 1024 * 1024,
};

/** Work left in one evaluation. Once spent it stays spent: `try` and `can` cannot hide it. */
export interface Budget {
  readonly limits: BudgetLimits;
  /** Steps charged so far. */
  readonly spent: number;
  readonly exhausted: boolean;
  /** Charges work about to be done; false means there is not enough left, and it must not be done. */
  charge(steps: number): boolean;
  /** Charges text about to be made; false when it is longer than one string may be, or the budget is spent. */
  chargeText(length: number): boolean;
  /** Charges a collection about to be made; false when it has more elements than allowed, or the budget is spent. */
  chargeElements(count: number): boolean;
}

/** A fresh budget; limits that are not given are the defaults. */
export function createBudget(limits: Partial<BudgetLimits> = {}): Budget {
  const effective: BudgetLimits = { ...defaultBudgetLimits, ...limits };
  let spent = 0;
  let exhausted = false;
  const charge = (steps: number): boolean => {
    spent += steps;
    if (!(spent <= effective.steps)) exhausted = true;
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
    chargeText: (length) => chargeUpTo(length, effective.textLength, 1 + (length >>> 6)),
    chargeElements: (count) => chargeUpTo(count, effective.collectionSize, 1 + count),
  };
}
