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

/** A secret as it is kept: sealed when the host gave a cipher. */
export function sealSecret(context: EngineContext, plain: string): StoredSecret {
  return context.cipher === undefined ? { plain } : { sealed: context.cipher.seal(plain) };
}

/** The options as they are kept; absent when nothing was asked for. */
export function sealOptions(context: EngineContext, options: DeliveryOptions): StoredDeliveryOptions | undefined {
  if (sameOptions(options, noDeliveryOptions)) return undefined;
  const { rate, timeout, concurrency, eventTypes, filter, rotationGrace } = options;
  const secrets = secretsOf(options);
  const sealed = sameOptions(secrets, noSecretOptions) ? null : sealSecret(context, JSON.stringify(secrets));
  return { rate, timeout, concurrency, eventTypes, filter, rotationGrace, secrets: sealed };
}

/** The options with their secrets in the clear. */
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

/** The secret in the clear. Fails when it was sealed with a key that the host no longer gives. */
export function openSecret(context: EngineContext, stored: StoredSecret): Result<string, CipherError>;
export function openSecret(context: EngineContext, stored: StoredSecret | null): Result<string | null, CipherError>;
export function openSecret(context: EngineContext, stored: StoredSecret | null): Result<string | null, CipherError> {
  if (stored === null) return ok(null);
  if ('plain' in stored) return ok(stored.plain);
  if (context.cipher !== undefined) return context.cipher.open(stored.sealed);
  return err({ type: 'undecipherable', message: 'the secret is encrypted and no cipher is configured' });
}
