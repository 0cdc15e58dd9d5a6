import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { everyNamespace } from '../../access/allows.js';
import type { Filter } from '../../filter/compile-filter.js';
import type { FilterSyntaxError } from '../../filter/parse-filter.js';
import type { FilterEvaluationError } from '../../filter/value-tests.js';
import type { ListQuery, ReadView, Row, StorageError } from '../../ports/storage.js';
import {
  namedPositionOf,
  namedTokenOf,
  type Page,
  type PageByToken,
  pageInSteps,
  type RowFilter,
  type Source,
  takesAll,
} from '../../queries/page.js';
import { finish, type Steps } from '../../scheduler/steps.js';
import type { Key, Table } from '../../shared/table.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, atOnce, type Watch } from '../waiting/parked-queries.js';

/** What every list takes. */
export interface ListRequest extends PageByToken {
  /** Beginning of the IDs or names. */
  readonly prefix?: string;
  /** Filter expression, applied to the stored records before they are counted; empty and absent mean all. */
  readonly filter?: string;
}

/** A syntax error in a filter, or an unknown selector. */
export type FilterFault = FilterSyntaxError | FilterEvaluationError;

/** A page of a list, with the index to wait for next. */
export type ListAnswer<T, E = never> = ResultAsync<Answer<Page<T>>, StorageError | FilterFault | E>;

/** A list of stored rows `T`, shown as `S`. */
interface List<T, S> {
  /** Identifies the list, and everything besides the request that its result depends on. */
  readonly key: readonly unknown[];
  /** The tables, or parts of them, that affect the result. Its index is the highest of the tables. */
  readonly tables: readonly Watch[];
  readonly source: (view: ReadView) => Source<T>;
  /** Whether the reader can never see any record: the index is then 0. */
  readonly isHidden?: (view: ReadView) => boolean;
  /** Compiles filters for the records (`compileFilter`). */
  readonly filters: (expression: string) => Result<Filter, FilterSyntaxError>;
  /** The stored record that a filter is applied to. */
  readonly filtered: (view: ReadView, row: T, filter: Filter) => unknown;
  readonly show: (view: ReadView, row: T) => S;
}

/**
 * Answers a list, at once or when it has changed. Rights and exact parameters come first (`source.accept`), then the
 * filter, then the count of the items. Errors never wait.
 */
export function answerList<T, S>(
  context: EngineContext,
  request: ListRequest & MayWait,
  list: List<T, S>,
): ListAnswer<S> {
  const filter = compiled(list, request.filter);
  if (filter.isErr()) return errAsync(filter.error);
  const { prefix = '', filter: expression = '', perPage = 0, nextToken = '', reverse = false, waiting } = request;
  const query = {
    key: () => JSON.stringify([...list.key, prefix, expression, perPage, nextToken, reverse]),
    tables: list.tables,
    run: (view: ReadView) => finish(pageAnswer(() => view, list, perPage, filter.value)),
    steps: (current: () => ReadView) => pageAnswer(current, list, perPage, filter.value),
  };
  return answerQuery(context, query, waiting).andThen((answer) =>
    isFault(answer) ? err(answer.value) : ok(answer as Answer<Page<S>>),
  );
}

function compiled<T, S>(list: List<T, S>, expression = ''): Result<Filter | undefined, FilterSyntaxError> {
  return expression === '' ? ok(undefined) : list.filters(expression);
}

/** A page in steps, so that a list over many rows does not block the event loop. The index is that of the first step. */
function* pageAnswer<T, S>(
  current: () => ReadView,
  list: List<T, S>,
  perPage: number,
  filter: Filter | undefined,
): Steps<Answer<Page<S> | FilterEvaluationError>> {
  let view = current();
  let source = list.source(view);
  const isHidden = list.isHidden?.(view) ?? false;
  const index = isHidden ? 0 : Math.max(...list.tables.map((table) => view.tableIndex(table)));
  const sourceNow = (): Source<T> => {
    if (source.isHeld === true || view === current()) return source;
    view = current();
    source = list.source(view);
    return source;
  };
  const matches: RowFilter<T, FilterEvaluationError> =
    filter === undefined ? takesAll : (row) => filter.matches(list.filtered(current(), row, filter));
  const show = (row: T): S => list.show(current(), row);
  const page = yield* pageInSteps(sourceNow, { perPage, filter: matches, show });
  return page.isErr() ? { index: atOnce, value: page.error } : { index, value: page.value };
}

function isFault<S>(answer: Answer<Page<S> | FilterEvaluationError>): answer is Answer<FilterEvaluationError> {
  return 'type' in answer.value;
}

export interface NamespacedRequest extends ListRequest {
  /** `*` means all. */
  readonly namespace: string;
  readonly sees: (namespace: string) => boolean;
}

