import { defaultNamespace, type Namespace, namespaces } from '../../jobs/namespace.js';
import type { ReadView } from '../../ports/storage.js';

/** A namespace; `default` exists whether it was ever stored or not. */
export function readNamespace(view: ReadView, name: string): Namespace | undefined {
  const stored = view.get(namespaces, [name])?.record;
  return stored ?? (name === defaultNamespace.Name ? defaultNamespace : undefined);
}

/** Whether any namespace is one of those; readers who see none are told the index 0 of some lists, as clients know it. */
export function someNamespace(view: ReadView, sees: (name: string) => boolean): boolean {
  return sees(defaultNamespace.Name) || namespaceNames(view).some(sees);
}

/** The names of all namespaces, in order. */
export function namespaceNames(view: ReadView): readonly string[] {
  const names = view.list(namespaces).map(({ record }) => record.Name);
  return names.includes(defaultNamespace.Name) ? names : [...names, defaultNamespace.Name].sort();
}
