import { okAsync, type Result, type ResultAsync } from 'neverthrow';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { Steps } from '../../scheduler/steps.js';
import { type EngineContext, readResult } from '../context/engine-context.js';
import { readInTurns } from '../context/steps-in-turns.js';
import { answerQuery, type Waiting } from '../waiting/blocking-query.js';
import type { Watch } from '../waiting/parked-queries.js';

/** A read that has an index to wait for. */
type IndexedRead<T, E> = ResultAsync<T & { readonly index: number }, E | StorageError>;

/**
 * Reads in steps, at once or when one of the tables has changed after the requested index. Errors never wait. The wait itself reads no
 * rows, however many the answer needs.
 */
export function readWaiting<T extends object, E>(
  context: EngineContext,
  tables: readonly Watch[],
  steps: (current: () => ReadView) => Steps<Result<T, E>>,
  waiting?: Waiting,
): IndexedRead<T, E> {
  const read = (): IndexedRead<T, E> =>
    readInTurns(context, function* (current) {
      const index = indexIn(current(), tables);
      const found = yield* steps(current);
      return found.map((value) => ({ ...value, index }));
    }).andThen((found) => found);
  return readOrWait(context, tables, read, waiting);
}

/** The same for a read that is short. */
export function readRowsWaiting<T extends object, E>(
  context: EngineContext,
  tables: readonly Watch[],
  run: (view: ReadView) => Result<T, E>,
  waiting?: Waiting,
): IndexedRead<T, E> {
  const read = (): IndexedRead<T, E> =>
    readResult(context, (view) => run(view).map((value) => ({ ...value, index: indexIn(view, tables) })));
  return readOrWait(context, tables, read, waiting);
}

function readOrWait<T, E>(
  context: EngineContext,
  tables: readonly Watch[],
  read: () => IndexedRead<T, E>,
  waiting: Waiting = {},
): IndexedRead<T, E> {
  const { after = 0 } = waiting;
  if (after <= 0) return read();
  const change = {
    key: () => JSON.stringify(['notifications', ...tables.map(keyOf)]),
    tables,
    run: (view: ReadView) => ({ index: indexIn(view, tables), value: undefined }),
  };
  return read().andThen((first): IndexedRead<T, E> => {
    return first.index > after ? okAsync(first) : answerQuery(context, change, waiting).andThen(read);
  });
}

function indexIn(view: ReadView, tables: readonly Watch[]): number {
  return Math.max(...tables.map((table) => view.tableIndex(table)));
}

function keyOf({ name, part }: Watch): unknown {
  return part === undefined || part === 'none' ? [name] : [name, part.index, part.prefix];
}
