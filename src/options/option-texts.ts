/**
 * What strings of options have in common with the configuration language. Programs that only call a server import it from here: the entry of
 * the language brings its parser and all its functions.
 */
export { parseDuration } from '../hcl/decode/duration.js';
export { suggestName } from '../hcl/diagnostics/suggest.js';

/** A template of the pages of runs; empty for none. */
export const runUrlForm = /^(?:|(?:\{origin\}\/|https?:\/\/)(?:[^\s{}]|\{(?:origin|namespace|job|run|id)\}){0,2000})$/;
