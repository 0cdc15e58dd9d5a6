import { err, ok, type Result } from 'neverthrow';
import type { StoredSecret } from '../../notifications/configurations/secret.js';
import {
  type DeliveryOptions,
  noDeliveryOptions,
  noSecretOptions,
  type SecretOptions,
  type StoredDeliveryOptions,
  sameOptions,
  secretsOf,
} from '../../notifications/delivery/delivery-options.js';
import type { CipherError } from '../../ports/cipher.js';
import type { EngineContext } from '../context/engine-context.js';

/** The stored form of a secret: encrypted if the host has a cipher. */
export function encryptSecret(context: EngineContext, plain: string): StoredSecret {
  return context.cipher === undefined ? { plain } : { sealed: context.cipher.seal(plain) };
}

/** The stored form of the options; absent when all have their defaults. */
export function encryptOptions(context: EngineContext, options: DeliveryOptions): StoredDeliveryOptions | undefined {
  if (sameOptions(options, noDeliveryOptions)) return undefined;
  const { rate, timeout, concurrency, eventTypes, filter, rotationGrace } = options;
  const secrets = secretsOf(options);
  const sealed = sameOptions(secrets, noSecretOptions) ? null : encryptSecret(context, JSON.stringify(secrets));
  return { rate, timeout, concurrency, eventTypes, filter, rotationGrace, secrets: sealed };
}

/** The options with decrypted secrets. */
export function decryptOptions(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredDeliveryOptions | undefined,
): Result<DeliveryOptions, CipherError> {
  if (stored === undefined) return ok(noDeliveryOptions);
  const { secrets, ...open } = stored;
  return decryptSecret(context, secrets).map((text) => ({
    ...noSecretOptions,
    ...(text === null ? {} : (JSON.parse(text) as SecretOptions)),
    ...open,
  }));
}

/** The decrypted secret. Fails when the host no longer provides its key. */
export function decryptSecret(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredSecret,
): Result<string, CipherError>;
export function decryptSecret(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredSecret | null,
): Result<string | null, CipherError>;
export function decryptSecret(
  context: Pick<EngineContext, 'cipher'>,
  stored: StoredSecret | null,
): Result<string | null, CipherError> {
  if (stored === null) return ok(null);
  if ('plain' in stored) return ok(stored.plain);
  if (context.cipher !== undefined) return context.cipher.open(stored.sealed);
  return err({ type: 'undecipherable', message: 'the secret is encrypted and no cipher is configured' });
}
