import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { StorageError } from '../../ports/storage.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import type { Answer, BlockingQuery } from './parked-queries.js';

/** How a reader waits (job interface, blocking queries). */
export interface Waiting {
  /** Wait until the answer's index is greater than this; 0 or absent answers at once. */
  readonly after?: number;
  /** How long; absent or not positive means the default, and more than the maximum means the maximum. */
  readonly wait?: Milliseconds;
  /** Receives a function that ends the wait, for a reader that goes away. */
  readonly whenCancelled?: (cancel: () => void) => void;
}

/** Answers a query at once, or when its index has passed `after`, or when the wait is over: then with the last answer. */
export function answerQuery<T>(
  context: EngineContext,
  query: BlockingQuery<T>,
  waiting: Waiting = {},
): ResultAsync<Answer<T>, StorageError> {
  const after = waiting.after ?? 0;
  if (after <= 0) return context.storage.read((view) => query.run(view));
  return new ResultAsync(waitedAnswer(context, query, waiting, after));
}

async function waitedAnswer<T>(
  context: EngineContext,
  query: BlockingQuery<T>,
  waiting: Waiting,
  after: number,
): Promise<Result<Answer<T>, StorageError>> {
  const first = await context.storage.read((view) => ({ answer: query.run(view), snapshot: view.index }));
  if (first.isErr()) return err(first.error);
  const { answer, snapshot } = first.value;
  if (answer.index > after) return ok(answer);
  const deadline = context.clock.monotonic() + waitWithJitter(context, waiting.wait);
  const { whenCancelled } = waiting;
  const outcome = await context.parked.park(query, { current: answer, snapshot }, { after, deadline, whenCancelled });
  return outcome.type === 'answer' ? ok(outcome.answer) : err(outcome.error);
}

/** The wait and a random extra of up to a sixteenth, so that many readers do not all come back at once. */
function waitWithJitter(context: EngineContext, wait: Milliseconds | undefined): Milliseconds {
  const { maximumWait, defaultWait } = context.settings.queries;
  const asked = wait === undefined || wait <= 0 ? defaultWait : Math.min(wait, maximumWait);
  return asked + (context.ids.fraction() * asked) / 16;
}
