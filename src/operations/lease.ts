import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { hostPrincipal, type Principal } from '../access/principal.js';
import type { StorageError, Written } from '../ports/storage.js';
import type { Milliseconds } from '../shared/duration.js';
import { type LeaseRecord, type LeaseSighting, leaseFor, leaseRemains, leases } from '../shared/lease.js';
import { commit, type Transaction } from './commit.js';
import type { EngineContext } from './context/engine-context.js';
import { untilFirst } from './waiting/until-first.js';

/** Another process holds the lease now: nothing was written, and what was decided before no longer counts. */
export interface LeaseLost {
  readonly type: 'lease_lost';
  readonly lease: string;
}

export interface HeldLease {
  /** Aborts when the lease is lost, or when the loop is to end. */
  readonly signal: AbortSignal;
  /** `commit` that fails with `lease_lost`, and writes nothing, if another process has taken the lease meanwhile. */
  commit<T, E>(
    caller: Principal,
    work: (tx: Transaction) => Result<T, E>,
  ): ResultAsync<Written<T>, E | LeaseLost | StorageError>;
}

/**
 * Does work that one process at a time may do over a store: waits until the lease of that name is free, runs the work, and gives the
 * lease back. Undefined when the signal aborts before the work begins.
 *
 * The lease is renewed at half time while the work runs. A process that is killed keeps others waiting for
 * `settings.background.lease`; one that was paused for longer loses it, and its writes through `lease.commit` are refused. What
 * the work writes in another way is not protected. Hold it for a burst of work and not while there is nothing to do:
 *
 * ```ts
 * while (!signal.aborted) {
 *   const next = await lookForWork(context);
 *   if (next.due) await underLease(context, 'periodic', signal, (lease) => launchDue(context, lease));
 *   else await changeOrMoment(context, { tables: [jobs], index: next.index, moment: next.at }, signal);
 * }
 * ```
 */
export async function underLease<T>(
  context: EngineContext,
  name: string,
  signal: AbortSignal,
  work: (lease: HeldLease) => Promise<T>,
): Promise<T | undefined> {
  const term = await claim(context, name, signal);
  if (term === undefined) return undefined;
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const held: HeldLease = {
    signal: over.signal,
    commit: (caller, decide) => commitUnder(context, { name, term, lost: end }, caller, decide),
  };
  const renewing = renew(context, held);
  try {
    return await work(held);
  } finally {
    end();
    signal.removeEventListener('abort', end);
    await renewing;
    await giveBack(context, name, term);
  }
}

interface Looked {
  /** Undefined when another process holds it. */
  readonly term: number | undefined;
  readonly remains: Milliseconds;
  readonly sighting: LeaseSighting;
}

/** The term that was won; undefined when the signal aborted first. */
async function claim(context: EngineContext, name: string, signal: AbortSignal): Promise<number | undefined> {
  const { clock, storage } = context;
  let sighting: LeaseSighting = { token: 0, at: clock.monotonic() };
  while (!signal.aborted) {
    const before = sighting;
    const looked = await commit(context, hostPrincipal, (tx) =>
      ok<Looked, never>(lookAndTake(tx, context, name, before)),
    );
    if (looked.isErr()) {
      context.logger.error({ lease: name, error: looked.error.message }, 'A lease could not be taken');
      await clock.sleep(pauseAfterFailure, signal);
      continue;
    }
    const { value, index } = looked.value;
    if (value.term !== undefined) return value.term;
    sighting = value.sighting;
    await untilFirst(signal, (either) => [
      storage.waitForChange([leases], index, either),
      clock.sleep(value.remains, either),
    ]);
  }
  return undefined;
}

/** After a write that failed, in milliseconds. */
const pauseAfterFailure = 100;

function lookAndTake(tx: Transaction, { owner }: EngineContext, name: string, before: LeaseSighting): Looked {
  const row = tx.get(leases, [name]);
  const token = row?.modifyIndex ?? 0;
  const sighting = token === before.token ? before : { token, at: tx.monotonic };
  const remains = leaseRemains(row?.record, tx, sighting);
  if (remains > 0) return { term: undefined, remains, sighting };
  const taken = leaseFor({ name, owner, duration: tx.settings.background.lease }, row?.record, tx);
  tx.put(leases, taken);
  return { term: taken.term, remains: 0, sighting };
}

interface Tenure {
  readonly name: string;
  readonly term: number;
  readonly lost: () => void;
}

function commitUnder<T, E>(
  context: EngineContext,
  { name, term, lost }: Tenure,
  caller: Principal,
  work: (tx: Transaction) => Result<T, E>,
): ResultAsync<Written<T>, E | LeaseLost | StorageError> {
  const refused: LeaseLost = { type: 'lease_lost', lease: name };
  const written = commit(context, caller, (tx): Result<T, E | LeaseLost> => {
    const lease = tx.get(leases, [name])?.record;
    if (lease === undefined || !isOf(lease, context, term)) return err(refused);
    renewIn(tx, lease);
    return work(tx);
  });
  return written.orElse((error) => {
    if (error === refused) lost();
    return err(error);
  });
}

function isOf(lease: LeaseRecord, { owner }: EngineContext, term: number): boolean {
  return lease.owner === owner && lease.term === term;
}

/** Once half of it is over: a burst of writes does not write the lease each time. */
function renewIn(tx: Transaction, lease: LeaseRecord): void {
  if (lease.until - tx.monotonic > lease.duration / 2) return;
  tx.put(leases, { ...lease, until: tx.monotonic + lease.duration });
}

async function renew(context: EngineContext, held: HeldLease): Promise<void> {
  const half = context.settings.background.lease / 2;
  while (!held.signal.aborted) {
    await context.clock.sleep(half, held.signal);
    if (held.signal.aborted) return;
    const renewed = await held.commit(hostPrincipal, () => ok(undefined));
    // If the store fails, the lease expires. If another process takes it then, the next write fails with `lease_lost`.
    if (renewed.isErr()) context.logger.warn({ error: renewed.error.type }, 'A lease could not be renewed');
  }
}

/** So that the next holder need not wait. When the store fails, the lease runs out by itself. */
async function giveBack(context: EngineContext, name: string, term: number): Promise<void> {
  const given = await commit(context, hostPrincipal, (tx) => {
    const lease = tx.get(leases, [name])?.record;
    if (lease !== undefined && isOf(lease, context, term)) tx.put(leases, { ...lease, owner: null });
    return ok(undefined);
  });
  if (given.isErr())
    context.logger.warn({ lease: name, error: given.error.message }, 'A lease could not be given back');
}
