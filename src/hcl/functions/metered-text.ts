import type { Budget } from '../evaluate/budget.js';

/** Thrown through an engine that has no other way to be stopped. */
export class OutOfWork extends Error {}

/** Characters paid for at once. */
const BATCH = 512;

/**
 * A text for the regular expression engine that charges for every character that is looked at. The engine's time is linear in
 * the text for one search, but a search for each of many matches may look at all of it again.
 */
export class MeteredText extends String {
  /** Units of work of one search beyond the characters: a short program keeps a table of where it has been, cleared each time. */
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
    // Beyond its limits the engine follows all states of the program side by side.
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

/** The limits below which the engine searches one path after the other. */
const BACKTRACKING_PROGRAM = 500;
const BACKTRACKING_STATES = 262_144;
