import type { NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import type { UncheckedConfigurationInput } from '../../../notifications/configurations/configuration-input.js';
import type { InvalidAttributes, VerificationFailed } from '../../../notifications/errors.js';
import type { EngineContext } from '../../context/engine-context.js';
import { openOptions, openSecret } from './stored-secrets.js';

/** The state of a secret in a change: `unknown` if it is unchanged and cannot be decrypted here. */
type Fate = 'readable' | 'replaced' | 'unknown';

/** The states of a configuration's secrets in a change. */
export interface SecretFates {
  readonly url: Fate;
  readonly token: Fate;
  /** Headers, authentication and client certificate, which are encrypted together. */
  readonly options: Fate;
}

const secretOptions = ['headers', 'authentication', 'clientCertificate'] as const;

/** Another process may have the missing key, so an undecryptable secret is replaced only if the change states it in full. */
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

/** The number of secret options that a change states. */
function statedOptions({ delivery }: UncheckedConfigurationInput): number {
  if (delivery === null) return secretOptions.length;
  if (typeof delivery !== 'object') return 0;
  const given = delivery as Readonly<Record<string, unknown>>;
  return secretOptions.filter((name) => given[name] !== undefined).length;
}

/** The error for a change of some secret options that would lose the others, or null. */
export function lossOf(fates: SecretFates, attributes: UncheckedConfigurationInput): InvalidAttributes | null {
  if (fates.options !== 'unknown' || statedOptions(attributes) === 0) return null;
  const message =
    'delivery has secrets that this server cannot decrypt, so they can only be changed together: set headers, authentication and ' +
    'client certificate, with null for none, or start the server with the key';
  return { type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/delivery', message }] };
}

/** Without its secrets, a verification request would differ from deliveries. */
export function verificationObstacle({ url, token, options }: SecretFates): VerificationFailed | null {
  if (url !== 'unknown' && token !== 'unknown' && options !== 'unknown') return null;
  return {
    type: 'verification_failed',
    message: 'The verification request was not sent: the URL or a secret of the configuration cannot be decrypted',
    cause: 'secret_unreadable',
    response: null,
  };
}
