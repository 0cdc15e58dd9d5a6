import type { EngineContext } from './engine-context.js';

/** The node that is meant where none is named: the one whose agent is connected here, when there is exactly one. */
export function onlyNode({ agents }: Pick<EngineContext, 'agents'>): string | undefined {
  const [only, ...others] = agents.nodeIds();
  return others.length === 0 ? only : undefined;
}
