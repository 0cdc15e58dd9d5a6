import { readFile } from 'node:fs/promises';
import type { Cipher } from '../../src/index.js';
import { type AesKey, aesCipher } from '../node/index.js';
import { Stopped } from './stopped.js';

/**
 * The cipher for tokens and URLs at rest, from a file of lines `ID KEY` (32 bytes in base64 or 64 hexadecimal digits). The
 * first key seals, the others still open what was sealed before. Rejects with `Stopped`, and shows no key.
 */
export async function cipherFromFile(path: string): Promise<Cipher> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Stopped('--encryption-key-file: the file cannot be read');
  });
  const keys = text.split('\n').flatMap((line): AesKey[] => {
    const [id = '', key = ''] = line.trim().split(/\s+/);
    return id === '' ? [] : [{ id, key }];
  });
  try {
    return aesCipher({ keys, current: keys[0]?.id ?? '' });
  } catch {
    // The cipher's own message names the id, which is the key itself when the line has no id.
    throw new Stopped(
      '--encryption-key-file: each line takes ID KEY, the key as base64 or hexadecimal digits of 32 bytes',
    );
  }
}
