import type { NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import type { UncheckedConfigurationInput } from '../../../notifications/configurations/configuration-input.js';
import type { InvalidAttributes, VerificationFailed } from '../../../notifications/errors.js';
import { isRecord } from '../../../shared/values.js';
import type { EngineContext } from '../../context/engine-context.js';
import { decryptOptions, decryptSecret } from '../../records/stored-secrets.js';

/** The treatment of a secret by a change: `unknown` if it is unchanged and cannot be decrypted here. */
type Fate = 'readable' | 'replaced' | 'unknown';

/** The secrets of a configuration that is being changed, as this process sees them. */
export interface SecretFates {
  readonly url: Fate;
  readonly token: Fate;
  /** Headers, authentication and client certificate, which are encrypted together. */
  readonly options: Fate;
}

const secretOptions = ['headers', 'authentication', 'clientCertificate'] as const;

/** Another process may have the key of undecipherable secrets, so only secrets that a change gives in full are replaced. */
export function fatesOf(
  context: EngineContext,
  { url, token, options }: NotificationConfiguration,
  attributes: UncheckedConfigurationInput,
): SecretFates {
  const fate = (isReadable: boolean, isStated: boolean): Fate =>
    isReadable ? 'readable' : isStated ? 'replaced' : 'unknown';
  return {
    url: fate(decryptSecret(context, url).isOk(), attributes.url !== undefined),
    token: fate(decryptSecret(context, token).isOk(), attributes.token !== undefined),
    options: fate(decryptOptions(context, options).isOk(), statedOptions(attributes) === secretOptions.length),
  };
}

/** How many of the secret options a change gives. */
function statedOptions({ delivery }: UncheckedConfigurationInput): number {
  if (delivery === null) return secretOptions.length;
  const given: unknown = delivery;
  return isRecord(given) ? secretOptions.filter((name) => given[name] !== undefined).length : 0;
}

/** The fault of a change of some secret options that would lose others; null when it loses nothing. */
export function lossOf(fates: SecretFates, attributes: UncheckedConfigurationInput): InvalidAttributes | null {
  if (fates.options !== 'unknown' || statedOptions(attributes) === 0) return null;
  const message =
    'delivery has secrets that cannot be decrypted here, so they can only be changed together: set headers, authentication and ' +
    'client certificate, each null for none, or give this server the key';
  return { type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/delivery', message }] };
}

/** Without its secrets, a verification would differ from real deliveries. */
export function verificationObstacle({ url, token, options }: SecretFates): VerificationFailed | null {
  if (url !== 'unknown' && token !== 'unknown' && options !== 'unknown') return null;
  return {
    type: 'verification_failed',
    message: 'The verification request was not sent: the URL or a secret of the configuration cannot be decrypted',
    cause: 'secret_unreadable',
    response: null,
  };
}
