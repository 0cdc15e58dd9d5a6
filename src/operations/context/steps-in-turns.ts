import { ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { EngineContext } from './engine-context.js';

/** The length of a turn in milliseconds, and the most steps per turn if the clock stands still. */
const turnMs = 2;
const stepsInTurn = 64;
/**
 * After this many interruptions the work is done in one turn: a store over a network interrupts it at each row that is not fetched
 * yet, in every turn.
 */
const endsTurns = 2;

/** Work in steps, each in the latest view: a view is valid only during its run. */
export interface SteppedWork<T> {
  /** Runs the next step in the view. After the last step, and after one that threw, it starts again. */
  next(view: ReadView): IteratorResult<void, T>;
  /** The number of steps that threw: a store interrupts work in this way to run it again. */
  readonly interruptions: () => number;
}

/**
 * Work whose steps read from the view of their turn. `stepsOver` may be called again, because a store may rerun the work:
 * side effects of the steps must allow that.
 */
export function steppedWork<T>(stepsOver: (current: () => ReadView) => Generator<void, T>): SteppedWork<T> {
  let steps: Generator<void, T> | undefined;
  let view: ReadView | undefined;
  let interruptions = 0;
  const current = (): ReadView => {
    if (view === undefined) throw new Error('a step read the store after its view was closed');
    return view;
  };
  return {
    next(given) {
      view = given;
      steps ??= stepsOver(current);
      try {
        const next = steps.next();
        if (next.done === true) steps = undefined;
        return next;
      } catch (thrown) {
        steps = undefined;
        interruptions += 1;
        throw thrown;
      }
    },
    interruptions: () => interruptions,
  };
}

/**
 * Runs the steps in turns of the event loop, so that other work continues in between. Returns undefined when the signal
 * aborts. Nothing is written, and the state may change between turns: the caller must check for changes.
 */
export async function stepsInTurns<T>(
  context: EngineContext,
  work: SteppedWork<T>,
  signal: AbortSignal,
): Promise<Result<T | undefined, StorageError>> {
  for (;;) {
    await context.turns.next();
    if (signal.aborted) return ok(undefined);
    const turn = await oneTurn(context, work);
    if (turn.isErr() || turn.value.done === true) return turn.map(({ value }) => value ?? undefined);
  }
}

/**
 * Reads in steps: as many as fit in one turn of the event loop, and the rest in further turns. Each turn reads the current state.
 */
export function readInTurns<T>(
  context: EngineContext,
  stepsOver: (current: () => ReadView) => Generator<void, T>,
): ResultAsync<T, StorageError> {
  const work = steppedWork(stepsOver);
  return oneTurn(context, work).andThen((first) =>
    first.done === true
      ? okAsync<T, StorageError>(first.value)
      : new ResultAsync(stepsInTurns(context, work, neverAborted)).map((value) => value as T),
  );
}

const neverAborted = new AbortController().signal;

function oneTurn<T>(context: EngineContext, work: SteppedWork<T>): ResultAsync<IteratorResult<void, T>, StorageError> {
  return context.storage.read((view: ReadView) => {
    const until = context.clock.monotonic() + turnMs;
    for (let step = 1; ; step += 1) {
      const next = work.next(view);
      const isOver = step >= stepsInTurn || context.clock.monotonic() >= until;
      if (next.done === true || (isOver && work.interruptions() < endsTurns)) return next;
    }
  });
}
