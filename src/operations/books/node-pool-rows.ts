import type { ReadView } from '../../ports/storage.js';
import { builtInNodePools, type NodePool, nodePools } from '../../scheduler/node-pool.js';

/** A pool; the built-in ones exist whether they were ever stored or not. */
export function readNodePool(view: ReadView, name: string): NodePool | undefined {
  return view.get(nodePools, [name])?.record ?? builtInNodePools.find(({ Name }) => Name === name);
}
