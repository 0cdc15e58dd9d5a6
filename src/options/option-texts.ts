/**
 * String forms that options share with the configuration language. They are separate so that programs that only call a server do not
 * load the language's parser and functions.
 */
export { parseDuration } from '../hcl/decode/duration.js';
export { suggestName } from '../hcl/diagnostics/suggest.js';
