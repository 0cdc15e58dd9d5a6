import { err, ok, type Result } from 'neverthrow';
import type { InvalidVariable, VariableConflict } from './errors.js';
import { type ClockReadings, type LockState, type LockTerms, lockFrom, lockState, renewed } from './lock.js';
import type { StoredLock, StoredVariable } from './variable.js';

/** A request about a variable, apart from its items. */
export interface VariableWish {
  /** The index that the variable must have; 0 if it must not exist. Undefined for no check. */
  readonly cas: number | undefined;
  readonly lock: 'acquire' | 'release' | 'none';
  /** The lock that the caller holds. */
  readonly lockId: string | undefined;
  readonly terms: LockTerms;
}

/** The lock of a variable after a write; undefined leaves it unchanged. */
export type DecidedLock = StoredLock | null | undefined;

/**
 * Whether a variable may be written, and its lock afterwards. Only the holder of the lock may write; acquiring it again with
 * its ID renews it.
 */
export function decideVariable(
  before: StoredVariable | undefined,
  wish: VariableWish,
  moment: ClockReadings & { readonly freshId: () => string },
): Result<DecidedLock, VariableConflict | InvalidVariable> {
  if (isOutdated(wish, before)) return err({ type: 'variable_conflict' });
  const state: LockState = before === undefined ? { type: 'free' } : lockState(before, moment);
  if (wish.lock === 'acquire') return acquired(state, wish, moment);
  const held = state.type === 'held' ? state.lock : undefined;
  if (held !== undefined && held.ID !== wish.lockId) return err({ type: 'variable_conflict' });
  if (wish.lock === 'none') return held === undefined && wish.lockId !== undefined ? err(lockMissing) : ok(undefined);
  return held === undefined ? err(lockMissing) : ok(null);
}

/** Whether the lock may be renewed, and its state afterwards. */
export function decideRenewal(
  before: StoredVariable,
  lockId: string,
  moment: ClockReadings,
): Result<StoredLock, VariableConflict | InvalidVariable> {
  const state = lockState(before, moment);
  if (state.type !== 'held') return err(lockMissing);
  return state.lock.ID === lockId ? ok(renewed(state.lock, moment)) : err({ type: 'variable_conflict' });
}

function acquired(
  state: LockState,
  { lockId, terms }: VariableWish,
  moment: ClockReadings & { readonly freshId: () => string },
): Result<StoredLock, VariableConflict> {
  if (state.type === 'held') {
    return state.lock.ID === lockId ? ok(renewed(state.lock, moment)) : err({ type: 'variable_conflict' });
  }
  return state.type === 'delayed'
    ? err({ type: 'variable_conflict' })
    : ok(lockFrom(lockId ?? moment.freshId(), terms, moment));
}

const lockMissing: InvalidVariable = {
  type: 'invalid_variable',
  message: 'the variable is not locked: there is no lock to use, renew or release',
};

/** Check-and-set: the write succeeds only if the variable still has this index; 0 means that it must not exist. */
function isOutdated({ cas }: VariableWish, before: StoredVariable | undefined): boolean {
  return cas !== undefined && cas !== (before?.ModifyIndex ?? 0);
}
