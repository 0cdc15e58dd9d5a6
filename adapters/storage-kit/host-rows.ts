/*
 * Rows of the host in the transaction of a store: what every store refuses.
 */

/** The host misused the transaction of the store: nothing of the operation was stored. */
export class HostTransactionError extends Error {}

export const usedTwice = (of: 'alongside' | 'commitWith'): string =>
  `\`${of}\` is for one operation with one write: create another one for the next operation.`;

/** Throws for what the host's function has returned if it waits for something. */
export function assertSynchronous(given: unknown): void {
  const { then }: { then?: unknown } = given ?? {};
  if (typeof then !== 'function') return;
  Promise.resolve(given).catch(() => undefined);
  throw new HostTransactionError(
    'The function for your rows must be synchronous: the transaction does not wait for promises.',
  );
}

/** What belongs to a store: statements that would end its transaction or act outside of it, and its tables. */
export interface StoreOwned {
  readonly verbs: ReadonlySet<string>;
  readonly tables: RegExp;
  /** As in `signalbox_…`. */
  readonly tableNames: string;
}

/** Throws for a statement that the host may not execute. `isOpen`: during the call of the host's function. */
export function assertOfHost(text: string, isOpen: boolean, { verbs, tables, tableNames }: StoreOwned): void {
  if (!isOpen)
    throw new HostTransactionError('The transaction has ended: run statements only during the call of your function.');
  const code = text.replace(/--[^\n]*|\/\*[\s\S]*?(\*\/|$)/g, ' ').trim();
  const verb = (/^[a-z]*/i.exec(code)?.[0] ?? '').toUpperCase();
  if (verbs.has(verb)) throw new HostTransactionError(`${verb} is not allowed in the transaction of the store.`);
  if (tables.test(code)) throw new HostTransactionError(`Tables named ${tableNames} belong to the store.`);
}
