import { collectionFunctions } from './collections/collections.js';
import { listFunctions } from './collections/lists.js';
import { mapFunctions } from './collections/maps.js';
import { setFunctions } from './collections/sets.js';
import { dateFunctions } from './dates/dates.js';
import { encodingFunctions } from './encoding/encoding.js';
import { formatFunctions } from './format/format.js';
import type { HclFunction } from './function.js';
import { hashFunctions } from './hashing.js';
import { cidrFunctions } from './network/cidr.js';
import { numberFunctions } from './numbers.js';
import { lazyFunctions } from './packages.js';
import { regexFunctions } from './texts/regex.js';
import { textFunctions } from './texts/texts.js';
import { unavailableFunctions } from './unavailable.js';

export type { EagerFunction, FunctionContext, FunctionError, HclFunction, HclParameter } from './function.js';
export { absentFunctionHints } from './unavailable.js';

/** Every function of the language by name. */
export const hclFunctions: ReadonlyMap<string, HclFunction> = new Map(
  [
    ...numberFunctions,
    ...textFunctions,
    ...collectionFunctions,
    ...listFunctions,
    ...mapFunctions,
    ...setFunctions,
    ...formatFunctions,
    ...dateFunctions,
    ...encodingFunctions,
    ...hashFunctions,
    ...cidrFunctions,
    ...regexFunctions,
    ...unavailableFunctions,
    ...lazyFunctions,
  ].map((each): [string, HclFunction] => [each.name, each]),
);
