import { day, type Milliseconds, second } from '../../shared/duration.js';
import { globMatches } from '../../shared/values.js';
import type { StoredSecret } from '../configurations/destination.js';
import type { FieldFault } from '../errors.js';
import { filterProblem } from '../events/event.js';
import { alertTypes, servicePrefix } from '../events/event-type.js';
import { triggerSpellings } from '../events/trigger.js';

/** How requests authenticate at a destination. */
export type Authentication =
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'bearer'; readonly token: string };

/** A client certificate for https: destinations, with its private key, both in PEM. */
export interface OptionsCertificate {
  /** PEM, with its chain if it has one. */
  readonly certificate: string;
  /** PEM, not encrypted. */
  readonly key: string;
}

/** The secret options, which cannot be read back. */
export interface SecretOptions {
  /** Sent with every request, verifications included; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null for none. */
  readonly authentication: Authentication | null;
  /** Null for none. */
  readonly clientCertificate: OptionsCertificate | null;
}

/** The options that are not secret. */
export interface OpenOptions {
  /** Attempts per second; null uses the setting for the kind of destination, 0 means unlimited. */
  readonly rate: number | null;
  /** Timeout of a whole attempt, from the connection to the end of the response; null uses the setting. */
  readonly timeout: Milliseconds | null;
  /** Concurrent attempts; null adapts to the destination's capacity. */
  readonly concurrency: number | null;
  /** Further event types and triggers of the configuration: names, or globs such as `order.*`. */
  readonly eventTypes: readonly string[];
  /** A filter expression (see `eventRecord`) that events must match; null accepts all. */
  readonly filter: string | null;
  /** How long a replaced token is still used for signatures; null uses the setting. */
  readonly rotationGrace: Milliseconds | null;
}

/** A configuration's delivery options beyond the notification interface. */
export type DeliveryOptions = OpenOptions & SecretOptions;

/** The stored options; absent when all have their defaults. */
export interface StoredDeliveryOptions extends OpenOptions {
  /** A `SecretOptions` as JSON; null when it is empty. */
  readonly secrets: StoredSecret | null;
}

export const noSecretOptions: SecretOptions = { headers: {}, authentication: null, clientCertificate: null };

export const noDeliveryOptions: DeliveryOptions = {
  rate: null,
  timeout: null,
  concurrency: null,
  eventTypes: [],
  filter: null,
  rotationGrace: null,
  ...noSecretOptions,
};

/** Absent members keep their value, null restores the default. */
export type DeliveryOptionsInput = {
  readonly [K in keyof DeliveryOptions]?: DeliveryOptions[K] | null | undefined;
};

/** Position of the options in a request document. */
const optionsPointer = '/data/attributes/delivery';

const optionLimits = {
  headers: 32,
  headerValue: 4096,
  pem: 65_536,
  credential: 4096,
  rate: 10_000,
  concurrency: 256,
  shortestTimeout: 100,
  longestTimeout: 120 * second,
  eventTypes: 100,
  eventType: 128,
  rotationGrace: 30 * day,
} as const;

export function sameOptions(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The secret options, which are sent with every request. */
export function secretsOf({ headers, authentication, clientCertificate }: DeliveryOptions): SecretOptions {
  return { headers, authentication, clientCertificate };
}

type Refuse = (member: string, message: string) => void;

/**
 * The requested options merged into the existing ones. Unknown members are refused, because a misspelled one would be ignored.
 */
export function readDeliveryOptions(
  input: unknown,
  current: DeliveryOptions,
): { readonly options: DeliveryOptions; readonly faults: readonly FieldFault[] } {
  const faults: FieldFault[] = [];
  const refuse: Refuse = (member, message) => {
    const pointer = member === '' ? optionsPointer : `${optionsPointer}/${member}`;
    faults.push({ pointer, message: `${member === '' ? 'Delivery' : member} ${message}` });
  };
  if (input === undefined) return { options: current, faults };
  if (input === null) return { options: noDeliveryOptions, faults };
  if (typeof input !== 'object' || Array.isArray(input)) {
    refuse('', 'must be an object');
    return { options: current, faults };
  }
  const next: Record<string, unknown> = { ...current };
  for (const [member, value] of Object.entries(input)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(readers, member)) {
      refuse(member, `is unknown; the members are ${Object.keys(readers).join(', ')}`);
      continue;
    }
    const name = member as keyof DeliveryOptions;
    next[name] = value === null ? noDeliveryOptions[name] : (readers[name](value, refuse) ?? current[name]);
  }
  return { options: next as unknown as DeliveryOptions, faults };
}

