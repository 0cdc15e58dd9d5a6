import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows } from '../../access/allows.js';
import { namespaceCapabilities } from '../../access/capability.js';
import type { Principal } from '../../access/principal.js';
import type { Filter } from '../../filter/compile-filter.js';
import { defaultNamespace, type Namespace, namespaces } from '../../jobs/namespaces/namespace.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { compileFilter } from '../../queries/filters/index.js';
import type { PermissionDenied } from '../authorise.js';
import type { EngineContext } from '../context/engine-context.js';
import type { FilterFault } from '../listing/answer-list.js';
import { readNamespace as findNamespace } from '../records/namespace-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import type { Answer } from '../waiting/parked-queries.js';
import { rowsInNamespaces, rowsUnder } from '../waiting/watched-rows.js';

const anything = namespaceCapabilities.filter((capability) => capability !== 'deny');

/** The namespaces in which the caller may do anything at all, by name. Index: that of the namespaces table. */
export function listNamespaces(
  context: EngineContext,
  caller: Principal,
  input: MayWait & { readonly prefix?: string; readonly filter?: string } = {},
): ResultAsync<Answer<readonly Namespace[]>, StorageError | FilterFault> {
  const { prefix = '', filter: expression = '' } = input;
  const filter = expression === '' ? ok(undefined) : compileFilter.namespace(expression);
  if (filter.isErr()) return errAsync(filter.error);
  const rights = caller.management ? '' : JSON.stringify(caller.namespaces);
  const query = {
    key: JSON.stringify(['namespaces', prefix, rights]),
    tables: caller.management ? [namespaces] : rowsInNamespaces(namespaces, Object.keys(caller.namespaces)),
    run: (view: ReadView) => {
      const stored = view.list(namespaces, { textPrefix: prefix }).map((row) => row.record);
      const value = withDefault(stored, prefix).filter(({ Name }) => allows(caller, Name, anything));
      return { index: view.tableIndex(namespaces), value };
    },
  };
  return answerQuery(context, query, input.waiting).andThen(({ index, value }) =>
    filtered(value, filter.value).map((kept) => ({ index, value: kept })),
  );
}

function filtered(listed: readonly Namespace[], filter: Filter | undefined): Result<readonly Namespace[], FilterFault> {
  if (filter === undefined) return ok(listed);
  const kept: Namespace[] = [];
  for (const namespace of listed) {
    const matches = filter.matches(namespace);
    if (matches.isErr()) return err(matches.error);
    if (matches.value) kept.push(namespace);
  }
  return ok(kept);
}

/** One namespace; undefined when there is none. A caller without any right in it is refused, whether it exists or not. */
export function readNamespace(
  context: EngineContext,
  caller: Principal,
  input: MayWait & { readonly name: string },
): ResultAsync<Answer<Namespace | undefined>, PermissionDenied | StorageError> {
  if (!allows(caller, input.name, anything)) return errAsync({ type: 'permission_denied' });
  const query = {
    key: JSON.stringify(['namespace', input.name]),
    tables: [rowsUnder(namespaces, [input.name])],
    run: (view: ReadView) => {
      const found = findNamespace(view, input.name);
      return { index: found?.ModifyIndex ?? view.tableIndex(namespaces), value: found };
    },
  };
  return answerQuery(context, query, input.waiting);
}

/** The default namespace exists before it is ever stored. */
function withDefault(stored: readonly Namespace[], prefix: string): readonly Namespace[] {
  const { Name } = defaultNamespace;
  if (!Name.startsWith(prefix) || stored.some((namespace) => namespace.Name === Name)) return stored;
  const after = stored.findIndex((namespace) => namespace.Name > Name);
  return stored.toSpliced(after < 0 ? stored.length : after, 0, defaultNamespace);
}
