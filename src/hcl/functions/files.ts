import { ok, type Result } from 'neverthrow';
import { boolValue, setValue, stringType, stringValue } from '../values/value.js';
import { textAt } from './arguments.js';
import { base64FromBytes, textFromBytes } from './encoding/encoding.js';
import { type CallResult, defineFunction, type EagerFunction, fail, overBudget, parameter } from './function.js';
import { cleanPath, pathMatcher } from './path-pattern.js';

/**
 * The files that a source may read, provided by the host. Paths are as written in the source. Errors are sentences that name the path and the
 * reason. All calls are synchronous.
 */
export interface FileAccess {
  /** The content of a regular file of at most `limit` bytes. */
  read(path: string, limit: number): Result<Uint8Array, string>;
  /** Whether there is a regular file. */
  exists(path: string): Result<boolean, string>;
  /** Paths of the regular files below a folder, relative to it. */
  list(folder: string): Result<readonly string[], string>;
  /** The folder that relative paths begin at, as an absolute path. */
  readonly folder: string;
  /** The home folder of the user; undefined when there is none. */
  readonly home: string | undefined;
}

const path = parameter('path', stringType);

/** The functions that read files, over the files of the host. */
export function fileFunctions(files: FileAccess): readonly EagerFunction[] {
  return [
    defineFunction('file', [path], (args, { budget }) => {
      const read = files.read(textAt(args, 0), budget.limits.textLength);
      if (read.isErr()) return fail(read.error);
      const text = textFromBytes(read.value);
      return text === undefined
        ? fail(`${textAt(args, 0)} is not UTF-8 text; filebase64 reads any bytes`)
        : ok(stringValue(text));
    }),
    defineFunction('filebase64', [path], (args, { budget }) =>
      files
        .read(textAt(args, 0), Math.floor(budget.limits.textLength / 4) * 3)
        .match((bytes): CallResult => ok(stringValue(base64FromBytes(bytes))), fail),
    ),
    defineFunction('fileexists', [path], (args) =>
      files.exists(textAt(args, 0)).match((exists): CallResult => ok(boolValue(exists)), fail),
    ),
    defineFunction('fileset', [path, parameter('pattern', stringType)], (args, { budget }) => {
      const pattern = textAt(args, 1);
      const matcher = pathMatcher(pattern);
      if (matcher.isErr()) return fail(matcher.error);
      const listed = files.list(textAt(args, 0));
      if (listed.isErr()) return fail(listed.error);
      const work = listed.value.reduce((sum, each) => sum + each.length, 0) * pattern.length;
      if (!budget.charge(Math.ceil(work / 10))) return overBudget('fileset');
      const found = listed.value.filter(matcher.value).map((each) => stringValue(each));
      return ok(setValue(stringType, found));
    }),
    defineFunction('abspath', [path], (args) => {
      const given = textAt(args, 0);
      return ok(stringValue(cleanPath(given.startsWith('/') ? given : `${files.folder}/${given}`)));
    }),
    defineFunction('pathexpand', [path], (args) => {
      const given = textAt(args, 0);
      if (!given.startsWith('~')) return ok(stringValue(given));
      if (given !== '~' && !given.startsWith('~/'))
        return fail('the home folder of another user is not known; write ~/');
      if (files.home === undefined) return fail('there is no home folder');
      return ok(stringValue(cleanPath(files.home + given.slice(1))));
    }),
  ];
}
