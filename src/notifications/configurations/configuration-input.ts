import type { DeliveryOptionsInput } from '../delivery/delivery-options.js';
import type { FieldFault } from '../errors.js';
import type { TriggerSpelling } from '../events/trigger.js';
import type { DestinationSpelling } from './destination.js';

/** The input of creating or updating a configuration. An absent member means the default on create, the current value on update. */
export interface ConfigurationInput {
  /** One of `destinationKinds`, or another form accepted by `destinationKindFromSpelling`. It cannot be changed. */
  readonly destinationType?: DestinationSpelling | undefined;
  /** Whether it gets notifications. The destination must answer a verification request before it is enabled. */
  readonly enabled?: boolean | undefined;
  /** Display name. */
  readonly name?: string | undefined;
  /** Null or empty clears it. */
  readonly token?: string | null | undefined;
  /** Triggers in any form; null for none. */
  readonly triggers?: readonly TriggerSpelling[] | null | undefined;
  /** The destination; not for e-mail. */
  readonly url?: string | null | undefined;
  /** User IDs, or JSON:API identifiers of type `users`, bare or under `data`. */
  readonly users?: readonly UserReference[] | { readonly data?: readonly UserReference[] | null } | null | undefined;
  /** Options beyond the notification interface; null restores the defaults. */
  readonly delivery?: DeliveryOptionsInput | null | undefined;
  /** Recognised only to refuse it with a clear message. */
  readonly emailAddresses?: readonly string[] | null | undefined;
}

/** A user of the host, by ID or as the resource identifier of a JSON:API document. */
export type UserReference = string | { readonly type: 'users'; readonly id: string };

/** The same before validation: operations check the types of all members themselves. */
export type UncheckedConfigurationInput = { readonly [K in keyof ConfigurationInput]?: unknown };

/** The input with checked JSON types. */
export interface ReadConfigurationInput {
  readonly destinationType: string | undefined;
  readonly enabled: boolean | undefined;
  readonly name: string | undefined;
  readonly token: string | null | undefined;
  readonly triggers: readonly string[] | undefined;
  readonly url: string | null | undefined;
  readonly users: readonly string[] | undefined;
  readonly emailAddresses: readonly string[] | undefined;
}

/** The pointer of each member in a request document. */
export const pointers = {
  destinationType: '/data/attributes/destination-type',
  enabled: '/data/attributes/enabled',
  name: '/data/attributes/name',
  token: '/data/attributes/token',
  triggers: '/data/attributes/triggers',
  url: '/data/attributes/url',
  users: '/data/relationships/users',
  emailAddresses: '/data/attributes/email-addresses',
} as const;

/** The members with checked types, and the faults; a faulty member is returned as absent. */
export function readConfigurationInput(input: UncheckedConfigurationInput): {
  readonly read: ReadConfigurationInput;
  readonly faults: readonly FieldFault[];
} {
  const faults: FieldFault[] = [];
  const refuse = (pointer: string, message: string): undefined => {
    faults.push({ pointer, message });
    return undefined;
  };
  const text = (name: 'destinationType' | 'name'): string | undefined => {
    const value = input[name];
    if (value === undefined || typeof value === 'string') return value;
    return refuse(pointers[name], `${labels[name]} must be a string`);
  };
  const textOrNull = (name: 'token' | 'url'): string | null | undefined => {
    const value = input[name];
    if (value === undefined || value === null || typeof value === 'string') return value;
    return refuse(pointers[name], `${labels[name]} must be a string or null`);
  };
  const texts = (name: 'triggers' | 'emailAddresses'): readonly string[] | undefined => {
    const value = input[name];
    if (value === undefined) return undefined;
    if (value === null) return [];
    if (!Array.isArray(value)) return refuse(pointers[name], `${labels[name]} must be an array of strings`);
    const wrong = value.findIndex((element) => typeof element !== 'string');
    if (wrong >= 0) return refuse(`${pointers[name]}/${wrong}`, `${labels[name]} must hold strings only`);
    return value as string[];
  };
  const enabled = input.enabled;
  const read = {
    destinationType: text('destinationType'),
    enabled:
      enabled === undefined || typeof enabled === 'boolean'
        ? enabled
        : refuse(pointers.enabled, 'Enabled must be true or false'),
    name: text('name'),
    token: textOrNull('token'),
    triggers: texts('triggers'),
    url: textOrNull('url'),
    users: readUsers(input.users, refuse),
    emailAddresses: texts('emailAddresses'),
  };
  return { read, faults };
}

const labels = {
  destinationType: 'Destination type',
  name: 'Name',
  token: 'Token',
  url: 'Url',
  triggers: 'Triggers',
  emailAddresses: 'Email addresses',
} as const;

function readUsers(
  value: unknown,
  refuse: (pointer: string, message: string) => undefined,
): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const list = isRecord(value) && !Array.isArray(value) ? (value.data ?? []) : (value ?? []);
  if (!Array.isArray(list)) return refuse(pointers.users, 'Users must be an array of users under data');
  const ids = (list as unknown[]).map(userIdOf);
  if (ids.every((id) => typeof id === 'string' && id !== '')) return ids as string[];
  return refuse(pointers.users, 'Each user must be given as {"type": "users", "id": "…"}');
}

/** The ID of a user, given as a string or as a resource identifier. */
function userIdOf(element: unknown): unknown {
  if (typeof element === 'string') return element;
  return isRecord(element) && element.type === 'users' ? element.id : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
