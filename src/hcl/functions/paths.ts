import { ok } from 'neverthrow';
import { stringType, stringValue } from '../values/value.js';
import { textAt } from './arguments.js';
import { defineFunction, type EagerFunction, parameter } from './function.js';

const path = parameter('path', stringType);

/** Functions on paths that read no file; paths have slashes. */
export const pathFunctions: readonly EagerFunction[] = [
  defineFunction('basename', [path], (args) => ok(stringValue(lastPartOf(textAt(args, 0))))),
  defineFunction('dirname', [path], (args) => ok(stringValue(folderOf(textAt(args, 0))))),
];

/** `b.sh` of `/a/b.sh` and of `/a/b.sh/`; `.` of an empty path. */
function lastPartOf(path: string): string {
  if (path === '') return '.';
  const parts = path.split('/').filter((part) => part !== '');
  return parts.at(-1) ?? '/';
}

/** `/a` of `/a/b.sh`, `/a/b` of `/a/b/`, `.` of `b.sh`. */
function folderOf(path: string): string {
  return cleanPath(path.slice(0, path.lastIndexOf('/') + 1));
}

/** The shortest path with the same meaning: without `.`, without `..` where a name precedes it, without repeated or final slashes. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    const climbs = part === '..';
    if (climbs && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!climbs || !rooted) parts.push(part);
  }
  const text = parts.join('/');
  return rooted ? `/${text}` : text === '' ? '.' : text;
}
