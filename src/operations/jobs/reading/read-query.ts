import { errAsync, type ResultAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../../access/allows.js';
import type { Capability } from '../../../access/capability.js';
import type { CallerNames, Principal } from '../../../access/principal.js';
import { type InvalidRequest, malformedId } from '../../../jobs/errors.js';
import { type JobReference, namespaceOf } from '../../../jobs/job-record.js';
import type { ReadView, Row, StorageError } from '../../../ports/storage.js';
import { isUuid } from '../../../queries/page.js';
import type { Table } from '../../../shared/table.js';
import type { EngineContext } from '../../context/engine-context.js';
import { everythingSeen } from '../../listing/answer-list.js';
import { answerQuery, type MayWait } from '../../waiting/blocking-query.js';
import { type Answer, rowsInNamespaces, rowsUnder, type Watch } from '../../waiting/parked-queries.js';

/** The result of a read: the index to wait for next, and the value. */
export type Read<T, E = never> = ResultAsync<Answer<T>, StorageError | E>;

/** A read in one namespace, and whether it waits for a change. */
export interface NamespaceQuery extends MayWait, CallerNames {
  /** `default` when absent; lists also take `*`. */
  readonly namespace?: string;
}

/** Whether records show the outcomes of runs. Those for Nomad's clients have only Nomad's members. */
export function showsOutcomes({ names }: CallerNames): boolean {
  return names !== 'upstream';
}

/** A read of one job. */
export type JobQuery = JobReference & NamespaceQuery;

/** What is read of one job. */
interface QueryOfJob<T> {
  /** Identifies the read, and everything besides the job that its result depends on. */
  readonly key: readonly unknown[];
  /** The tables whose rows of the job affect the result: rows under its namespace and ID in the index `by_job`, otherwise in the table. */
  readonly tables: readonly Table<never>[];
  /** Further rows that affect the result. */
  readonly also?: readonly Watch[];
  readonly run: (view: ReadView, namespace: string) => Answer<T>;
}

/** A query about one job. */
export function readOfJob<T>(
  context: EngineContext,
  input: JobQuery,
  { key, tables, also = [], run }: QueryOfJob<T>,
): Read<T> {
  const namespace = namespaceOf(input);
  const query = {
    key: () => queryKey(...key, namespace, input.jobId),
    tables: [...tables.map((table) => rowsOfJob(table, namespace, input.jobId)), ...also],
    run: (view: ReadView) => run(view, namespace),
  };
  return answerQuery(context, query, input.waiting);
}

/** A job's rows in a table that is ordered by namespace and job or has the index `by_job`. */
export function rowsOfJob(table: Table<never>, namespace: string, jobId: string): Watch {
  return rowsUnder(table, [namespace, jobId], Object.hasOwn(table.indexes, 'by_job') ? 'by_job' : undefined);
}

/** The key by which equal waiting queries are recognised. */
export function queryKey(...parts: readonly unknown[]): string {
  return JSON.stringify(parts);
}

/** Decides which rows of a list a caller may see. `key` differs between callers who may see different rows. */
interface Visibility {
  readonly key: string;
  readonly sees: (namespace: string) => boolean;
  /** The ranges of a table that contain all rows that the caller may see: in the index `by_namespace`, otherwise in the primary key. */
  readonly rows: (table: Table<never>) => readonly Watch[];
}

/** In a single namespace the right is that of the call. In all of them it is checked once for each namespace. */
export function visibilityOf(caller: Principal, namespace: string, anyOf: readonly Capability[]): Visibility {
  if (namespace !== everyNamespace)
    return { key: '', sees: everythingSeen, rows: (table) => rowsInNamespaces(table, [namespace]) };
  if (caller.management) return { key: '', sees: everythingSeen, rows: (table) => [table] };
  const known = new Map<string, boolean>();
  return {
    key: JSON.stringify(caller.namespaces),
    sees: (name) => {
      let seen = known.get(name);
      if (seen === undefined) {
        seen = allows(caller, name, anyOf);
        known.set(name, seen);
      }
      return seen;
    },
    rows: (table) => rowsInNamespaces(table, Object.keys(caller.namespaces)),
  };
}

/** Selects one evaluation, allocation or deployment by ID. */
export interface RecordQuery extends NamespaceQuery {
  /** A complete UUID, not a prefix. */
  readonly id: string;
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
  if (!isUuid(input.id)) return errAsync(malformedId());
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
  return answerQuery(context, query, input.waiting);
}
