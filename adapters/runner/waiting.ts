/** Waits for the work, but not longer than to the abort of the signal. */
export function beforeAbort(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    work.then(end, end);
  });
}

/** Waits for the work, at most this number of milliseconds of the host's wall time. */
export function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  return beforeAbort(AbortSignal.timeout(milliseconds), work);
}
