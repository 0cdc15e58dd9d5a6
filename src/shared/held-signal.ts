const nothing = (): void => undefined;

/**
 * The same signal, kept until it aborts. `AbortSignal.any` holds its sources weakly, so that Node 20 collects a source of
 * `AbortSignal.timeout` that nobody else holds, and its time never comes; a separate listener prevents that. The listener is the same
 * one at each call, so a signal that lives long has at most one.
 */
export function heldSignal(signal: AbortSignal): AbortSignal {
  signal.addEventListener('abort', nothing);
  return signal;
}
