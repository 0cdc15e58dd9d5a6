import type { NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import type { UncheckedConfigurationInput } from '../../../notifications/configurations/configuration-input.js';
import type { InvalidAttributes, VerificationFailed } from '../../../notifications/errors.js';
import { openOptions, openSecret } from '../../books/stored-secrets.js';
import type { EngineContext } from '../../context/engine-context.js';

/** What becomes of a secret in a change: `unknown` if it stays as it is and cannot be decrypted here. */
type Fate = 'readable' | 'replaced' | 'unknown';

/** Secrets of a configuration as this process sees them, when it is changed. */
export interface SecretFates {
  readonly url: Fate;
  readonly token: Fate;
  /** Headers, authentication and client certificate, which are sealed together. */
  readonly options: Fate;
}

const secretOptions = ['headers', 'authentication', 'clientCertificate'] as const;

/** Another process may have the key of what cannot be decrypted here, so only what a change states in full is replaced. */
export function fatesOf(
  context: EngineContext,
  { url, token, options }: NotificationConfiguration,
  attributes: UncheckedConfigurationInput,
): SecretFates {
  const fate = (isReadable: boolean, isStated: boolean): Fate =>
    isReadable ? 'readable' : isStated ? 'replaced' : 'unknown';
  return {
    url: fate(openSecret(context, url).isOk(), attributes.url !== undefined),
    token: fate(openSecret(context, token).isOk(), attributes.token !== undefined),
    options: fate(openOptions(context, options).isOk(), statedOptions(attributes) === secretOptions.length),
  };
}

/** How many of the secret options a change states. */
function statedOptions({ delivery }: UncheckedConfigurationInput): number {
  if (delivery === null) return secretOptions.length;
  if (typeof delivery !== 'object') return 0;
  const given = delivery as Readonly<Record<string, unknown>>;
  return secretOptions.filter((name) => given[name] !== undefined).length;
}

/** What a change of some of the secret options would lose of the others; null when it loses nothing. */
export function lossOf(fates: SecretFates, attributes: UncheckedConfigurationInput): InvalidAttributes | null {
  if (fates.options !== 'unknown' || statedOptions(attributes) === 0) return null;
  const message =
    'delivery has secrets that cannot be decrypted here, and a part of them cannot be changed: state headers, authentication and ' +
    'client certificate together, with null for none, or give this server the key';
  return { type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/delivery', message }] };
}

/** Without its secrets a destination would be asked in another way than deliveries are sent. */
export function verificationObstacle({ url, token, options }: SecretFates): VerificationFailed | null {
  if (url !== 'unknown' && token !== 'unknown' && options !== 'unknown') return null;
  return {
    type: 'verification_failed',
    message: 'The verification request was not sent: the URL or a secret of the configuration cannot be decrypted',
    cause: 'secret_unreadable',
    response: null,
  };
}
