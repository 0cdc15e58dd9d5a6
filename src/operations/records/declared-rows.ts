import { defaultNamespace, type Namespace, namespaces } from '../../jobs/namespaces/namespace.js';
import type { ReadView } from '../../ports/storage.js';
import { builtInNodePools, type NodePool, nodePools } from '../../scheduler/node-pool.js';
import {
  defaultSchedulerConfiguration,
  type SchedulerConfiguration,
  schedulerConfigurations,
} from '../../scheduler/scheduler-configuration.js';

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

/** A pool; the built-in ones always exist, even if not stored. */
export function readNodePool(view: ReadView, name: string): NodePool | undefined {
  return view.get(nodePools, [name])?.record ?? builtInNodePools.find(({ Name }) => Name === name);
}

/** The pools whose names begin with the prefix, by name, the built-in ones among them. */
export function listNodePools(view: ReadView, prefix: string): readonly NodePool[] {
  const stored = view.list(nodePools, { textPrefix: prefix }).map(({ record }) => record);
  const builtIn = builtInNodePools.filter(({ Name }) => Name.startsWith(prefix));
  return [...builtIn, ...stored].sort((a, b) => (a.Name < b.Name ? -1 : 1));
}

/** The configuration; the default one until one is set. */
export function readSchedulerConfiguration(view: ReadView): SchedulerConfiguration {
  return view.get(schedulerConfigurations, ['configuration'])?.record ?? defaultSchedulerConfiguration;
}
