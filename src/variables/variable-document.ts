import { durationTextFromNanos } from '../shared/duration.js';
import { type ClockReadings, lockState } from './lock.js';
import type { StoredVariable } from './variable.js';

/** The content of a variable: names and values. */
export type VariableItems = Readonly<Record<string, string>>;

/** A lock as callers see it. Its ID permits changes of the variable, so it is shown to the holder only. */
export interface LockView {
  /** Empty unless the caller acquired the lock with this call, or passed its ID. */
  readonly ID: string;
  /** A duration such as `15s`. */
  readonly TTL: string;
  /** A duration during which nobody can acquire a lost lock. */
  readonly LockDelay: string;
}

/** A variable in a list, in the wire's member names. */
export interface VariableStub {
  readonly Namespace: string;
  /** Segments separated by slashes; unique in the namespace. */
  readonly Path: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** Unix nanoseconds. */
  readonly ModifyTime: number;
  /** Absent when the lock is free. */
  readonly Lock?: LockView;
}

/** A variable with its items, in the wire's member names. */
export interface VariableDocument extends VariableStub {
  /** Null for a caller that may not read the items. */
  readonly Items: VariableItems | null;
}

/** The members in a list. The ID of the lock is shown only to its holder. */
export function variableStub(variable: StoredVariable, moment: ClockReadings, ownLock?: string): VariableStub {
  const { Namespace, Path, CreateIndex, ModifyIndex, CreateTime, ModifyTime } = variable;
  const stub = { Namespace, Path, CreateIndex, ModifyIndex, CreateTime, ModifyTime };
  const state = lockState(variable, moment);
  if (state.type !== 'held') return stub;
  const { ID, TTL, LockDelay } = state.lock;
  const shownId = ID === ownLock ? ID : '';
  return {
    ...stub,
    Lock: { ID: shownId, TTL: durationTextFromNanos(TTL), LockDelay: durationTextFromNanos(LockDelay) },
  };
}

/** The members in an answer about a single variable. */
export function variableDocument(stub: VariableStub, items: VariableItems | null): VariableDocument {
  return { ...stub, Items: items };
}

/** The members for a path without a variable, in the answer to a conflict. */
export function absentVariable(namespace: string, path: string): VariableDocument {
  return {
    Namespace: namespace,
    Path: path,
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: 0,
    ModifyTime: 0,
    Items: null,
  };
}
