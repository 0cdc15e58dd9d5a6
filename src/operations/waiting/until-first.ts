/** A constant abort reason: without one, each abort creates an exception with a stack trace. */
const over = 'one of the waits is over';

/**
 * Resolves when the first of the waits is over and the others, which are then aborted, have ended. `waits` gets a signal that aborts
 * with the given one, or when the first wait is over.
 */
export async function untilFirst(
  signal: AbortSignal,
  waits: (either: AbortSignal) => readonly Promise<unknown>[],
): Promise<void> {
  // A signal that has aborted already emits no further event.
  if (signal.aborted) return;
  const either = new AbortController();
  const stop = (): void => either.abort(over);
  signal.addEventListener('abort', stop, { once: true });
  const started = waits(either.signal);
  await Promise.race(started);
  either.abort(over);
  signal.removeEventListener('abort', stop);
  await Promise.all(started);
}
