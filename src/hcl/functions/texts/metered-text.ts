import type { Budget } from '../../evaluate/budget.js';

/** Thrown to stop the regular expression engine, which offers no other way. */
export class OutOfWork extends Error {}

/** Characters charged at once. */
const BATCH = 512;

/**
 * A string for the regular expression engine that charges every character read. The time of one search is linear in
 * the input, but a search for each of many matches may read all of it again.
 */
export class MeteredText extends String {
  /** Units of work for one search in addition to the characters: a short program clears a table of visited states each time. */
  readonly searchWork: number;
  private readonly text: string;
  private readonly budget: Budget;
  private readonly batchWork: number;
  private paid = 0;

  constructor(text: string, programSize: number, budget: Budget) {
    super(text);
    this.text = text;
    this.budget = budget;
    const states = programSize * (text.length + 1);
    const backtracks = programSize <= BACKTRACKING_PROGRAM && states <= BACKTRACKING_STATES;
    this.searchWork = backtracks ? states >>> 15 : 0;
    // Beyond its limits the engine simulates all states of the program in parallel.
    this.batchWork = Math.ceil(BATCH * (backtracks ? 0.4 + programSize / 50 : 0.5 + programSize / 16));
  }

  override charCodeAt(index: number): number {
    if (this.paid === 0) {
      if (!this.budget.charge(this.batchWork)) throw new OutOfWork();
      this.paid = BATCH;
    }
    this.paid -= 1;
    return this.text.charCodeAt(index);
  }

  override indexOf(search: string, from = 0): number {
    const found = this.text.indexOf(search, from);
    const passed = (found < 0 ? this.text.length : found) - from;
    if (!this.budget.charge(1 + (passed >>> 8) * (1 + (search.length >>> 2)))) throw new OutOfWork();
    return found;
  }

  override substring(start: number, end?: number): string {
    return this.text.substring(start, end);
  }
}

/** The limits below which the engine backtracks. */
const BACKTRACKING_PROGRAM = 500;
const BACKTRACKING_STATES = 262_144;