/** `sees` for callers who may list every namespace. It does not read the rows. */
export function everythingSeen(): boolean {
  return true;
}

/**
 * Records of a table whose key is a namespace and a name (job interface, list order): by namespace, then by name. With a prefix over all
 * namespaces the order is never reversed. The token is `<namespace>.<name>`.
 */
export function namespacedSource<R extends { readonly Namespace: string }>(
  view: ReadView,
  table: Table<R>,
  { namespace, sees, prefix = '', nextToken = '', ...request }: NamespacedRequest,
  nameOf: (record: R) => string,
): Source<Row<R>> {
  const inAll = namespace === everyNamespace;
  const reverse = request.reverse === true && !(inAll && prefix !== '');
  const keyOf = ({ record }: Row<R>): Key => [record.Namespace, nameOf(record)];
  const scope = inAll ? {} : { prefix: [namespace], ...(prefix === '' ? {} : { textPrefix: prefix }) };
  const start = nextToken === '' ? undefined : namedPositionOf(nextToken);
  return {
    slice: (last, limit) =>
      view.list(table, { ...scope, ...rangeFrom(start, last && keyOf(last), reverse), ...limited(limit), reverse }),
    accept: inAll ? acceptedOfAll(sees, prefix, nameOf) : () => sees(namespace),
    token: ({ record }) => namedTokenOf(record.Namespace, nameOf(record)),
  };
}

function acceptedOfAll<R extends { readonly Namespace: string }>(
  sees: NamespacedRequest['sees'],
  prefix: string,
  nameOf: (record: R) => string,
): (row: Row<R>) => boolean {
  if (sees === everythingSeen && prefix === '') return everythingSeen;
  return ({ record }) => sees(record.Namespace) && nameOf(record).startsWith(prefix);
}

/** Records of a table whose key is one string, in its order. The token is that string. */
export function namedSource<R>(
  view: ReadView,
  table: Table<R>,
  { prefix = '', nextToken = '', reverse = false }: ListRequest,
  accept: (record: R) => boolean = () => true,
): Source<Row<R>> {
  const nameOf = ({ record }: Row<R>): string => String(table.key(record)[0]);
  const start = nextToken === '' ? undefined : [nextToken];
  return {
    slice: (last, limit) =>
      view.list(table, {
        ...(prefix === '' ? {} : { textPrefix: prefix }),
        ...rangeFrom(start, last && [nameOf(last)], reverse),
        ...limited(limit),
        reverse,
      }),
    accept: ({ record }) => accept(record),
    token: nameOf,
  };
}

/** Records that are all in memory, in the order of their names. The token is the name. */
export function heldSource<R>(
  records: readonly R[],
  { nextToken = '', reverse = false }: ListRequest,
  nameOf: (record: R) => string,
): Source<R> {
  const ordered = reverse ? records.toReversed() : records;
  const isBefore = (record: R) => (reverse ? nameOf(record) > nextToken : nameOf(record) < nextToken);
  const page = nextToken === '' ? ordered : ordered.filter((record) => !isBefore(record));
  return {
    slice: (last, limit) => {
      const start = last === undefined ? 0 : page.indexOf(last) + 1;
      return page.slice(start, limit === undefined ? undefined : start + limit);
    },
    accept: () => true,
    token: nameOf,
    isHeld: true,
  };
}

/** The rows of one source, and then those of another. */
interface Chain<T> {
  readonly first: Source<T>;
  readonly second: Source<T>;
  readonly isOfSecond: (row: T) => boolean;
  /** The page begins in the second source. */
  readonly startsInSecond: boolean;
}

export function chainedSource<T>({ first, second, isOfSecond, startsInSecond }: Chain<T>): Source<T> {
  const sourceOf = (row: T): Source<T> => (isOfSecond(row) ? second : first);
  return {
    slice: (last, limit) => {
      if (last === undefined ? startsInSecond : isOfSecond(last)) return second.slice(last, limit);
      const rows = first.slice(last, limit);
      if (limit !== undefined && rows.length >= limit) return rows;
      return [...rows, ...second.slice(undefined, limit === undefined ? undefined : limit - rows.length)];
    },
    accept: (row) => sourceOf(row).accept(row),
    token: (row) => sourceOf(row).token(row),
  };
}

/** The range after the last row, or from the start of the page. A key with one more part sorts directly after the key without it. */
function rangeFrom(start: Key | undefined, last: Key | undefined, reverse: boolean): Pick<ListQuery, 'from' | 'to'> {
  if (last !== undefined) return reverse ? { to: last } : { from: [...last, null] };
  if (start === undefined) return {};
  return reverse ? { to: [...start, null] } : { from: start };
}

export function limited(limit: number | undefined): { limit?: number } {
  return limit === undefined ? {} : { limit };
}
