/*
 * Encrypts strings with a secret: AES-256-GCM with the SHA-256 of a label and the secret as key. The secret is random
 * and used for one string, so the key needs no stretching; the label makes it differ from the digest by which the secret is looked up.
 */

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

export function sealBySecret(plain: string, secret: string): string {
  const crypto = process.getBuiltinModule('node:crypto');
  const nonce = crypto.randomBytes(nonceLength);
  const cipher = crypto.createCipheriv(algorithm, keyOf(secret), nonce);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Undefined for another secret or a modified ciphertext. */
export function openBySecret(text: string, secret: string): string | undefined {
  const crypto = process.getBuiltinModule('node:crypto');
  const bytes = Buffer.from(text, 'base64');
  try {
    const decipher = crypto.createDecipheriv(algorithm, keyOf(secret), bytes.subarray(0, nonceLength));
    decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength));
    const plain = [decipher.update(bytes.subarray(nonceLength + tagLength)), decipher.final()];
    return Buffer.concat(plain).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyOf(secret: string): Buffer {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(`one-time token\n${secret}`).digest();
}
