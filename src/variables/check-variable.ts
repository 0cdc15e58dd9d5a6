import { hasLoneSurrogate } from '../shared/values.js';
import type { VariableItems } from './variable.js';

/** Maximum bytes of all names and values of a variable together. */
const maximumVariableSize = 64 * 1024;

/** What is wrong with a path; undefined when it is valid for a variable (job interface, variables). */
export function pathFault(path: string): string | undefined {
  if (!/^[A-Za-z0-9_~/-]{1,128}$/.test(path)) return `invalid path ${JSON.stringify(path.slice(0, 160))}`;
  const [first, second, ...further] = path.split('/');
  if (first !== 'nomad') return undefined;
  if (second === 'jobs') return undefined;
  if (second === 'job-templates') {
    return further.length === 1
      ? undefined
      : '"nomad/job-templates" is a reserved directory path: variables stand one level below it';
  }
  return 'only paths at "nomad/jobs" or "nomad/job-templates" and below are valid paths under the top-level "nomad" directory';
}

/** What is wrong with the items; undefined when they may be stored. */
export function itemsFault(items: VariableItems): string | undefined {
  const entries = Object.entries(items);
  if (entries.length === 0) return 'empty variables are invalid';
  let size = 0;
  for (const [name, text] of entries) {
    // UTF-8 takes at least one byte per UTF-16 unit, so longer strings need not be counted.
    size += name.length + text.length > maximumVariableSize ? maximumVariableSize + 1 : bytesOf(name) + bytesOf(text);
    if (size > maximumVariableSize) return 'variables are limited to 64KiB in total size';
    if (hasLoneSurrogate(name) || hasLoneSurrogate(text)) return 'items must be valid Unicode';
  }
  return undefined;
}

function bytesOf(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
