import { lstat, realpath } from 'node:fs/promises';
import { join, normalize, sep } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { type CommandRefused, callerFailed, commandRefused } from '../../../src/agent/link/node-command.js';

/**
 * The file or folder of a caller's path below the allocation's folder. Neither `..` nor a symbolic link may lead out of
 * it; the folders of the tasks' secrets and of the runner's notes are never accessible.
 */
export async function confinedPath(root: string, path: string): Promise<Result<string, CommandRefused>> {
  if (path.includes('\0')) return err(commandRefused('invalid', 'The path contains a NUL character'));
  const below = normalize(join(sep, path)).slice(1);
  const escapes = /^\.\.(\/|$)/.test(normalize(join('.', path.replace(/^\/+/, ''))));
  if (escapes) return err(commandRefused('invalid', 'Path escapes the alloc directory'));
  const closed = closedFolder(below);
  if (closed !== undefined) return err(callerFailed('invalid', `Reading ${closed} file prohibited: ${path}`));
  const wanted = join(root, below);
  try {
    await lstat(wanted);
    const [real, realRoot] = await Promise.all([realpath(wanted), realpath(root)]);
    const target = real === realRoot ? '' : real.slice(realRoot.length + 1);
    if (real !== realRoot && !real.startsWith(realRoot + sep)) {
      return err(commandRefused('invalid', 'Path escapes the alloc directory'));
    }
    const behind = closedFolder(target);
    return behind === undefined ? ok(real) : err(callerFailed('invalid', `Reading ${behind} file prohibited: ${path}`));
  } catch (error) {
    return err(unreachable(path, error as NodeJS.ErrnoException));
  }
}

function unreachable(path: string, { code = '' }: NodeJS.ErrnoException): CommandRefused {
  const reason = code === 'ENOENT' || code === 'ENOTDIR' ? 'not_found' : 'failed';
  return commandRefused(reason, `stat ${path}: ${code === 'ENOENT' ? 'no such file or directory' : code}`);
}

function closedFolder(below: string): string | undefined {
  const folder = below.split(sep)[1];
  if (below.startsWith(`alloc${sep}`)) return undefined;
  return folder === 'secrets' ? 'secret' : folder === 'private' ? 'private' : undefined;
}
