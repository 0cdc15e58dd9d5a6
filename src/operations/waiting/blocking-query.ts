import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import { readInTurns } from '../context/steps-in-turns.js';
import type { Answer, BlockingQuery, Snapshot } from './parked-queries.js';

/** How a reader waits (job interface, blocking queries). */
export interface Waiting {
  /** Wait until the result's index is greater than this; 0 or absent returns at once. */
  readonly after?: number;
  /** The maximum wait in milliseconds: the default when absent or not positive; at most the setting's maximum. */
  readonly wait?: Milliseconds;
  /** Wait without a limit: for readers in this process. */
  readonly isPatient?: boolean;
  /** Receives a function that ends the wait, for a reader that disconnects. */
  readonly whenCancelled?: (cancel: () => void) => void;
  /** The waiting caller. When a write affects many queries, those of different callers take turns. */
  readonly owner?: string;
  /** Called when rights have changed during the wait: the answer may contain more than the caller may still read. */
  readonly whenRightsChanged?: () => void;
}

/** The part of a read's input that says how it waits. */
export interface MayWait {
  /** Waits for a change after an index; answers at once when absent. */
  readonly waiting?: Waiting;
}

/** Returns the result immediately, when its index exceeds `after`, or at the end of the wait the last result. */
export function answerQuery<T>(
  context: EngineContext,
  query: BlockingQuery<T>,
  waiting: Waiting = {},
): ResultAsync<Answer<T>, StorageError> {
  const after = waiting.after ?? 0;
  const { steps } = query;
  if (after <= 0) {
    return steps === undefined ? context.storage.read((view) => query.run(view)) : readInTurns(context, steps);
  }
  const { releases } = context.parked;
  return new ResultAsync(
    new Promise((resolve, reject) => {
      firstRead(context, query)
        .match(
          (first) => answerOrPark(context, query, { after, waiting, releases, ...first, resolve }),
          (error) => resolve(err(error)),
        )
        .catch(reject);
    }),
  );
}

/** A blocking query that only ever times out, such as that of a list that is always empty. Index: 1. */
export function readNothing(context: EngineContext, waiting: Waiting = {}): ResultAsync<Answer<void>, StorageError> {
  return answerQuery(context, nothing, waiting);
}

const nothing: BlockingQuery<void> = { key: 'nothing', tables: [], run: () => ({ index: 1, value: undefined }) };

/** A query that is read in steps includes at least the snapshot of its first step. */
function firstRead<T>(
  context: EngineContext,
  { run, steps }: BlockingQuery<T>,
): ResultAsync<Pick<Asked<T>, 'answer' | 'snapshot'>, StorageError> {
  const snapshotOf = (view: ReadView): Snapshot => ({ index: view.index, mark: context.parked.markOf(view) });
  if (steps === undefined) return context.storage.read((view) => ({ answer: run(view), snapshot: snapshotOf(view) }));
  return readInTurns(context, function* (current) {
    const snapshot = snapshotOf(current());
    return { answer: yield* steps(current), snapshot };
  });
}

interface Asked<T> {
  readonly after: number;
  readonly waiting: Waiting;
  /** The number of releases of the parked queries when the query began. */
  readonly releases: number;
  /** The result at `snapshot`. */
  readonly answer: Answer<T>;
  readonly snapshot: Snapshot;
  readonly resolve: (result: Result<Answer<T>, StorageError>) => void;
}

/** Resolves at once with a newer result, otherwise when the query's readers are answered, without a step in between. */
function answerOrPark<T>(context: EngineContext, query: BlockingQuery<T>, asked: Asked<T>): void {
  const { after, waiting, answer, snapshot, resolve } = asked;
  // The engine was stopped in the meantime: all waiting readers were answered.
  if (answer.index > after || context.parked.releases !== asked.releases) {
    resolve(ok(answer));
    return;
  }
  const { whenCancelled, whenRightsChanged, owner = '', isPatient = false } = waiting;
  const deadline = isPatient
    ? Number.POSITIVE_INFINITY
    : context.clock.monotonic() + waitWithJitter(context, waiting.wait);
  const wait = { after, owner, deadline, whenCancelled, whenRightsChanged, resolve };
  context.parked.park(query, { current: answer, snapshot }, wait);
}

/** The wait plus a random extra of up to a sixteenth, so that many readers do not return at once. */
function waitWithJitter(context: EngineContext, wait: Milliseconds | undefined): Milliseconds {
  const { maximumWait, defaultWait } = context.settings.queries;
  const asked = wait === undefined || wait <= 0 ? defaultWait : Math.min(wait, maximumWait);
  return asked + (context.ids.fraction() * asked) / 16;
}
