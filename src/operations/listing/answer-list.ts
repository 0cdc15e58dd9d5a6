import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Filter } from '../../filter/compile-filter.js';
import type { FilterSyntaxError } from '../../filter/parse-filter.js';
import type { FilterEvaluationError } from '../../filter/value-tests.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Page, pageInSteps, type RowFilter, type Source, takesAll } from '../../queries/page.js';
import { finish, type Steps } from '../../scheduler/steps.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, atOnce } from '../waiting/parked-queries.js';
import type { Watch } from '../waiting/watched-rows.js';
import type { ListRequest } from './list-request.js';

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
  /** Compiles filters for the records (`compileFilter` of the queries). */
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
