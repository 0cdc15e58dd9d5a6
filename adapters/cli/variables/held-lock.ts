import { type Client, orThrow } from '../../../src/client/index.js';
import type { Clock } from '../../../src/ports/index.js';
import { Stopped } from '../stopped.js';

/** The variable of the lock. */
export interface LockedVariable {
  readonly box: Client;
  readonly path: string;
  readonly inNamespace: { readonly namespace?: string };
}

/** Times of a lock, in milliseconds. */
interface LockTerms {
  /** How long it is held without a renewal; 15 seconds when absent. */
  readonly ttl?: number;
  /** Time before the lock can be acquired again after it was lost; default: 15 seconds. */
  readonly delay?: number;
}

/** A held lock. */
export interface HeldLock {
  readonly id: string;
  /** Milliseconds. */
  readonly ttl: number;
}

/** Pause between attempts at a lock within its delay after a loss. */
const pause = 1000;
const usualTtl = 15_000;
/** The `wait` of a blocking query in milliseconds: the loss of a lock does not wake the query. */
const longestWait = 5000;

/** How an acquisition waits for a lock that is held elsewhere. */
interface Waiting {
  readonly clock: Clock;
  /** Milliseconds; Infinity waits until the lock is free. */
  readonly maximumWait: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Acquires the lock as soon as it is free; undefined if it is still held at the timeout or abort. A lock whose acquisition
 * was pending when the signal aborted is returned, because only the caller can release it.
 */
export async function acquireLock(
  variable: LockedVariable,
  terms: LockTerms,
  { clock, maximumWait, signal }: Waiting,
): Promise<HeldLock | undefined> {
  const { box, path, inNamespace } = variable;
  const begun = clock.monotonic();
  const lock = {
    ...(terms.ttl !== undefined && { ttl: terms.ttl }),
    ...(terms.delay !== undefined && { delay: terms.delay }),
  };
  for (;;) {
    const { conflict, value, index } = await orThrow(box.variables.put(path, { ...inNamespace, acquire: true, lock }));
    if (!conflict) return { id: value.Lock?.ID ?? '', ttl: terms.ttl ?? usualTtl };
    const left = maximumWait - (clock.monotonic() - begun);
    if (signal.aborted || left <= 0) return undefined;
    if (value.Lock === undefined) await clock.sleep(Math.min(pause, left), signal);
    else await change(variable, { index, wait: `${Math.ceil(Math.min(longestWait, left))}ms` }, signal);
    if (signal.aborted) return undefined;
  }
}

/** Waits for a change after the index, for the end of the wait, or for the abort of the signal. */
async function change(
  { box, path, inNamespace }: LockedVariable,
  waiting: { readonly index: number; readonly wait: string },
  signal: AbortSignal,
): Promise<void> {
  const read = await box.variables.read(path, { ...inNamespace, ...waiting, signal });
  if (!signal.aborted) orThrow(read);
}

/**
 * Renews the lock, three times per TTL, until the signal aborts. Rejects with `Stopped` if the lock is lost: another client has
 * it, or no server has answered for a whole TTL.
 */
export async function renewLock(
  { box, path, inNamespace }: LockedVariable,
  { id, ttl }: HeldLock,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let renewedAt = clock.monotonic();
  for (;;) {
    await clock.sleep(ttl / 3, signal);
    if (signal.aborted) return;
    const answer = await box.variables.put(path, { ...inNamespace, renew: true, lock: { id }, signal });
    if (signal.aborted) return;
    if (answer.isOk() && !answer.value.conflict) {
      renewedAt = clock.monotonic();
      continue;
    }
    const isRefused = answer.isOk() || !passing.has(answer.error.type);
    if (isRefused || clock.monotonic() - renewedAt >= ttl) throw new Stopped(`the lock of ${path} is lost`);
  }
}

/** Failures after which the lock may still be held. */
const passing: ReadonlySet<string> = new Set([
  'unreachable',
  'timed_out',
  'storage_failed',
  'unexpected_answer',
  'refused',
]);

/** Releases the lock. */
export async function releaseLock({ box, path, inNamespace }: LockedVariable, { id }: HeldLock): Promise<void> {
  await orThrow(box.variables.put(path, { ...inNamespace, release: true, lock: { id } }));
}
