import { err, ok, type Result } from 'neverthrow';
import { stringType, stringValue } from '../values/value.js';
import { textAt } from './arguments.js';
import { defineFunction, type EagerFunction, parameter } from './function.js';

/** One character of a name, a class of them, `?`, or `*`. */
type Piece =
  | { readonly kind: 'character' | 'class'; readonly accepts: (character: string) => boolean }
  | { readonly kind: 'star' };

/** The pattern of one name in a path; `folders` is `**`. */
type NamePattern = 'folders' | readonly Piece[];

/** Limits of alternatives and of characters in one pattern. */
const mostAlternatives = 64;
const longestPattern = 1000;

/**
 * Whether a path matches a pattern: `*` and `?` within a name, `**` for any number of folders, `[a-z]` and `[!a-z]`, `{a,b}`, and a
 * backslash before a literal character. The error is a sentence.
 */
export function pathMatcher(pattern: string): Result<(path: string) => boolean, string> {
  if (pattern.length > longestPattern) return err(`the pattern is longer than ${longestPattern} characters`);
  const alternatives = expanded(pattern);
  if (alternatives === undefined) return err('the pattern has a brace without its partner, or too many alternatives');
  const patterns: (readonly NamePattern[])[] = [];
  for (const alternative of alternatives) {
    const names = alternative.split('/').map((name) => (name === '**' ? 'folders' : piecesOf(name)));
    if (!names.every((name) => name !== undefined))
      return err('the pattern has a "[" without "]", or ends with a backslash');
    patterns.push(names);
  }
  return ok((path) => {
    const names = path.split('/').map((name) => [...name]);
    return patterns.some((each) => matches(each, names));
  });
}

/** A pattern without braces for each combination of alternatives; undefined if a brace has no partner or there are too many. */
function expanded(pattern: string): string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const brace = firstBrace(next);
    if (brace === undefined) return undefined;
    if (brace === 'none') done.push(next);
    else for (const choice of brace.choices) open.push(brace.before + choice + brace.after);
    if (done.length + open.length > mostAlternatives) return undefined;
  }
  return done;
}

interface Brace {
  readonly before: string;
  readonly choices: readonly string[];
  readonly after: string;
}

/** The first pair of braces of a pattern; undefined when one has no partner. */
function firstBrace(pattern: string): Brace | 'none' | undefined {
  let begin = -1;
  let depth = 0;
  let from = 0;
  const choices: string[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') {
      depth += 1;
      if (depth === 1) [begin, from] = [at, at + 1];
    } else if (character === '}' && depth === 0) return undefined;
    else if (character === ',' && depth === 1) {
      choices.push(pattern.slice(from, at));
      from = at + 1;
    } else if (character === '}') {
      depth -= 1;
      if (depth > 0) continue;
      choices.push(pattern.slice(from, at));
      return { before: pattern.slice(0, begin), choices, after: pattern.slice(at + 1) };
    }
  }
  return depth === 0 ? 'none' : undefined;
}

function piecesOf(name: string): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  const characters = [...name];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at];
    if (character === '*') {
      if (pieces.at(-1)?.kind !== 'star') pieces.push({ kind: 'star' });
    } else if (character === '?') pieces.push({ kind: 'class', accepts: () => true });
    else if (character === '[') {
      const end = characters.indexOf(']', at + 2);
      if (end === -1) return undefined;
      pieces.push({ kind: 'class', accepts: classOf(characters.slice(at + 1, end)) });
      at = end;
    } else {
      if (character === '\\') at += 1;
      const itself = characters[at];
      if (itself === undefined) return undefined;
      pieces.push({ kind: 'character', accepts: (other) => other === itself });
    }
  }
  return pieces;
}

function classOf(members: readonly string[]): (character: string) => boolean {
  const negated = members[0] === '!' || members[0] === '^';
  const listed = negated ? members.slice(1) : members;
  return (character) => {
    for (let at = 0; at < listed.length; at += 1) {
      const [first, dash, last] = [listed[at] ?? '', listed[at + 1], listed[at + 2]];
      const isRange = dash === '-' && last !== undefined;
      if (isRange ? first <= character && character <= last : first === character) return !negated;
      if (isRange) at += 2;
    }
    return negated;
  };
}

/** Works on names of a path and pieces of a name alike: after each step, the positions in the pattern that can be reached. */
function matches(pattern: readonly NamePattern[], names: readonly (readonly string[])[]): boolean {
  let reached = withSkips(pattern, [0], (part) => part === 'folders');
  for (const name of names) {
    const next: number[] = [];
    for (const at of reached) {
      const part = pattern[at];
      if (part === 'folders') next.push(at);
      else if (part !== undefined && nameMatches(part, name)) next.push(at + 1);
    }
    reached = withSkips(pattern, next, (part) => part === 'folders');
  }
  return reached.includes(pattern.length);
}

function nameMatches(pieces: readonly Piece[], name: readonly string[]): boolean {
  let reached = withSkips(pieces, [0], ({ kind }) => kind === 'star');
  for (const character of name) {
    const next: number[] = [];
    for (const at of reached) {
      const piece = pieces[at];
      if (piece?.kind === 'star') next.push(at);
      else if (piece?.accepts(character) === true) next.push(at + 1);
    }
    reached = withSkips(pieces, next, ({ kind }) => kind === 'star');
  }
  return reached.includes(pieces.length);
}

/** The positions, and those after parts that may match nothing. */
function withSkips<T>(parts: readonly T[], places: readonly number[], skippable: (part: T) => boolean): number[] {
  const all = new Set<number>();
  for (const place of places) {
    for (let at = place; !all.has(at); at += 1) {
      all.add(at);
      const part = parts[at];
      if (part === undefined || !skippable(part)) break;
    }
  }
  return [...all];
}

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
