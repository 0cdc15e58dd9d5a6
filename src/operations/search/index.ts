export { type Found, fuzzySearch, type SearchError, type SearchInput, search } from './search.js';
