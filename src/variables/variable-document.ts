import { durationTextFromNanos } from '../shared/duration.js';
import { type ClockReadings, lockState } from './lock.js';
import type { StoredVariable, VariableDocument, VariableItems, VariableStub } from './variable.js';

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
