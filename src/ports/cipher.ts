import type { Result } from 'neverthrow';

export interface CipherError {
  readonly type: 'undecipherable';
  readonly message: string;
}

/** Encrypts secrets at rest. The text that `seal` gives names its key, so that keys can be rotated. */
export interface Cipher {
  seal(plain: string): string;
  open(sealed: string): Result<string, CipherError>;
}
