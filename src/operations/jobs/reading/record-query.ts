import { errAsync } from 'neverthrow';
import { everyNamespace } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import { type InvalidRequest, malformedId } from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-reference.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { isUuid } from '../../../queries/list-tokens.js';
import type { Table } from '../../../shared/table.js';
import { authorise, type PermissionDenied } from '../../authorise.js';
import type { EngineContext } from '../../context/engine-context.js';
import { rowsUnder } from '../../waiting/watched-rows.js';
import { type NamespaceQuery, queryKey, type Read, readQuery, visibilityOf } from './read-query.js';

/** Selects one evaluation, allocation or deployment by ID. */
export interface RecordQuery extends NamespaceQuery {
  /** A complete UUID, not a prefix. */
  readonly id: string;
}

/**
 * Evaluations, allocations and deployments are found by their complete ID only. The right to read in the namespace of
 * the request is checked first, so that a caller without it learns nothing.
 */
export function faultOfLookUp(caller: Principal, input: RecordQuery): PermissionDenied | InvalidRequest | undefined {
  const allowed = authorise(caller, namespaceOf(input), ['read-job']);
  if (allowed.isErr()) return allowed.error;
  return isUuid(input.id) ? undefined : malformedId();
}

/** The result of a read of one record, and the key that equal blocking queries share. */
interface ShownRecord<R, T> {
  readonly table: Table<R>;
  readonly key: readonly (string | boolean)[];
  readonly show: (view: ReadView, row: Row<R>) => T;
}

/**
 * One record by ID; undefined when it does not exist or is in a namespace that the caller may not read. Both cases have the
 * same result and the same index.
 */
export function readRecord<R extends { readonly Namespace: string }, T>(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
  { table, key, show }: ShownRecord<R, T>,
): Read<T | undefined, InvalidRequest> {
  const fault = faultOfLookUp(caller, input);
  if (fault !== undefined) return errAsync(fault);
  const visible = visibilityOf(caller, everyNamespace, ['read-job']);
  const query = {
    key: () => queryKey(table.name, input.id, ...key, visible.key),
    tables: [rowsUnder(table, [input.id.toLowerCase()])],
    run: (view: ReadView) => {
      const row = view.get(table, [input.id.toLowerCase()]);
      const visibleRow = row !== undefined && visible.sees(row.record.Namespace) ? row : undefined;
      const value = visibleRow === undefined ? undefined : show(view, visibleRow);
      return { index: visibleRow?.modifyIndex ?? view.tableIndex(table), value };
    },
  };
  const reader = { namespace: namespaceOf(input), anyOf: ['read-job'], waiting: input.waiting } as const;
  return readQuery(context, caller, reader, query);
}
