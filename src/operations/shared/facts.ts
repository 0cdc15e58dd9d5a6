import type { EngineEvents } from '../events.js';
import { type EngineContext, emit } from './context.js';

/** An event that became true in a write and is emitted after the commit. */
export type Fact = {
  [K in keyof EngineEvents]: { readonly name: K; readonly fact: Parameters<EngineEvents[K]>[0] };
}[keyof EngineEvents];

/** Emits what a committed write made true, in order. */
export function emitFacts(context: EngineContext, facts: readonly Fact[]): void {
  for (const { name, fact } of facts) emit(context, name, ...([fact] as Parameters<EngineEvents[typeof name]>));
}
