import { err, ok, type Result } from 'neverthrow';
import {
  type DeliveryOptions,
  noDeliveryOptions,
  readDeliveryOptions,
  sameOptions,
  secretsOf,
} from '../delivery/delivery-options.js';
import type { FieldFault, InvalidAttributes } from '../errors.js';
import { triggerFromSpelling } from '../events/trigger.js';
import {
  type ConfigurationContext,
  checkContents,
  checkEmail,
  checkName,
  checkSameKind,
  checkUrl,
  destinationTypeMessage,
  type Refuse,
} from './check-configuration.js';
import {
  pointers,
  type ReadConfigurationInput,
  readConfigurationInput,
  type UncheckedConfigurationInput,
} from './configuration-input.js';
import { type DestinationKind, destinationKindFromSpelling, usesUrl } from './destination.js';

/** A configuration's contents with its secrets in the clear: the caller's input, checked and complete. */
export interface ConfigurationContents {
  readonly kind: DestinationKind;
  readonly destinationType: string;
  readonly enabled: boolean;
  readonly name: string;
  readonly token: string | null;
  readonly triggers: readonly string[];
  readonly url: string | null;
  readonly users: readonly string[];
  readonly options: DeliveryOptions;
}

export interface DecidedConfiguration {
  readonly contents: ConfigurationContents;
  /** Whether the destination must answer a verification request before this is saved. */
  readonly probes: boolean;
}

/**
 * Decides the creation of a configuration: defaults, checks, aliases (notification interface, Resources and Create).
 * Members that a destination type does not use are accepted and left out; a chat's token is kept, though unused.
 */
export function decideCreate(
  input: UncheckedConfigurationInput,
  context: ConfigurationContext,
  earlier: readonly FieldFault[] = [],
): Result<DecidedConfiguration, InvalidAttributes> {
  const { read, options, faults, refuse } = readWith(input, noDeliveryOptions, earlier);
  const kind = read.destinationType === undefined ? undefined : destinationKindFromSpelling(read.destinationType);
  if (kind === undefined) refuse(pointers.destinationType, destinationTypeMessage(read.destinationType));
  checkName(read.name, refuse);
  if (kind !== undefined && usesUrl(kind)) checkUrl(urlOf(read), context, refuse);
  checkContents(read, refuse);
  if (kind === 'email') checkEmail(read, [], context, refuse);
  if (faults.length > 0 || kind === undefined || read.destinationType === undefined || read.name === undefined) {
    return err({ type: 'invalid_attributes', faults });
  }
  const asked = usedBy(kind, created(read, read.name));
  const contents = { kind, destinationType: read.destinationType, options, ...asked };
  return ok({ contents, probes: contents.enabled && usesUrl(kind) });
}

interface UpdateRules {
  readonly verifyOnUpdate: 'relevant' | 'always';
  readonly omittedUsersOnUpdate: 'keep' | 'clear';
}

/**
 * Decides an update. Omitted members keep their value; the destination type cannot change its kind. A probe is
 * needed when the request enables, and when a configuration that stays enabled gets another URL or token (always, by
 * setting).
 */
export function decideUpdate(
  current: ConfigurationContents,
  { attributes, faults: earlier = [] }: ConfigurationUpdate,
  context: ConfigurationContext,
  rules: UpdateRules,
): Result<DecidedConfiguration, InvalidAttributes> {
  const { read, options, faults, refuse } = readWith(attributes, current.options, earlier);
  const { kind } = current;
  if (read.destinationType !== undefined) checkSameKind(read.destinationType, current, refuse);
  if (read.name !== undefined) checkName(read.name, refuse);
  if (usesUrl(kind) && read.url !== undefined) checkUrl(urlOf(read), context, refuse);
  checkContents(read, refuse);
  if (kind === 'email') checkEmail(read, current.users, context, refuse);
  if (faults.length > 0) return err({ type: 'invalid_attributes', faults });
  const contents = { ...current, ...usedBy(kind, updated(current, read, rules)), options };
  return ok({ contents, probes: probesUpdate(current, contents, read.enabled === true, rules) });
}

/** The requested changes, and the faults of their parsing. */
interface ConfigurationUpdate {
  readonly attributes: UncheckedConfigurationInput;
  readonly faults?: readonly FieldFault[] | undefined;
}

/** The members of a configuration that an update can change, except its delivery options. */
type AskedContents = Omit<ConfigurationContents, 'kind' | 'destinationType' | 'options'>;

function created(read: ReadConfigurationInput, name: string): AskedContents {
  return {
    enabled: read.enabled ?? false,
    name,
    token: read.token || null,
    triggers: uniqueTriggers(read.triggers ?? []),
    url: urlOf(read),
    users: [...new Set(read.users ?? [])],
  };
}

function updated(current: ConfigurationContents, read: ReadConfigurationInput, rules: UpdateRules): AskedContents {
  const omittedUsers = rules.omittedUsersOnUpdate === 'keep' ? current.users : [];
  return {
    enabled: read.enabled ?? current.enabled,
    name: read.name ?? current.name,
    token: read.token === undefined ? current.token : read.token || null,
    triggers: read.triggers === undefined ? current.triggers : uniqueTriggers(read.triggers),
    url: read.url === undefined ? current.url : urlOf(read),
    users: read.users === undefined ? omittedUsers : [...new Set(read.users)],
  };
}

/** Only e-mail has recipients; it has no URL, and no token to sign with. */
function usedBy(kind: DestinationKind, asked: AskedContents): AskedContents {
  const url = usesUrl(kind) ? asked.url : null;
  return kind === 'email' ? { ...asked, url, token: null } : { ...asked, url, users: [] };
}

function probesUpdate(
  before: ConfigurationContents,
  after: ConfigurationContents,
  enables: boolean,
  rules: UpdateRules,
): boolean {
  const relevant =
    after.url !== before.url ||
    after.token !== before.token ||
    !sameOptions(secretsOf(after.options), secretsOf(before.options));
  return usesUrl(after.kind) && after.enabled && (enables || relevant || rules.verifyOnUpdate === 'always');
}

/** The valid members of a request, and its faults, at most one per member. */
interface ReadRequest {
  readonly read: ReadConfigurationInput;
  readonly options: DeliveryOptions;
  readonly faults: readonly FieldFault[];
  readonly refuse: Refuse;
}

function readWith(
  input: UncheckedConfigurationInput,
  present: DeliveryOptions,
  earlier: readonly FieldFault[],
): ReadRequest {
  const { read, faults: found } = readConfigurationInput(input);
  const { options, faults: ofOptions } = readDeliveryOptions(input.delivery, present);
  const faults = [...earlier, ...found, ...ofOptions];
  const told = new Set(faults.map((fault) => fault.pointer));
  const refuse = (pointer: string, message: string): void => {
    if (!told.has(pointer)) faults.push({ pointer, message });
  };
  return { read, options, faults, refuse };
}

/** An empty URL counts as no URL. */
function urlOf({ url }: ReadConfigurationInput): string | null {
  return url === undefined || url === '' ? null : url;
}

/** The first form of each trigger, in the order given. */
function uniqueTriggers(spellings: readonly string[]): string[] {
  const seen = new Set<string>();
  return spellings.filter((spelling) => {
    const value = triggerFromSpelling(spelling)?.value ?? spelling;
    if (seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}
