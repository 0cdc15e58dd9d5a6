import type { ConfigurationInput } from '../../../src/notifications/configurations/configuration-input.js';
import type { DeliveryOptionsInput } from '../../../src/notifications/delivery/delivery-options.js';
import type { ConfigurationView } from './answers.js';
import { headersOf, triggerNamed, wordsOf } from './requests.js';

/** What the form of a configuration has, as people write it. Secrets are empty until they are replaced. */
export interface FormValues {
  readonly kind: ConfigurationView['kind'];
  readonly name: string;
  readonly enabled: boolean;
  readonly url: string;
  readonly token: string;
  readonly removesToken: boolean;
  readonly triggers: readonly string[];
  readonly users: readonly string[];
  /** Names and globs, separated by blanks. */
  readonly eventTypes: string;
  readonly filter: string;
  /** Attempts a second. */
  readonly rate: string;
  /** Seconds. */
  readonly timeout: string;
  readonly concurrency: string;
  /** Hours. */
  readonly rotationGrace: string;
  /** `name: value`, one a line. */
  readonly headers: string;
  readonly removesHeaders: boolean;
  readonly authentication: 'keep' | 'none' | 'basic' | 'bearer';
  readonly username: string;
  readonly password: string;
  readonly bearer: string;
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  readonly removesCertificate: boolean;
}

/** The values of a configuration; those of a new one when absent. */
export function valuesOf(configuration: ConfigurationView | undefined): FormValues {
  const delivery = configuration?.delivery ?? null;
  const number = (value: number | null | undefined, unit = 1): string => (value == null ? '' : String(value / unit));
  return {
    kind: configuration?.kind ?? 'generic',
    name: configuration?.name ?? '',
    enabled: configuration?.enabled ?? true,
    url: configuration?.url ?? '',
    token: '',
    removesToken: false,
    triggers: configuration?.triggers ?? ['run:needs_attention', 'run:errored'],
    users: configuration?.users ?? [],
    eventTypes: delivery?.eventTypes.join(' ') ?? '',
    filter: delivery?.filter ?? '',
    rate: number(delivery?.rate),
    timeout: number(delivery?.timeout, 1000),
    concurrency: number(delivery?.concurrency),
    rotationGrace: number(delivery?.rotationGrace, 3_600_000),
    headers: '',
    removesHeaders: false,
    authentication: delivery?.authentication == null ? 'none' : 'keep',
    username: '',
    password: '',
    bearer: '',
    certificate: '',
    key: '',
    removesCertificate: false,
  };
}

interface FormInput {
  readonly input: ConfigurationInput;
  /** What the page sees to be wrong before the server does, by field. */
  readonly problems: Readonly<Record<string, string>>;
}

/** What is sent: everything for a new configuration, otherwise what differs from `before`. */
export function inputOf(values: FormValues, before: FormValues | undefined): FormInput {
  const problems: Record<string, string> = {};
  const isNew = before === undefined;
  const differs = (...names: readonly (keyof FormValues)[]): boolean =>
    isNew || names.some((name) => JSON.stringify(values[name]) !== JSON.stringify(before[name]));
  const delivery = deliveryOf(values, before, problems);
  const isMail = values.kind === 'email';
  const input: ConfigurationInput = {
    ...(isNew ? { destinationType: values.kind } : {}),
    ...(differs('name') ? { name: values.name } : {}),
    ...(differs('enabled') ? { enabled: values.enabled } : {}),
    ...(!isMail && differs('url') ? { url: values.url.trim() } : {}),
    ...(isMail && differs('users') ? { users: values.users } : {}),
    ...(values.removesToken ? { token: null } : values.token === '' ? {} : { token: values.token }),
    ...(differs('triggers') ? { triggers: values.triggers.flatMap((name) => triggerNamed(name) ?? []) } : {}),
    ...(Object.keys(delivery).length === 0 ? {} : { delivery }),
  };
  return { input, problems };
}

function deliveryOf(
  values: FormValues,
  before: FormValues | undefined,
  problems: Record<string, string>,
): DeliveryOptionsInput {
  const was = before ?? valuesOf(undefined);
  const differs = (name: keyof FormValues): boolean => values[name] !== was[name];
  const number = (name: 'rate' | 'timeout' | 'concurrency' | 'rotationGrace', unit = 1): DeliveryOptionsInput => {
    if (!differs(name)) return {};
    const text = values[name].trim();
    if (text === '') return { [name]: null };
    const value = Number(text);
    if (!Number.isFinite(value)) problems[name] = `${JSON.stringify(text)} is not a number`;
    return { [name]: unit === 1 ? value : Math.round(value * unit) };
  };
  const { headers, wrong } = headersOf(values.headers);
  if (wrong.length > 0) problems['headers'] = `Not of the form "name: value": ${wrong.join(', ')}`;
  const { certificate, key } = values;
  if ((certificate.trim() === '') !== (key.trim() === ''))
    problems['clientCertificate'] = 'Give both the certificate and its key';
  return {
    ...number('rate'),
    ...number('timeout', 1000),
    ...number('concurrency'),
    ...number('rotationGrace', 3_600_000),
    ...(differs('eventTypes') ? { eventTypes: wordsOf(values.eventTypes) } : {}),
    ...(differs('filter') ? { filter: values.filter.trim() || null } : {}),
    ...(values.removesHeaders ? { headers: null } : values.headers.trim() === '' ? {} : { headers }),
    ...authenticationOf(values, was),
    ...(values.removesCertificate
      ? { clientCertificate: null }
      : certificate.trim() === ''
        ? {}
        : { clientCertificate: { certificate, key } }),
  };
}

function authenticationOf(
  { authentication, username, password, bearer }: FormValues,
  was: FormValues,
): Pick<DeliveryOptionsInput, 'authentication'> {
  switch (authentication) {
    case 'keep':
      return {};
    case 'none':
      return was.authentication === 'none' ? {} : { authentication: null };
    case 'basic':
      return { authentication: { type: 'basic', username, password } };
    case 'bearer':
      return { authentication: { type: 'bearer', token: bearer } };
  }
}
