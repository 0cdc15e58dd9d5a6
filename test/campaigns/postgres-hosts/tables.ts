import { table } from '../../../src/shared/table.js';

/**
 * How an operation is committed: in a transaction of the host, with statements alongside, or without any. `refused` and `alone` are refused,
 * and the host then rolls back, or commits its rows alone; `broken` breaks a constraint that is checked at COMMIT.
 */
export type Kind = 'with' | 'alongside' | 'plain' | 'refused' | 'alone' | 'broken';

/** Rows of the host that operations count in. */
export const hotRows = 30;

export interface Logged {
  readonly id: string;
  readonly kind: Kind;
  readonly hot: number;
  readonly index: number;
  readonly total: number;
}

export const log = table<Logged>('log', ({ id }) => [id]);
export const totals = table<{ readonly key: string; readonly count: number }>('totals', ({ key }) => [key]);
