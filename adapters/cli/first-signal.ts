/** Resolves at the first SIGTERM or SIGINT and lets go of both, so that the next one does what it does to any other process. */
export function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signalled = (): void => {
      process.off('SIGTERM', signalled).off('SIGINT', signalled);
      resolve();
    };
    process.on('SIGTERM', signalled).on('SIGINT', signalled);
  });
}
