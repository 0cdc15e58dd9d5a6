import type { ReadView } from '../../ports/storage.js';
import { builtInNodePools, type NodePool, nodePools } from '../../scheduler/node-pool.js';

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
