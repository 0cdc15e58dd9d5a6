import type { RE2JS } from 're2js';

/**
 * The regular expression engine, loaded on the first use of a regular expression: it takes longer to load than the rest of the
 * language, and hardly any job has one. It runs in time linear in the text.
 */
export function re2(): typeof RE2JS {
  loaded ??= process.getBuiltinModule('node:module').createRequire(import.meta.url)('re2js') as typeof import('re2js');
  return loaded.RE2JS;
}

let loaded: typeof import('re2js') | undefined;
