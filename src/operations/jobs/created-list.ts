import { everyNamespace } from '../../access/allows.js';
import type { ListQuery, ReadView, Row } from '../../ports/storage.js';
import { createdPlaceOf, createdTokenOf } from '../../queries/list-tokens.js';
import { type Page, type PageRequest, readPage } from '../../queries/page.js';
import type { Table } from '../../shared/table.js';
import type { Visibility } from './read-query.js';

/** Records that are listed in the order of their creation. */
interface Created {
  readonly ID: string;
  readonly Namespace: string;
  readonly CreateIndex: number;
}

export interface CreatedListRequest<R> extends PageRequest {
  readonly namespace: string;
  readonly visibility: Visibility;
  /** Beginning of the IDs; then the list is in the order of IDs. */
  readonly prefix: string;
  readonly accept: (record: R) => boolean;
}

/**
 * A page of a table with the indexes `by_create` and `by_namespace`: by creation and ID, or by ID when there is a prefix
 * (job interface, list order).
 */
export function readCreatedPage<R extends Created>(
  view: ReadView,
  table: Table<R>,
  request: CreatedListRequest<R>,
): Page<Row<R>> {
  const accept = ({ record }: Row<R>): boolean =>
    (request.namespace === everyNamespace || record.Namespace === request.namespace) &&
    request.visibility.sees(record.Namespace) &&
    request.accept(record);
  const source = request.prefix === '' ? byCreation(view, table, request, accept) : byId(view, table, request, accept);
  return readPage(source, request.perPage);
}

function byId<R extends Created>(
  view: ReadView,
  table: Table<R>,
  { prefix, nextToken = '', reverse = false }: CreatedListRequest<R>,
  accept: (row: Row<R>) => boolean,
) {
  return {
    slice: (last: Row<R> | undefined, limit: number | undefined) => {
      const id = last?.record.ID ?? nextToken;
      const behind = last !== undefined;
      const range =
        id === '' ? {} : reverse ? { to: behind ? [id] : [id, null] } : { from: behind ? [id, null] : [id] };
      return view.list(table, { textPrefix: prefix, ...range, reverse, ...(limit === undefined ? {} : { limit }) });
    },
    accept,
    token: (row: Row<R>) => row.record.ID,
  };
}

function byCreation<R extends Created>(
  view: ReadView,
  table: Table<R>,
  { namespace, nextToken = '', reverse = false }: CreatedListRequest<R>,
  accept: (row: Row<R>) => boolean,
) {
  const inAll = namespace === everyNamespace;
  const index = inAll ? 'by_create' : 'by_namespace';
  const prefix = inAll ? [] : [namespace];
  // Rows of one write share the first part of the place: within it the ID decides, and is compared here.
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
            : createdPlaceOf(nextToken);
      if (start === undefined) return view.list(table, { index, prefix, reverse, ...limited(limit) });
      const [createIndex, id] = start;
      const range: ListQuery = reverse ? { to: [...prefix, createIndex, null] } : { from: [...prefix, createIndex] };
      // One write can have created more rows than a slice holds: read on until the slice is past the place.
      for (let reading = limit; ; reading = reading === undefined ? undefined : reading * 2) {
        const rows = view.list(table, { index, prefix, ...range, reverse, ...limited(reading) });
        const rest = rows.filter(
          (row) => !isBefore(row, createIndex, id) && !(last !== undefined && row.record.ID === id),
        );
        if (limit === undefined || rest.length >= limit) return limit === undefined ? rest : rest.slice(0, limit);
        if (reading === undefined || rows.length < reading) return rest;
      }
    },
    accept,
    token: (row: Row<R>) => createdTokenOf(row.record),
  };
}

function limited(limit: number | undefined): { limit?: number } {
  return limit === undefined ? {} : { limit };
}
