import { errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { namespaceHash } from '../../jobs/content-digest.js';
import type { NamespaceError } from '../../jobs/errors.js';
import {
  checkNamespace,
  defaultNamespace,
  type Namespace,
  type NamespaceCapabilities,
  namespaces,
} from '../../jobs/namespaces/namespace.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { CallManner } from '../operation.js';

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
type PutNamespaceError = PermissionDenied | Extract<NamespaceError, { type: 'invalid_namespace' }> | StorageError;

/**
 * Creates or replaces a namespace. Only management callers may do this. Returns the index of the write. Without a change nothing is
 * written, so that a service can declare its namespaces at every start; but clients of the wire expect each write to have a separate index.
 */
export function putNamespace(
  context: EngineContext,
  caller: Principal,
  input: NamespaceInput & Pick<CallManner, 'fromWire'>,
): ResultAsync<{ readonly index: number }, PutNamespaceError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
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
