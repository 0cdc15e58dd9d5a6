import type { EngineContext } from './engine-context.js';

/** The default node: the one whose agent is connected here, if there is exactly one. */
export function onlyNode({ agents }: Pick<EngineContext, 'agents'>): string | undefined {
  const [only, ...others] = agents.nodeIds();
  return others.length === 0 ? only : undefined;
}
