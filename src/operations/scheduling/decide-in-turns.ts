import { ok, type Result, type ResultAsync } from 'neverthrow';
import type { ReadView, StorageError } from '../../ports/storage.js';
import type { EngineContext } from '../context/engine-context.js';
import type { BegunEvaluation, DecidedPlan } from './process-evaluation.js';

/** One turn takes so many milliseconds, or so many steps where the clock stands still. */
const turnMs = 4;
const stepsInTurn = 64;

/**
 * Goes on with a plan in turns of the event loop, so that everything else goes on in between. Gives undefined when the signal aborts or the
 * plan cannot go on. Nothing is written: whoever writes the plan looks first whether it still holds.
 */
export async function decideInTurns(
  context: EngineContext,
  begun: BegunEvaluation,
  signal: AbortSignal,
): Promise<Result<DecidedPlan | undefined, StorageError>> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return ok(undefined);
    const turn = await oneTurn(context, begun);
    if (turn.isErr() || turn.value.done === true) return turn.map(({ value }) => value ?? undefined);
  }
}

function oneTurn(
  context: EngineContext,
  begun: BegunEvaluation,
): ResultAsync<IteratorResult<void, DecidedPlan>, StorageError> {
  return context.storage.read((view: ReadView) => {
    begun.readFrom(view);
    const until = context.clock.monotonic() + turnMs;
    for (let step = 1; ; step += 1) {
      const next = begun.steps.next();
      if (next.done === true || step >= stepsInTurn || context.clock.monotonic() >= until) return next;
    }
  });
}
