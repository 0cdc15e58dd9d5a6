import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows, type PermissionDenied } from '../../access/allows.js';
import { namespaceCapabilities } from '../../access/capability.js';
import type { Principal } from '../../access/principal.js';
import type { Filter } from '../../filter/compile-filter.js';
import { jobRestarts } from '../../jobs/changes/job-restart.js';
import { namespaceHash } from '../../jobs/content-digest.js';
import type { NamespaceError } from '../../jobs/errors.js';
import { jobs } from '../../jobs/job-record.js';
import {
  checkNamespace,
  defaultNamespace,
  defaultNamespaceName,
  type Namespace,
  type NamespaceCapabilities,
  namespaces,
} from '../../jobs/namespaces/namespace.js';
import { endedRuns } from '../../jobs/runs/job-run.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { allocations, isClientTerminal } from '../../scheduler/allocation.js';
import { variables } from '../../variables/variable.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { FilterFault } from '../listing/answer-list.js';
import { compileFilter } from '../listing/filters.js';
import type { CallManner } from '../operation.js';
import { readNamespace as findNamespace } from '../records/declared-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsInNamespaces, rowsUnder } from '../waiting/parked-queries.js';

/** A complete namespace: omitted members are cleared. */
interface NamespaceInput {
  /** 1 to 128 letters, digits and hyphens. */
  readonly name: string;
  /** At most 256 characters, for people. */
  readonly description?: string;
  /** Restrictions of jobs in the namespace; null and absent allow everything. */
  readonly capabilities?: Partial<NamespaceCapabilities> | null;
  /** Names and values for people and programs; null and absent: none. */
  readonly meta?: Readonly<Record<string, string>> | null;
}

const unrestricted: NamespaceCapabilities = {
  EnabledTaskDrivers: null,
  DisabledTaskDrivers: null,
  EnabledNetworkModes: null,
  DisabledNetworkModes: null,
};

/** Errors of `putNamespace`. */
type PutNamespaceError = Extract<NamespaceError, { type: 'invalid_namespace' }> | StorageError;

/**
 * Creates or replaces a namespace. Only management callers may do this. Returns the index of the write. Without a change nothing is
 * written, so that a service can declare its namespaces at every start; but clients of the wire expect each write to have a separate index.
 */
export function putNamespace(
  context: EngineContext,
  caller: Principal,
  input: NamespaceInput & Pick<CallManner, 'fromWire'>,
): ResultAsync<{ readonly index: number }, PutNamespaceError> {
  const { name: Name, description: Description = '', meta: Meta = null, capabilities } = input;
  // An absent list allows everything.
  const Capabilities = capabilities ? { ...unrestricted, ...capabilities } : null;
  const checked = checkNamespace({ Name, Description });
  if (checked.isErr()) return errAsync(checked.error);
  return commit(context, caller, (tx) => {
    const before = tx.get(namespaces, [Name])?.record;
    const content = { ...defaultNamespace, Name, Description, Capabilities, Meta };
    const next: Namespace = {
      ...content,
      Hash: namespaceHash(content),
      CreateIndex: before?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    };
    if (before === undefined || input.fromWire === true || !sameNamespace(before, next)) tx.put(namespaces, next);
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

function sameNamespace(a: Namespace, b: Namespace): boolean {
  return JSON.stringify({ ...a, ModifyIndex: 0 }) === JSON.stringify({ ...b, ModifyIndex: 0 });
}

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

/** Errors of `removeNamespace`. */
type RemoveNamespaceError = Exclude<NamespaceError, { type: 'invalid_namespace' }> | StorageError;

/** Removes a namespace that is not in use. Only management callers may do this. Returns the index of the write. */
export function removeNamespace(
  context: EngineContext,
  caller: Principal,
  input: { readonly name: string },
): ResultAsync<{ readonly index: number }, RemoveNamespaceError> {
  const { name } = input;
  if (name === defaultNamespaceName) {
    return errAsync({ type: 'namespace_protected', name, message: 'default namespace can not be deleted' });
  }
  return commit(context, caller, (tx): Result<void, RemoveNamespaceError> => {
    if (tx.get(namespaces, [name]) === undefined) {
      return err({ type: 'namespace_not_found', name, message: `namespace "${name.slice(0, 140)}" not found` });
    }
    const use = useOf(tx, name);
    if (use !== undefined) {
      const message = `namespace "${name}" has ${use} in regions: [${context.settings.jobs.region}]`;
      return err({ type: 'namespace_in_use', name, message });
    }
    tx.remove(namespaces, [name]);
    // A later namespace of this name has no part in them.
    for (const { record } of tx.list(endedRuns, { prefix: [name] })) tx.remove(endedRuns, endedRuns.key(record));
    for (const { record } of tx.list(jobRestarts, { prefix: [name] })) tx.remove(jobRestarts, jobRestarts.key(record));
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

/** A message that clients match: they retry until the jobs and allocations have ended. */
function useOf(view: ReadView, name: string): string | undefined {
  if (view.list(jobs, { prefix: [name] }).some(({ record }) => record.Status !== 'dead')) return 'non-terminal jobs';
  // An allocation of a stopped job runs until its node has ended it.
  const present = view.list(allocations, { index: 'by_job', prefix: [name] });
  if (present.some(({ record }) => !isClientTerminal(record))) return 'non-terminal allocations';
  return view.list(variables, { prefix: [name], limit: 1 }).length > 0 ? 'variables' : undefined;
}
