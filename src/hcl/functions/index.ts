import { collectionFunctions } from './collections.js';
import type { HclFunction } from './function.js';
import { lazyFunctions } from './lazy.js';
import { numberFunctions } from './numbers.js';
import { setFunctions } from './sets.js';
import { textFunctions } from './texts.js';
import { unavailableFunctions } from './unavailable.js';

export type {
  EagerFunction,
  FunctionContext,
  FunctionError,
  HclFunction,
  HclParameter,
  LazyFunction,
} from './function.js';
export { absentFunctionHints } from './unavailable.js';

/** Every function of the language by name. */
export const hclFunctions: ReadonlyMap<string, HclFunction> = new Map(
  [
    ...numberFunctions,
    ...textFunctions,
    ...collectionFunctions,
    ...setFunctions,
    ...unavailableFunctions,
    ...lazyFunctions,
  ].map((each): [string, HclFunction] => [each.name, each]),
);
