import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsSomeVariable, allowsVariable, everyNamespace, type PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import type { CipherError } from '../../ports/cipher.js';
import type { ReadView, Row, StorageError } from '../../ports/storage.js';
import {
  type StoredVariable,
  type VariableDocument,
  type VariableStub,
  variableDocument,
  variableStub,
  variables,
} from '../../variables/variable.js';
import type { EngineContext } from '../context/engine-context.js';
import { clockReadings } from '../context/store-clock.js';
import { answerList, type ListAnswer, type ListRequest, namespacedSource } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import { decryptItems } from '../records/stored-secrets.js';
import { answerQuery, type Waiting } from '../waiting/blocking-query.js';
import { type Answer, noRows, rowsUnder } from '../waiting/parked-queries.js';

/** Selects the variables of `listVariables`, and whether it waits for a change. */
interface ListVariablesInput extends ListRequest {
  /** `default` when absent; `*` for all. */
  readonly namespace?: string;
  /** Waits for a change after an index; answers at once when absent. */
  readonly waiting?: Waiting;
}

/** The variables that the caller may list, by namespace and path, without their items. Index: that of the variables. */
export function listVariables(
  context: EngineContext,
  caller: Principal,
  input: ListVariablesInput,
): ListAnswer<VariableStub> {
  const { namespace = defaultNamespaceName } = input;
  const rights = caller.management ? '' : JSON.stringify([caller.namespaces, caller.workload ?? null]);
  const show = (_view: ReadView, { record }: Row<StoredVariable>): VariableStub =>
    variableStub(record, clockReadings(context));
  const nothing = !allowsSomeVariable(caller);
  return answerList(context, input, {
    key: ['variables', namespace, rights],
    tables: nothing
      ? [noRows(variables)]
      : namespace === everyNamespace
        ? [variables]
        : [rowsUnder(variables, [namespace])],
    source: (view: ReadView) => {
      const request = { ...input, namespace, sees: () => !nothing };
      const source = namespacedSource(view, variables, request, ({ Path }) => Path);
      const accept = (row: Row<StoredVariable>): boolean => source.accept(row) && isListed(caller, row.record);
      return { ...source, accept };
    },
    filters: compileFilter.variable,
    filtered: show,
    show,
  });
}

function isListed(caller: Principal, { Namespace, Path }: StoredVariable): boolean {
  return allowsVariable(caller, { namespace: Namespace, path: Path }, 'list');
}

/** The variable that is read, and whether the read waits for a change. */
interface ReadVariableInput {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly path: string;
  /** Waits for a change after an index; answers at once when absent. */
  readonly waiting?: Waiting;
}

/** One variable with its items; undefined when there is none. */
export function readVariable(
  context: EngineContext,
  caller: Principal,
  input: ReadVariableInput,
): ResultAsync<Answer<VariableDocument | undefined>, PermissionDenied | CipherError | StorageError> {
  const { namespace = defaultNamespaceName, path } = input;
  if (namespace === everyNamespace || !allowsVariable(caller, { namespace, path }, 'read')) {
    return errAsync({ type: 'permission_denied' });
  }
  const query = {
    key: JSON.stringify(['variable', namespace, path]),
    tables: [rowsUnder(variables, [namespace, path])],
    run: (view: ReadView): Answer<Result<VariableDocument | undefined, CipherError>> => {
      const found = view.get(variables, [namespace, path])?.record;
      if (found === undefined) return { index: view.tableIndex(variables), value: ok(undefined) };
      const shown = decryptItems(context, found).map((items) =>
        variableDocument(variableStub(found, clockReadings(context)), items),
      );
      return { index: found.ModifyIndex, value: shown };
    },
  };
  return answerQuery(context, query, input.waiting).andThen((answer) =>
    answer.value.isErr() ? err(answer.value.error) : ok({ index: answer.index, value: answer.value.value }),
  );
}
