import { everyNamespace } from '../../access/allows.js';
import type { ListQuery, ReadView, Row } from '../../ports/storage.js';
import { createdPositionOf, createdTokenOf } from '../../queries/list-tokens.js';
import type { Source } from '../../queries/page.js';
import type { Table } from '../../shared/table.js';
import { limited, type NamespacedRequest } from './keyed-source.js';

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
  // Rows of one write share the first part of the position: within it the ID decides, and is compared here.
  const isBefore = (row: Row<R>, createIndex: number, id: string): boolean => {
    const { CreateIndex, ID } = row.record;
    if (CreateIndex !== createIndex) return false;
    return reverse ? ID > id : ID < id;
  };
  return {
    slice: (last: Row<R> | undefined, limit: number | undefined): readonly Row<R>[] => {
      const start =
        last !== undefined
          ? ([last.record.CreateIndex, last.record.ID] as const)
          : nextToken === ''
            ? undefined
            : createdPositionOf(nextToken);
      if (start === undefined) return view.list(table, { index, prefix, reverse, ...limited(limit) });
      const [createIndex, id] = start;
      const range: ListQuery = reverse ? { to: [...prefix, createIndex, null] } : { from: [...prefix, createIndex] };
      // One write can have created more rows than a slice holds: read on until the slice is past the position.
      for (let reading = limit; ; reading = reading === undefined ? undefined : reading * 2) {
        const rows = view.list(table, { index, prefix, ...range, reverse, ...limited(reading) });
        const rest = rows.filter(
          (row) => !isBefore(row, createIndex, id) && !(last !== undefined && row.record.ID === id),
        );
        if (limit === undefined || rest.length >= limit) return limit === undefined ? rest : rest.slice(0, limit);
        if (reading === undefined || rows.length < reading) return rest;
      }
    },
    token: (row: Row<R>) => createdTokenOf(row.record),
  };
}
