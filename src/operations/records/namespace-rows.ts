import { defaultNamespace, type Namespace, namespaces } from '../../jobs/namespaces/namespace.js';
import type { ReadView } from '../../ports/storage.js';

/** A namespace; `default` always exists, even if not stored. */
export function readNamespace(view: ReadView, name: string): Namespace | undefined {
  const stored = view.get(namespaces, [name])?.record;
  return stored ?? (name === defaultNamespace.Name ? defaultNamespace : undefined);
}

/** Whether at least one namespace is visible; callers that see none get the index 0 for some lists, as clients expect. */
export function someNamespace(view: ReadView, sees: (name: string) => boolean): boolean {
  return sees(defaultNamespace.Name) || namespaceNames(view).some(sees);
}

/** The names of all namespaces, in order. */
export function namespaceNames(view: ReadView): readonly string[] {
  const names = view.list(namespaces).map(({ record }) => record.Name);
  return names.includes(defaultNamespace.Name) ? names : [...names, defaultNamespace.Name].sort();
}
