import { table } from '../../shared/table.js';

/**
 * One thing that a blocked evaluation waits for. Evaluations with the same ask want the same of a node: while the first of them
 * cannot place it, the others need not be tried.
 */
export interface WaitingAsk {
  /** The blocked evaluation. */
  readonly ID: string;
  /** What it waits for; see `asksOf`. */
  readonly ask: string;
  readonly priority: number;
  readonly createIndex: number;
}

export const waitingAsks = table<WaitingAsk>('waiting_asks', (waiting) => [waiting.ID, waiting.ask], {
  /** Those of one ask together, most urgent first. */
  by_ask: { version: 1, key: (waiting) => [waiting.ask, -waiting.priority, waiting.createIndex, waiting.ID] },
});
