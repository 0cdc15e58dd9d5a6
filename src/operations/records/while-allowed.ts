import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { second } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import { changeOrDueTime } from '../waiting/until-change.js';
import { callerNow, rightsIndex, rightsTables } from './caller-standing.js';
import { isOfTokenStore } from './presented-secret.js';

/** The caller, and the right whose loss ends the items. */
export interface Permission {
  readonly caller: Principal;
  readonly isAllowed: (caller: Principal) => boolean;
}

/** Pause before rights are read again after a store failure, in milliseconds. */
const pauseAfterFailure = second;

/**
 * Long-running items, such as the output of a command or a followed file: they end when the caller's token is
 * or session is removed or expires, or the right is withdrawn. `begin` gets a signal that aborts then, or with `signal`. `onLoss` is the last item after
 * a loss of the right. A caller authenticated by the host keeps its initial rights.
 */
export function whileAllowed<T, E>(
  context: EngineContext,
  { signal, onLoss, ...permission }: Permission & { readonly signal?: AbortSignal | undefined; readonly onLoss?: T },
  begin: (signal: AbortSignal) => ResultAsync<AsyncIterable<T>, E>,
): ResultAsync<AsyncIterable<T>, E> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  const release = (): void => {
    signal?.removeEventListener('abort', end);
    end();
  };
  return begin(ended.signal)
    .map((items) => untilLoss(items, { loss: lossOf(context, permission, ended.signal), end, release, onLoss }))
    .mapErr((error) => {
      release();
      return error;
    });
}

interface Ending<T> {
  /** Whether the right was lost before the items ended. */
  readonly loss: Promise<boolean>;
  readonly end: () => void;
  readonly release: () => void;
  readonly onLoss: T | undefined;
}

async function* untilLoss<T>(items: AsyncIterable<T>, { loss, end, release, onLoss }: Ending<T>): AsyncGenerator<T> {
  let isLost = false;
  void loss.then((lost) => {
    if (!lost) return;
    isLost = true;
    end();
  });
  try {
    for await (const item of items) {
      if (isLost) break;
      yield item;
    }
  } finally {
    release();
  }
  if ((await loss) && onLoss !== undefined) yield onLoss;
}

/** Waits until the caller has lost the right: true; false when the signal aborts. Costs nothing while no token, policy or role changes. */
async function lossOf(
  context: EngineContext,
  { caller, isAllowed }: Permission,
  signal: AbortSignal,
): Promise<boolean> {
  if (!isOfTokenStore(caller)) return false;
  while (!signal.aborted) {
    const read = await context.storage.read((view) => ({
      index: rightsIndex(view),
      now: callerNow(context, view, caller),
    }));
    if (signal.aborted) break;
    if (read.isErr()) {
      await context.clock.sleep(pauseAfterFailure, signal);
      continue;
    }
    const { index, now } = read.value;
    if (now === undefined || !isAllowed(now.principal)) return true;
    await changeOrDueTime(context, { tables: rightsTables, index, dueAt: now.expiresAt }, signal);
  }
  return false;
}
