import { ok, type Result, type ResultAsync } from 'neverthrow';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { EngineContext } from './engine-context.js';

/** The milliseconds of one turn; the number of its steps where the clock stands still. */
const turnMs = 2;
const stepsInTurn = 64;

/** Reading and deciding in steps, each of them in the view that was given last: a view ends with its run. */
export interface SteppedWork<T> {
  readonly steps: Generator<void, T>;
  readFrom(view: ReadView): void;
}

/** Work whose steps read from the view of their turn. */
export function steppedWork<T>(stepsOver: (current: () => ReadView) => Generator<void, T>): SteppedWork<T> {
  let view: ReadView | undefined;
  const current = (): ReadView => {
    if (view === undefined) throw new Error('work in steps goes on without a view');
    return view;
  };
  const readFrom = (next: ReadView): void => {
    view = next;
  };
  return { steps: stepsOver(current), readFrom };
}

/**
 * Goes through the steps in turns of the event loop, so that everything else goes on in between. Gives undefined when the signal
 * aborts. Nothing is written, and a turn may find another state than the one before: whoever uses the result looks what has changed.
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

function oneTurn<T>(context: EngineContext, work: SteppedWork<T>): ResultAsync<IteratorResult<void, T>, StorageError> {
  return context.storage.read((view: ReadView) => {
    work.readFrom(view);
    const until = context.clock.monotonic() + turnMs;
    for (let step = 1; ; step += 1) {
      const next = work.steps.next();
      if (next.done === true || step >= stepsInTurn || context.clock.monotonic() >= until) return next;
    }
  });
}
