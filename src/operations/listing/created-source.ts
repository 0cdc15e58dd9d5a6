import { everyNamespace } from '../../access/allows.js';
import type { ReadView, Row } from '../../ports/storage.js';
import { createdPositionOf, createdTokenOf, type Source } from '../../queries/page.js';
import type { Key, Table } from '../../shared/table.js';
import { limited, type NamespacedRequest } from './answer-list.js';

/** Records that are listed in the order of their creation. */
interface Created {
  readonly ID: string;
  readonly Namespace: string;
  readonly CreateIndex: number;
}

/**
 * Records of a table with the indexes `by_create` and `by_namespace`: by creation and ID, or by ID when there is a prefix
 * (job interface, list order).
 */
export function createdSource<R extends Created>(
  view: ReadView,
  table: Table<R>,
  request: NamespacedRequest,
  accept: (record: R) => boolean = () => true,
): Source<Row<R>> {
  const { namespace, sees, prefix = '' } = request;
  const inAll = namespace === everyNamespace;
  return {
    ...(prefix === '' ? byCreation(view, table, request) : byId(view, table, request)),
    accept: ({ record }) => (inAll || record.Namespace === namespace) && sees(record.Namespace) && accept(record),
  };
}

type Order<R> = Pick<Source<Row<R>>, 'slice' | 'token'>;

function byId<R extends Created>(
  view: ReadView,
  table: Table<R>,
  { prefix = '', nextToken = '', reverse = false }: NamespacedRequest,
): Order<R> {
  return {
    slice: (last: Row<R> | undefined, limit: number | undefined) => {
      const id = last?.record.ID ?? nextToken;
      const behind = last !== undefined;
      const range =
        id === '' ? {} : reverse ? { to: behind ? [id] : [id, null] } : { from: behind ? [id, null] : [id] };
      return view.list(table, { textPrefix: prefix, ...range, reverse, ...limited(limit) });
    },
    token: (row: Row<R>) => row.record.ID,
  };
}

function byCreation<R extends Created>(
  view: ReadView,
  table: Table<R>,
  { namespace, nextToken = '', reverse = false }: NamespacedRequest,
): Order<R> {
  const inAll = namespace === everyNamespace;
  const index = inAll ? 'by_create' : 'by_namespace';
  const prefix = inAll ? [] : [namespace];
  return {
    slice: (last: Row<R> | undefined, limit: number | undefined) => {
      const position = last === undefined ? startOf(nextToken) : [last.record.CreateIndex, last.record.ID];
      if (position === undefined) return view.list(table, { index, prefix, reverse, ...limited(limit) });
      // A key with one more part sorts directly after the key without it.
      const behind = (last !== undefined) === reverse ? [] : [null];
      const bound = [...prefix, ...position, ...behind];
      return view.list(table, {
        index,
        prefix,
        ...(reverse ? { to: bound } : { from: bound }),
        reverse,
        ...limited(limit),
      });
    },
    token: (row: Row<R>) => createdTokenOf(row.record),
  };
}

function startOf(nextToken: string): Key | undefined {
  return nextToken === '' ? undefined : createdPositionOf(nextToken);
}
