import { readFileSync } from 'node:fs';
import { isTransientFault } from './transient-fault.js';

/**
 * The text of a small file; undefined when there is none to read. Throws when that cannot be told at present, as when file handles
 * are used up: a file that cannot be read now is not a file that is missing.
 */
export function textIn(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isTransientFault(error)) throw error;
    return undefined;
  }
}
