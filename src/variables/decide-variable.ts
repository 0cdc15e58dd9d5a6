import { err, ok, type Result } from 'neverthrow';
import { hasLoneSurrogate } from '../shared/values.js';
import type { InvalidVariable, VariableConflict } from './errors.js';
import {
  type ClockReadings,
  type LockState,
  type LockTerms,
  lockFrom,
  lockState,
  renewed,
  type StoredLock,
  type StoredVariable,
  type VariableItems,
} from './variable.js';

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

/** Maximum bytes of all names and values of a variable together. */
const maximumVariableSize = 64 * 1024;

/** What is wrong with a path; undefined when it is valid for a variable (job interface, variables). */
export function pathFault(path: string): string | undefined {
  if (!/^[A-Za-z0-9_~/-]{1,128}$/.test(path)) return `invalid path ${JSON.stringify(path.slice(0, 160))}`;
  const [first, second, ...further] = path.split('/');
  if (first !== 'nomad') return undefined;
  if (second === 'jobs') return undefined;
  if (second === 'job-templates') {
    return further.length === 1
      ? undefined
      : '"nomad/job-templates" is a reserved directory path: variables stand one level below it';
  }
  return 'only paths at "nomad/jobs" or "nomad/job-templates" and below are valid paths under the top-level "nomad" directory';
}

/** What is wrong with the items; undefined when they may be stored. */
export function itemsFault(items: VariableItems): string | undefined {
  const entries = Object.entries(items);
  if (entries.length === 0) return 'empty variables are invalid';
  let size = 0;
  for (const [name, text] of entries) {
    // UTF-8 takes at least one byte per UTF-16 unit, so longer strings need not be counted.
    size += name.length + text.length > maximumVariableSize ? maximumVariableSize + 1 : bytesOf(name) + bytesOf(text);
    if (size > maximumVariableSize) return 'variables are limited to 64KiB in total size';
    if (hasLoneSurrogate(name) || hasLoneSurrogate(text)) return 'items must be valid Unicode';
  }
  return undefined;
}

function bytesOf(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
