import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { FileAccess } from '../../src/index.js';
import { messageOf } from '../../src/shared/values.js';

/** The most files and folders in one listing. */
const mostEntries = 10_000;

/**
 * The files below a folder, for the file functions of a job file. A path that leads out of the folder, by `..`, as an absolute path or
 * through a symbolic link, is refused; so is everything that is not a regular file.
 */
export function filesBelow(folder: string): FileAccess {
  const root = resolve(folder);
  /** The real path; undefined if it does not exist. */
  const located = (path: string): Result<string | undefined, string> => {
    if (path.includes('\0')) return err('a path cannot contain a NUL character');
    const wanted = resolve(root, path);
    try {
      const [real, realRoot] = [realpathSync(wanted), realpathSync(root)];
      return isBelow(real, realRoot) ? ok(real) : err(outside(path, root));
    } catch (error) {
      if (!isBelow(wanted, root) && !isBelow(wanted, rootOf(root))) return err(outside(path, root));
      return isMissing(error) ? ok(undefined) : err(`${path} cannot be read: ${messageOf(error)}`);
    }
  };
  return {
    folder: root,
    home: homedir() || undefined,
    read: (path, limit) =>
      located(path).andThen((real) =>
        real === undefined ? err(`there is no file ${path} in ${root}`) : contentOf(real, path, limit),
      ),
    exists: (path) =>
      located(path).andThen((real) => {
        if (real === undefined) return ok(false);
        const stats = statSync(real, { throwIfNoEntry: false });
        if (stats === undefined) return ok(false);
        return stats.isFile() ? ok(true) : err(`${path} is not a regular file`);
      }),
    list: (path) =>
      located(path).andThen((real) =>
        real === undefined ? err(`there is no folder ${path} in ${root}`) : filesIn(real, path, realpathSync(root)),
      ),
  };
}

function rootOf(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return root;
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
}

function outside(path: string, root: string): string {
  return `${path} is outside ${root}: a job file can only read files below its folder`;
}

function contentOf(real: string, path: string, limit: number): Result<Uint8Array, string> {
  let file: number | undefined;
  try {
    // Opening a pipe without a writer would wait for one.
    file = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (!fstatSync(file).isFile()) return err(`${path} is not a regular file`);
    const bytes = Buffer.alloc(limit + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    return length > limit ? err(`${path} is larger than ${limit} bytes`) : ok(bytes.subarray(0, length));
  } catch (error) {
    return err(`${path} cannot be read: ${messageOf(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Links to folders are not followed; links to files are, within the root. */
function filesIn(folder: string, path: string, root: string): Result<readonly string[], string> {
  const found: string[] = [];
  const open = [''];
  let entries = 0;
  try {
    for (let below = open.pop(); below !== undefined; below = open.pop()) {
      for (const entry of readdirSync(resolve(folder, below), { withFileTypes: true })) {
        entries += 1;
        if (entries > mostEntries) return err(`${path} contains more than ${mostEntries} files and folders`);
        const name = below === '' ? entry.name : `${below}/${entry.name}`;
        if (entry.isDirectory()) open.push(name);
        else if (entry.isFile() || (entry.isSymbolicLink() && isFileBelow(resolve(folder, name), root)))
          found.push(name);
      }
    }
    return ok(found);
  } catch (error) {
    return err(`${path} cannot be listed: ${messageOf(error)}`);
  }
}

function isFileBelow(path: string, root: string): boolean {
  try {
    const real = realpathSync(path);
    return isBelow(real, root) && statSync(real).isFile();
  } catch {
    return false;
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
