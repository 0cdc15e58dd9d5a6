import { npmEnded } from './npm-parent.js';

/**
 * Resolves at the first SIGTERM or SIGINT, or when the npm that started this process has ended. Removes its listeners then, so that the
 * next signal has its default effect.
 */
export async function firstSignal(): Promise<void> {
  let signalled = (): void => undefined;
  const signal = new Promise<void>((resolve) => {
    signalled = resolve;
    process.on('SIGTERM', signalled).on('SIGINT', signalled);
  });
  await Promise.race([signal, npmEnded(process.env)]);
  process.off('SIGTERM', signalled).off('SIGINT', signalled);
}
