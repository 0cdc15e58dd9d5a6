/** A constant abort reason: the default one is an exception with a stack trace, which is expensive. */
const over = 'one of the waits is over';

/**
 * Resolves when the first wait has ended and the others, which are then aborted, have ended, too. `waits` receives a signal that aborts
 * with the given one or when the first wait has ended.
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
