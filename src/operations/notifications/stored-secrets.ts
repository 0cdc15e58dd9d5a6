import { err, ok, type Result } from 'neverthrow';
import type { StoredSecret } from '../../notifications/secret.js';
import type { CipherError } from '../../ports/cipher.js';
import type { EngineContext } from '../shared/context.js';

/** A secret as it is kept: sealed when the host gave a cipher. */
export function sealSecret(context: EngineContext, plain: string): StoredSecret {
  return context.cipher === undefined ? { plain } : { sealed: context.cipher.seal(plain) };
}

/** The secret in the clear. Fails when it was sealed with a key that the host no longer gives. */
export function openSecret(context: EngineContext, stored: StoredSecret): Result<string, CipherError>;
export function openSecret(context: EngineContext, stored: StoredSecret | null): Result<string | null, CipherError>;
export function openSecret(context: EngineContext, stored: StoredSecret | null): Result<string | null, CipherError> {
  if (stored === null) return ok(null);
  if ('plain' in stored) return ok(stored.plain);
  if (context.cipher !== undefined) return context.cipher.open(stored.sealed);
  return err({ type: 'undecipherable', message: 'the secret is encrypted and no cipher is configured' });
}
