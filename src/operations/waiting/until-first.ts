/**
 * Sleeps until the first of the waits is over, and until the others have noticed that they are not needed. `waits` gets a signal that
 * aborts with the given one, or when the first is over.
 */
export async function untilFirst(
  signal: AbortSignal,
  waits: (either: AbortSignal) => readonly Promise<unknown>[],
): Promise<void> {
  // The signal may have aborted before: then its event is over.
  if (signal.aborted) return;
  const either = new AbortController();
  const stop = (): void => either.abort();
  signal.addEventListener('abort', stop, { once: true });
  const started = waits(either.signal);
  await Promise.race(started);
  either.abort();
  signal.removeEventListener('abort', stop);
  await Promise.all(started);
}
