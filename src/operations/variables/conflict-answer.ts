import { allowsVariable } from '../../access/allows.js';
import { type VariableDocument, variables } from '../../variables/variable.js';
import { absentVariable, variableDocument, variableStub } from '../../variables/variable-document.js';
import type { EngineContext } from '../context/engine-context.js';
import { decryptItems } from '../records/variable-items.js';
import type { Transaction } from '../write-transaction.js';

/** The result of a write of a variable. */
export interface VariableWritten {
  /** The index of the write; for a conflict that of the variable. */
  readonly index: number;
  /** Nothing was written: `value` is the conflicting variable. */
  readonly conflict: boolean;
  /** The variable after the write; for a conflict, the current one. */
  readonly value: VariableDocument;
}

/** The conflicting variable, with its items only for a caller that may read them. */
export function conflictAnswer(
  context: EngineContext,
  tx: Transaction,
  variable: { readonly namespace: string; readonly path: string },
): VariableWritten {
  const { namespace, path } = variable;
  const found = tx.get(variables, [namespace, path])?.record;
  if (found === undefined) return { index: 0, conflict: true, value: absentVariable(namespace, path) };
  const stub = variableStub(found, tx);
  const items = allowsVariable(tx.caller, variable, 'read') ? decryptItems(context, found).unwrapOr(null) : null;
  return { index: found.ModifyIndex, conflict: true, value: variableDocument(stub, items) };
}
