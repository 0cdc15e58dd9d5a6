import { type Client, orThrow } from '../../../src/client/index.js';
import type { Clock } from '../../../src/index.js';
import { Stopped } from '../stopped.js';

/** The variable whose lock is meant. */
export interface LockedVariable {
  readonly box: Client;
  readonly path: string;
  readonly inNamespace: { readonly namespace?: string };
}

/** Times of a lock, in milliseconds. */
interface LockTerms {
  /** How long it is held without being renewed; 15 seconds when absent. */
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
/** Longest that one question to the server waits, in seconds: the loss of a lock changes nothing that wakes the question. */
const wait = '5s';

/** Acquires the lock as soon as it is free; undefined if it is still held after `patience` milliseconds. */
export async function acquireLock(
  variable: LockedVariable,
  terms: LockTerms,
  clock: Clock,
  patience: number,
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
    if (clock.monotonic() - begun >= patience) return undefined;
    if (value.Lock === undefined) await clock.sleep(pause, never);
    else await orThrow(box.variables.read(path, { ...inNamespace, index, wait }));
  }
}

const never = new AbortController().signal;

/**
 * Renews the lock, three times while it lasts, until the signal aborts. Rejects with `Stopped` when the lock is lost: another one has
 * it, or no server has answered for as long as it lasts.
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

/** Gives the lock back. */
export async function releaseLock({ box, path, inNamespace }: LockedVariable, { id }: HeldLock): Promise<void> {
  await orThrow(box.variables.put(path, { ...inNamespace, release: true, lock: { id } }));
}
