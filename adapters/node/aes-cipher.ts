import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import { checkOptions, type OptionKind } from '../../src/options/check-options.js';
import { group, listOf, text } from '../../src/options/option-kinds.js';
import type { Cipher, CipherError } from '../../src/ports/cipher.js';

/** A key, and its ID in encrypted strings. */
export interface AesKey {
  /** 1 to 64 letters, digits, `-` and `_`. Every encrypted string contains it unencrypted. */
  readonly id: string;
  /** 32 bytes, raw or as a string in base64 or of 64 hexadecimal digits. */
  readonly key: Uint8Array | string;
}

/** The keys of a cipher. */
export interface AesCipherSettings {
  /** All keys of stored strings. Remove a key when no string is encrypted with it any more. */
  readonly keys: readonly AesKey[];
  /** The ID of the key that encrypts new strings. */
  readonly current: string;
}

const keyKind: OptionKind = {
  takes: '32 bytes, raw or as a string in base64 or hexadecimal digits',
  fits: (value) => typeof value === 'string' || value instanceof Uint8Array,
};

const version = 'v1';
const ivBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM with a random nonce. The encrypted string is `v1.<key id>.<base64url of nonce, ciphertext and tag>`; version and key
 * ID are authenticated, too. To rotate keys, add one, make it the current key, and keep the old one until `engine.host.resealSecrets()` has
 * encrypted everything with the new one. Throws a TypeError for invalid keys, without disclosing them.
 */
export function aesCipher(settings: AesCipherSettings): Cipher {
  checkOptions<AesCipherSettings>('aesCipher', settings, {
    keys: listOf(group<AesKey>({ id: text, key: keyKind })),
    current: text,
  });
  const keys = new Map<string, Buffer>();
  for (const { id, key } of settings.keys) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) throw new TypeError('a key id must be 1 to 64 letters, digits, "-" and "_"');
    if (keys.has(id)) throw new TypeError(`two keys have the id "${id}"`);
    keys.set(id, keyBytes(id, key));
  }
  const currentKey = keys.get(settings.current);
  if (currentKey === undefined) throw new TypeError(`the current key "${settings.current}" is not among the keys`);
  const currentHeader = `${version}.${settings.current}`;

  const seal = (plain: string): string => {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', currentKey, iv);
    cipher.setAAD(Buffer.from(currentHeader));
    const sealed = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${currentHeader}.${sealed.toString('base64url')}`;
  };

  const open = (text: string): Result<string, CipherError> => {
    const [textVersion, id, payload, ...rest] = text.split('.');
    if (textVersion !== version || id === undefined || payload === undefined || rest.length > 0) {
      return undecipherable('the string was not sealed by this cipher');
    }
    const key = keys.get(id);
    if (key === undefined) {
      const name = id.length <= 64 ? `"${id}"` : 'with a name that is too long';
      return undecipherable(`the string was sealed with the key ${name}, which is not among the keys`);
    }
    const sealed = Buffer.from(payload, 'base64url');
    if (sealed.length < ivBytes + tagBytes) return undecipherable('the sealed string is truncated');
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(`${version}.${id}`));
    decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
    try {
      const plain = decipher.update(sealed.subarray(ivBytes, sealed.length - tagBytes));
      return ok(Buffer.concat([plain, decipher.final()]).toString('utf8'));
    } catch {
      return undecipherable(`the sealed string is damaged, or the key "${id}" is not the one it was sealed with`);
    }
  };
  return { seal, open, isCurrent: (text) => text.startsWith(`${currentHeader}.`) };
}

function keyBytes(id: string, key: Uint8Array | string): Buffer {
  const bytes =
    typeof key !== 'string'
      ? Buffer.from(key)
      : /^[0-9a-fA-F]{64}$/.test(key)
        ? Buffer.from(key, 'hex')
        : Buffer.from(key, 'base64');
  if (bytes.length !== 32) throw new TypeError(`the key "${id}" has ${bytes.length} bytes, but AES-256 needs 32`);
  return bytes;
}

function undecipherable(message: string): Result<string, CipherError> {
  return err({ type: 'undecipherable', message });
}
