import { createFunctions as createFunctionsIn, type Functions, type FunctionsOptions } from '../../src/functions.js';
import type { Engine } from '../../src/index.js';
import { identity, lifeOf } from './process-life.js';
import { inThread } from './threads.js';

// All but `createFunctions`, which is the one below.
export * from '../../src/functions.js';

/**
 * The functions of this process: `definitions` are those that it enqueues or runs. Throws a TypeError for what `defineFunction` did
 * not make, and for two definitions of one name.
 */
export function createFunctions(
  engine: Engine,
  definitions: readonly { readonly name: string }[],
  options: FunctionsOptions = {},
): Functions {
  return createFunctionsIn(engine, definitions, options, {
    identity,
    lifeOf,
    inThread: (module) => inThread(module, definitions),
  });
}
