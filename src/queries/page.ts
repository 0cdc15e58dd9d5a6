import { ok, type Result } from 'neverthrow';

/**
 * A page of a list (job interface, pagination). The token names the first item of the next page, so that a page begins where
 * the previous one ended even if that item has been removed meanwhile.
 */
export interface Page<T> {
  readonly items: readonly T[];
  /** Empty when nothing follows. */
  readonly nextToken: string;
}

/** The requested page of a list of the job interface. */
export interface PageByToken {
  /** Maximum number of items on the page; 0, negative and absent mean all. */
  readonly perPage?: number;
  /** The token from the previous page; absent for the first page. */
  readonly nextToken?: string;
  /** Whether to list in reverse order. */
  readonly reverse?: boolean;
}

/** A list that is read in slices: the rows from a position on, in order. */
export interface Source<T> {
  /** At most `limit` rows after `last`, or from the start of the page without it. */
  slice(last: T | undefined, limit: number | undefined): readonly T[];
  /** Whether the list contains the row and the caller may see it; rejected rows do not count. */
  accept(row: T): boolean;
  token(row: T): string;
  /** Whether all rows are in memory and never change, so that the list need not be read again. */
  readonly isHeld?: true;
}

/** The caller's filter for accepted rows. Not applied to others; the first error ends the page. */
export type RowFilter<T, E> = (row: T) => Result<boolean, E>;

const longestSlice = 512;
/** Rows that are checked in one step. */
const rowsInStep = 32;

/** The query of a list. */
interface PageWanted<T, S, E> {
  readonly perPage: number | undefined;
  readonly filter: RowFilter<T, E>;
  /** Converts a row of the page to its shown form; called in the step that found it. */
  readonly show: (row: T) => S;
}

/**
 * Reads one page. A page is never shorter than requested while more rows match, however many the filter rejects; rows are read
 * in slices, longer ones while few match, so that a small page of a big list stays cheap.
 */
export function readPage<T, E = never>(
  source: Source<T>,
  perPage: number | undefined,
  filter: RowFilter<T, E> = takesAll,
): Result<Page<T>, E> {
  const steps = pageInSteps(() => source, { perPage, filter, show: (row) => row });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** `readPage` in steps of a slice or some rows each, between which the caller can do other work. Each step reads the then current source. */
export function* pageInSteps<T, S, E>(
  sourceNow: () => Source<T>,
  { perPage, filter, show }: PageWanted<T, S, E>,
): Generator<void, Result<Page<S>, E>> {
  const wanted = limitOf(perPage);
  const items: S[] = [];
  let last: T | undefined;
  let limit = Math.min((wanted ?? longestSlice) + 1, longestSlice);
  for (;;) {
    const rows = sourceNow().slice(last, limit);
    for (const [at, row] of rows.entries()) {
      if (at % rowsInStep === rowsInStep - 1) yield;
      const source = sourceNow();
      if (!source.accept(row)) continue;
      const matches = filter(row);
      if (matches.isErr()) return matches.map(() => noPage);
      if (!matches.value) continue;
      if (items.length === wanted) return ok({ items, nextToken: source.token(row) });
      items.push(show(row));
    }
    last = rows[rows.length - 1];
    if (last === undefined || rows.length < limit) return ok({ items, nextToken: '' });
    limit = Math.min(limit * 2, longestSlice);
    yield;
  }
}

const matched = ok(true);

export function takesAll(): Result<boolean, never> {
  return matched;
}

const noPage: Page<never> = { items: [], nextToken: '' };

/** A page of 0 items means all rows. */
function limitOf(perPage: number | undefined): number | undefined {
  return perPage !== undefined && perPage > 0 ? perPage : undefined;
}

/**
 * Page tokens are opaque to clients, who only pass them back. A malformed one is never an error: it still determines a position in the order
 * (job interface, pagination).
 */

/** The position of a record with a name in a namespace, such as a job: namespaces have no dots, names may. */
export function namedTokenOf(namespace: string, name: string): string {
  return `${namespace}.${name}`;
}

export function namedPositionOf(token: string): readonly [namespace: string, name: string] {
  const dot = token.indexOf('.');
  return dot < 0 ? [token, ''] : [token.slice(0, dot), token.slice(dot + 1)];
}

/** The position of an evaluation, allocation or deployment: in the order of creation, then by ID. */
export function createdTokenOf(row: { readonly CreateIndex: number; readonly ID: string }): string {
  return `${row.CreateIndex}.${row.ID}`;
}

export function createdPositionOf(token: string): readonly [createIndex: number, id: string] {
  const match = /^(\d{1,15})(?:\.(.*))?$/s.exec(token);
  return match === null ? [0, ''] : [Number(match[1]), match[2] ?? ''];
}

/** The position of a job in the order of changes. Unless it is the first of its write, the token includes its namespace and ID. */
export function changedTokenOf(job: Changed, isFirst: boolean): string {
  const index = String(job.ModifyIndex);
  return isFirst ? index : `${index}.${namedTokenOf(job.Namespace, job.ID)}`;
}

/** Undefined for a string that names no change. Without namespace and ID: the first change of the write. */
export function changedPositionOf(
  token: string,
): readonly [modifyIndex: number, job: readonly [namespace: string, id: string] | undefined] | undefined {
  const dot = token.indexOf('.');
  const index = Number(dot < 0 ? token : token.slice(0, dot));
  if (!Number.isFinite(index)) return undefined;
  return [index, dot < 0 ? undefined : namedPositionOf(token.slice(dot + 1))];
}

interface Changed {
  readonly ModifyIndex: number;
  readonly Namespace: string;
  readonly ID: string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a string can be the whole ID of an evaluation, allocation, deployment or node. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
