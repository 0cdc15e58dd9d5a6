import { everyNamespace } from '../../access/allows.js';
import type { ListQuery, ReadView, Row } from '../../ports/storage.js';
import { namedPositionOf, namedTokenOf, type Source } from '../../queries/page.js';
import type { Key, Table } from '../../shared/table.js';
import type { ListRequest } from './list-request.js';

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
