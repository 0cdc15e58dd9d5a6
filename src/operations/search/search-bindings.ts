import type { searchCalls } from '../../api/calls/search-calls.js';
import type { Bindings } from '../binding.js';
import { fuzzySearch, search } from './search.js';

/** The operations of the calls that search. */
export const searchBindings: Bindings<typeof searchCalls> = {
  prefix: search,
  fuzzy: fuzzySearch,
};
