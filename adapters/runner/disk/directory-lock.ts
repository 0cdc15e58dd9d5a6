import { linkSync, readdirSync, readFileSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { codeOf, resultOr } from '../../../src/shared/values.js';
import { isAlive, ownIdentity, ownScope, type ProcessIdentity, type ProcessScope } from './process-identity.js';
import { messageOf } from './text-file.js';

/** Another runner uses the directory. */
export interface DirectoryInUse {
  readonly type: 'directory_in_use';
  readonly directory: string;
  readonly message: string;
}

/** The directory is unusable. */
export interface DirectoryUnusable {
  readonly type: 'directory_unusable';
  readonly directory: string;
  readonly message: string;
}

/** The message of a system error names another path or none, so the directory is added. */
export function directoryUnusable(directory: string, error: unknown): DirectoryUnusable {
  const message = `the directory ${directory} cannot be used: ${messageOf(error)}`;
  return { type: 'directory_unusable', directory, message };
}

export interface DirectoryLock {
  release(): void;
}

interface Holder extends ProcessIdentity, ProcessScope {
  readonly token: string;
}

/** A holder on another host or in another container counts as alive while it touches its lock. */
const touchInterval = 10_000;
const silence = 40_000;

/**
 * Locks a directory for this process. The lock is a file that names its holder. The lock of a dead holder is taken
 * over at once; of several simultaneous attempts exactly one succeeds.
 */
export function lockDirectory(
  directory: string,
  token: string,
): Result<DirectoryLock, DirectoryInUse | DirectoryUnusable> {
  const own = join(directory, `lock-${token}`);
  const lock = join(directory, 'lock');
  const holder: Holder = { token, ...ownIdentity(), ...ownScope() };
  try {
    clearRemains(directory);
    writeFileSync(own, JSON.stringify(holder), { mode: 0o600 });
    const holding = takeLock(directory, own, lock);
    unlinkSync(own);
    if (holding !== undefined) {
      const where =
        holding.host === holder.host ? `process ${holding.pid}` : `process ${holding.pid} of ${holding.host}`;
      const message = `The runner directory ${directory} is in use by ${where}`;
      return err({ type: 'directory_in_use', directory, message });
    }
  } catch (error) {
    return err(directoryUnusable(directory, error));
  }
  return ok(heldLock(lock, token));
}

/** Returns the current holder if it is alive. */
function takeLock(directory: string, own: string, lock: string): Holder | undefined {
  for (let attempt = 0; ; attempt += 1) {
    if (linked(own, lock)) return undefined;
    const holder = readHolder(lock);
    if (holder === undefined) {
      if (isSilent(lock)) unlinkIfThere(lock);
    } else if (holderLives(holder, lock)) {
      return holder;
    } else if (linked(lock, join(directory, `lock-dead-${holder.token}`))) {
      // This name can be created only once, so no other process removes this dead holder's lock or a later one.
      unlinkIfThere(lock);
    }
    if (attempt >= 100) return holder ?? { token: '', pid: 0, startTime: '', host: '', boot: '', namespace: '' };
  }
}

function heldLock(lock: string, token: string): DirectoryLock {
  const timer = setInterval(() => {
    try {
      utimesSync(lock, new Date(), new Date());
    } catch {
      // Transient: the next touch follows soon.
    }
  }, touchInterval);
  timer.unref();
  return {
    release: () => {
      clearInterval(timer);
      if (readHolder(lock)?.token === token) unlinkIfThere(lock);
    },
  };
}

function holderLives(holder: Holder, lock: string): boolean {
  const scope = ownScope();
  if (holder.host === scope.host && holder.namespace === scope.namespace) {
    if (holder.boot !== scope.boot) return false;
    if (holder.startTime !== '') return isAlive(holder);
    return isAlive(holder) && !isSilent(lock);
  }
  return !isSilent(lock);
}

function isSilent(lock: string): boolean {
  return resultOr(false, () => Date.now() - statSync(lock).mtimeMs > silence);
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  }
}

function readHolder(lock: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(lock, 'utf8')) as Partial<Holder> | null;
    return typeof holder?.token === 'string' && typeof holder.pid === 'number' ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}

/** Removes files of processes that were killed while they acquired the lock. */
function clearRemains(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name.startsWith('lock-') && isSilent(join(directory, name))) unlinkIfThere(join(directory, name));
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process has already removed it.
  }
}
