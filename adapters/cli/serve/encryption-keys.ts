import { randomBytes } from 'node:crypto';
import { open, readFile, rename, stat } from 'node:fs/promises';
import type { Cipher } from '../../../src/ports/index.js';
import { type AesKey, aesCipher } from '../../node/index.js';
import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';

export const keyUsage = `signalbox new-key FILE                 create a key for --encryption-key-file, in a new file or as the first key of
                                       an existing file, whose other keys still decrypt
`;

/**
 * The cipher for stored tokens and URLs, from a file of lines `ID KEY` (32 bytes in base64 or 64 hexadecimal digits). The
 * first key encrypts, all keys decrypt. Rejects with `Stopped`; its messages contain no key. Warns if
 * other users may read the file.
 */
export async function cipherFromFile(path: string, warn: (message: string) => void = () => undefined): Promise<Cipher> {
  const [text, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)]).catch(() => {
    throw new Stopped('--encryption-key-file: the file cannot be read');
  });
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    const rights = (mode & 0o777).toString(8).padStart(4, '0');
    warn(`--encryption-key-file: other users may read or change the file (mode ${rights}); it should have mode 0600`);
  }
  const keys = keysIn(text);
  try {
    return aesCipher({ keys, current: keys[0]?.id ?? '' });
  } catch {
    // The cipher's message contains the ID, which is the key itself if the line has no ID.
    throw new Stopped(
      '--encryption-key-file: each line must be ID KEY, the key as 32 bytes in base64 or hexadecimal digits',
    );
  }
}

/** A cipher with a random key that is lost when the process ends. */
export function passingCipher(): Cipher {
  return aesCipher({ keys: [{ id: 'passing', key: randomBytes(32) }], current: 'passing' });
}

/**
 * `signalbox new-key FILE`: prepends a new random key to the file and prints its ID. The file is replaced
 * atomically, readable by its owner only.
 */
export async function newKeyCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const [path, ...more] = args;
  if (path === undefined || more.length > 0) throw new Stopped(`expected one FILE\n\n${keyUsage}`, 2);
  const before = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isAbsent(error)) return '';
    throw new Stopped(`the key file cannot be read: ${reasonOf(error)}`);
  });
  if (before.trim() !== '') await cipherFromFile(path);
  const id = `k${keysIn(before).length + 1}-${randomBytes(3).toString('hex')}`;
  const text = `${id} ${randomBytes(32).toString('base64')}\n${before}`;
  await replaceFile(path, text).catch((error: unknown) => {
    throw new Stopped(`the key file cannot be written: ${reasonOf(error)}`);
  });
  terminal.out(`${id}\n`);
  return 0;
}

/** The keys in such a file, as it has them. */
export async function keysOfFile(path: string): Promise<readonly string[]> {
  return keysIn(await readFile(path, 'utf8')).map(({ key }) => String(key));
}

function keysIn(text: string): readonly AesKey[] {
  return text.split('\n').flatMap((line): AesKey[] => {
    const [id = '', key = ''] = line.trim().split(/\s+/);
    return id === '' ? [] : [{ id, key }];
  });
}

/** Synced before it replaces the old file: without its key, encrypted data is lost. */
async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${randomBytes(4).toString('hex')}.new`;
  const file = await open(next, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