/** The reader of each member; an invalid member gives a fault and undefined. */
const readers: {
  readonly [K in keyof DeliveryOptions]: (value: unknown, refuse: Refuse) => DeliveryOptions[K] | undefined;
} = {
  rate: numberWithin('rate', 0, optionLimits.rate),
  timeout: wholeWithin('timeout', optionLimits.shortestTimeout, optionLimits.longestTimeout),
  concurrency: wholeWithin('concurrency', 1, optionLimits.concurrency),
  rotationGrace: wholeWithin('rotationGrace', 0, optionLimits.rotationGrace),
  eventTypes: (value, refuse) => {
    const texts = isTexts(value) ? [...new Set(value)] : null;
    if (texts === null || texts.some((text) => text.length > optionLimits.eventType || !eventTypePattern.test(text))) {
      refuse('eventTypes', 'must be a list of event types or globs such as order.created or order.*');
    } else if (texts.length > optionLimits.eventTypes) {
      refuse('eventTypes', `must have at most ${optionLimits.eventTypes} elements`);
    } else {
      const idle = texts.find(matchesNothing);
      if (idle === undefined) return texts;
      refuse('eventTypes', `has ${idle}, which matches no event; ${whatThereIs(idle)}`);
    }
    return undefined;
  },
  filter: (value, refuse) => {
    if (value === '') return null;
    const problem = typeof value === 'string' ? filterProblem(value) : 'must be a string';
    if (problem === null) return value as string;
    refuse('filter', problem);
    return undefined;
  },
  headers: readHeaders,
  authentication: readAuthentication,
  clientCertificate: (value, refuse) => {
    const { certificate, key } = membersOf(value);
    if (isPem(certificate, 'CERTIFICATE') && isPem(key, 'PRIVATE KEY')) return { certificate, key };
    refuse('clientCertificate', 'must have certificate and key, both in PEM');
    return undefined;
  },
};

/** Letters, digits and separators; a star matches any characters. Unambiguous, so that matching takes linear time. */
const eventTypePattern = /^[A-Za-z0-9_*]+(?:[.:-][A-Za-z0-9_*]+)*$/;

/** Whether no event can ever match. Application types may be registered later; triggers (with a colon) and Signalbox's own types are fixed. */
function matchesNothing(pattern: string): boolean {
  if (pattern.includes(':')) return !triggerSpellings.some((name) => globMatches(pattern, name));
  return pattern.startsWith(servicePrefix) && !alertTypes.some((name) => globMatches(pattern, name));
}

function whatThereIs(pattern: string): string {
  return pattern.includes(':')
    ? `the triggers are ${triggerSpellings.join(', ')}`
    : `Signalbox itself reports ${alertTypes.join(', ')}`;
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/;
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
/** Headers set by the transport, the signature or the authentication. */
const reservedHeader =
  /^(?:host|content-length|content-type|content-encoding|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|authorization|webhook-.*|x-(?:svc|tfe)-notification-.*)$/;

function readHeaders(value: unknown, refuse: Refuse): SecretOptions['headers'] | undefined {
  const entries = Object.entries(membersOf(value)).map(([name, text]) => [name.toLowerCase(), text] as const);
  if (entries.length > optionLimits.headers) refuse('headers', `must have at most ${optionLimits.headers} members`);
  else if (typeof value !== 'object' || Array.isArray(value))
    refuse('headers', 'must be an object of names and values');
  else {
    const wrong = entries.find(([name, text]) => !isHeader(name, text));
    const reserved = entries.find(([name]) => reservedHeader.test(name));
    const twice = entries.find(([name], at) => entries.findIndex(([other]) => other === name) !== at);
    if (wrong !== undefined) refuse('headers', `cannot have ${wrong[0].slice(0, 64)} with this value`);
    else if (reserved !== undefined) refuse('headers', `cannot set ${reserved[0].slice(0, 64)}`);
    else if (twice !== undefined) refuse('headers', `cannot have ${twice[0].slice(0, 64)} twice`);
    else return Object.fromEntries(entries) as Record<string, string>;
  }
  return undefined;
}

function isHeader(name: string, text: unknown): boolean {
  return (
    headerName.test(name) &&
    typeof text === 'string' &&
    text.length <= optionLimits.headerValue &&
    (text === '' || headerValue.test(text))
  );
}

function readAuthentication(value: unknown, refuse: Refuse): Authentication | undefined {
  const { type, username, password, token } = membersOf(value);
  if (type === 'bearer' && isCredential(token) && headerValue.test(token)) return { type, token };
  if (type === 'basic' && isCredential(username) && isCredential(password) && !username.includes(':')) {
    return { type, username, password };
  }
  refuse('authentication', 'must be {"type": "basic", "username": …, "password": …} or {"type": "bearer", "token": …}');
  return undefined;
}

function isCredential(value: unknown): value is string {
  return typeof value === 'string' && value.length <= optionLimits.credential && !/[\u0000-\u001f\u007f]/.test(value);
}

function isPem(value: unknown, label: string): value is string {
  return (
    typeof value === 'string' &&
    value.length <= optionLimits.pem &&
    value.includes('-----BEGIN ') &&
    value.includes(`${label}-----`)
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function numberWithin(name: string, least: number, most: number) {
  return (value: unknown, refuse: Refuse): number | undefined => {
    if (typeof value === 'number' && value >= least && value <= most) return value;
    refuse(name, `must be a number from ${least} to ${most}`);
    return undefined;
  };
}

function wholeWithin(name: string, least: number, most: number) {
  return (value: unknown, refuse: Refuse): number | undefined => {
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) return value as number;
    refuse(name, `must be a whole number from ${least} to ${most}`);
    return undefined;
  };
}

/** What the options add to every request. */
export function extraHeaders({ headers, authentication }: SecretOptions): Readonly<Record<string, string>> {
  return authentication === null ? headers : { ...headers, authorization: authorizationOf(authentication) };
}

/** The Authorization header of an authentication. */
export function authorizationOf(authentication: Authentication): string {
  if (authentication.type === 'bearer') return `Bearer ${authentication.token}`;
  const { username, password } = authentication;
  return `Basic ${base64(`${username}:${password}`)}`;
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
