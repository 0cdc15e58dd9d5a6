import { err, ok, type Result } from 'neverthrow';
import type { StoredSecret } from '../../../notifications/configurations/secret.js';
import {
  type DeliveryOptions,
  noDeliveryOptions,
  noSecretOptions,
  type SecretOptions,
  type StoredDeliveryOptions,
  sameOptions,
  secretsOf,
} from '../../../notifications/delivery/delivery-options.js';
import type { CipherError } from '../../../ports/cipher.js';
import type { EngineContext } from '../../context/engine-context.js';

/** A secret in its stored form: encrypted if the host provides a cipher. */
export function sealSecret(context: EngineContext, plain: string): StoredSecret {
  return context.cipher === undefined ? { plain } : { sealed: context.cipher.seal(plain) };
}

/** The options in their stored form; absent if there are none. */
export function sealOptions(context: EngineContext, options: DeliveryOptions): StoredDeliveryOptions | undefined {
  if (sameOptions(options, noDeliveryOptions)) return undefined;
  const { rate, timeout, concurrency, eventTypes, filter, rotationGrace } = options;
  const secrets = secretsOf(options);
  const sealed = sameOptions(secrets, noSecretOptions) ? null : sealSecret(context, JSON.stringify(secrets));
  return { rate, timeout, concurrency, eventTypes, filter, rotationGrace, secrets: sealed };
}

/** The options with decrypted secrets. */
export function openOptions(
  context: EngineContext,
  stored: StoredDeliveryOptions | undefined,
): Result<DeliveryOptions, CipherError> {
  if (stored === undefined) return ok(noDeliveryOptions);
  const { secrets, ...open } = stored;
  return openSecret(context, secrets).map((text) => ({
    ...noSecretOptions,
    ...(text === null ? {} : (JSON.parse(text) as SecretOptions)),
    ...open,
  }));
}

/** The decrypted secret. Fails if its key is missing. */
export function openSecret(context: EngineContext, stored: StoredSecret): Result<string, CipherError>;
export function openSecret(context: EngineContext, stored: StoredSecret | null): Result<string | null, CipherError>;
export function openSecret(context: EngineContext, stored: StoredSecret | null): Result<string | null, CipherError> {
  if (stored === null) return ok(null);
  if ('plain' in stored) return ok(stored.plain);
  if (context.cipher !== undefined) return context.cipher.open(stored.sealed);
  return err({ type: 'undecipherable', message: 'the secret is encrypted and no cipher is configured' });
}
