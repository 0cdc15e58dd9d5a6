import type { Result } from 'neverthrow';

/** The sealed string is damaged, or its key is not known. */
export interface CipherError {
  readonly type: 'undecipherable';
  readonly message: string;
}

/** Encrypts secrets at rest. The text that `seal` gives names its key, so that keys can be rotated. */
export interface Cipher {
  /** Encrypts with the current key. Two seals of one string need not be equal. */
  seal(plain: string): string;
  /** The string that was sealed, with the current key or an earlier one. */
  open(sealed: string): Result<string, CipherError>;
  /**
   * Whether `seal` would use the same key for a string that it has sealed. `resealStoredSecrets` writes the others anew; without this
   * member it leaves sealed strings as they are.
   */
  isCurrent?(sealed: string): boolean;
}
