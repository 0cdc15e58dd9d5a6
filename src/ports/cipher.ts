import type { Result } from 'neverthrow';

/** The ciphertext is damaged, or its key is unknown. */
export interface CipherError {
  readonly type: 'undecipherable';
  readonly message: string;
}

/** Encrypts secrets at rest. The string returned by `seal` names its key, so that keys can be rotated. */
export interface Cipher {
  /** Encrypts with the current key. Encrypting the same string twice may give different results. */
  seal(plain: string): string;
  /** Decrypts a result of `seal`, made with the current key or an earlier one. */
  open(sealed: string): Result<string, CipherError>;
  /**
   * Whether the encrypted string was made with the current key. `engine.host.resealSecrets()` encrypts all others again; without this
   * member it leaves them unchanged.
   */
  isCurrent?(sealed: string): boolean;
}
