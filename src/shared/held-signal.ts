const nothing = (): void => undefined;

/**
 * The same signal, kept alive until it aborts. `AbortSignal.any` holds its sources weakly, so that Node 20 collects an otherwise unreferenced
 * `AbortSignal.timeout`, which then never fires; a separate listener prevents that. The listener is the same
 * one at each call, so a long-lived signal has at most one.
 */
export function heldSignal(signal: AbortSignal): AbortSignal {
  signal.addEventListener('abort', nothing);
  return signal;
}
