import { err, ok, type Result } from 'neverthrow';
import {
  type DeliveryOptions,
  noDeliveryOptions,
  readDeliveryOptions,
  sameOptions,
  secretsOf,
} from '../delivery/delivery-options.js';
import type { FieldFault, InvalidAttributes } from '../errors.js';
import { triggerDefinitions, triggerFromSpelling } from '../events/trigger.js';
import { tokenProblem } from '../signature.js';
import type { User } from '../workspace.js';
import {
  pointers,
  type ReadConfigurationInput,
  readConfigurationInput,
  type UncheckedConfigurationInput,
} from './configuration-input.js';
import { type DestinationKind, destinationKindFromSpelling, usesUrl } from './destination.js';

/* The checks of a configuration's members, each with its messages. */

/** The context of the checks. */
interface ConfigurationContext {
  /** The organization of the workspace. */
  readonly organization: string;
  readonly findUser: (id: string) => User | undefined;
  /** Checks the URL against the outbound rules. */
  readonly checkUrl: (
    url: string,
  ) => { readonly allowed: true } | { readonly allowed: false; readonly message: string };
  /** Why e-mail cannot be sent; null when it can. */
  readonly mailObstacle: string | null;
}

/** Records a fault of the member at a JSON pointer. */
type Refuse = (pointer: string, message: string) => void;

/** Limits of stored values, in characters and entries; a request beyond them is refused. */
const configurationLimits = { name: 255, url: 4096, token: 4096, triggers: 200, users: 1000 } as const;

function checkSameKind(
  given: string,
  { kind, destinationType }: { readonly kind: DestinationKind; readonly destinationType: string },
  refuse: Refuse,
): void {
  const asked = destinationKindFromSpelling(given);
  if (asked === undefined) refuse(pointers.destinationType, destinationTypeMessage(given));
  else if (asked !== kind) {
    const advice = 'delete the configuration and create another';
    refuse(pointers.destinationType, `Destination type cannot be changed from ${destinationType}; ${advice}`);
  }
}

function checkContents({ token, triggers }: ReadConfigurationInput, refuse: Refuse): void {
  checkToken(token, refuse);
  checkTriggers(triggers ?? [], refuse);
}

function checkEmail(
  read: ReadConfigurationInput,
  present: readonly string[],
  context: ConfigurationContext,
  refuse: Refuse,
): void {
  checkRecipients(read, present, context, refuse);
  checkMail(read.enabled, context, refuse);
}

function destinationTypeMessage(given: string | undefined): string {
  const allowed = 'generic, email, chat-a, chat-b (or slack, microsoft-teams)';
  return given === undefined
    ? `Destination type is missing; use one of ${allowed}`
    : `Destination type must be one of ${allowed}`;
}

function checkName(name: string | undefined, refuse: Refuse): void {
  if (name === undefined || name.trim() === '') refuse(pointers.name, "Name can't be blank");
  else if (name.length > configurationLimits.name) {
    refuse(pointers.name, `Name must have at most ${configurationLimits.name} characters`);
  }
}

function checkUrl(url: string | null, context: ConfigurationContext, refuse: Refuse): void {
  const at = pointers.url;
  if (url === null || url.trim() === '') {
    refuse(at, "Url can't be blank");
    return;
  }
  if (url.length > configurationLimits.url) {
    refuse(at, `Url must have at most ${configurationLimits.url} characters`);
    return;
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') || parsed.hostname === '') {
    refuse(at, 'Url must be an http or https address with a host');
    return;
  }
  if (url.includes('#')) {
    refuse(at, 'Url must not have a fragment');
    return;
  }
  const verdict = context.checkUrl(url);
  if (!verdict.allowed) refuse(at, `Url is not allowed: ${verdict.message}`);
}

function checkToken(token: string | null | undefined, refuse: Refuse): void {
  if (token !== undefined && token !== null && token.length > configurationLimits.token) {
    refuse(pointers.token, `Token must have at most ${configurationLimits.token} characters`);
    return;
  }
  const problem = tokenProblem(token ?? '');
  if (problem !== null) {
    refuse(pointers.token, `Token ${problem}`);
  }
}

function checkTriggers(triggers: readonly string[], refuse: Refuse): void {
  if (triggers.length > configurationLimits.triggers) {
    refuse(pointers.triggers, `Triggers must have at most ${configurationLimits.triggers} elements`);
    return;
  }
  triggers.forEach((trigger, index) => {
    if (triggerFromSpelling(trigger) !== undefined) return;
    const known = triggerDefinitions.map((definition) => definition.value).join(', ');
    refuse(`${pointers.triggers}/${index}`, `Trigger is unknown; the triggers are ${known}`);
  });
}

/** Existing recipients remain acceptable: a user who left the organization must not block a rename. */
function checkRecipients(
  read: ReadConfigurationInput,
  present: readonly string[],
  context: ConfigurationContext,
  refuse: Refuse,
): void {
  if ((read.emailAddresses ?? []).length > 0) {
    refuse(pointers.emailAddresses, 'Email addresses are not supported here; name users of the organization instead');
  }
  const users = read.users ?? [];
  if (users.length > configurationLimits.users) {
    refuse(pointers.users, `Users must have at most ${configurationLimits.users} elements`);
    return;
  }
  for (const id of users) {
    if (present.includes(id)) continue;
    if (context.findUser(id)?.organization !== context.organization) {
      refuse(pointers.users, `User ${id.slice(0, 64)} is not a member of the organization`);
      return;
    }
  }
}

/** Refuses to enable a configuration whose mail cannot be sent. */
function checkMail(enabled: boolean | undefined, { mailObstacle }: ConfigurationContext, refuse: Refuse): void {
  if (enabled === true && mailObstacle !== null) refuse(pointers.enabled, `E-mail cannot be enabled: ${mailObstacle}`);
}

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

/**
 * The state of a configuration (notification interface, States and transitions). `verifying` lies between a request and its
 * destination's answer; nothing is stored about it.
 */
export type Enablement =
  | { readonly type: 'none' }
  | { readonly type: 'disabled' }
  | { readonly type: 'enabled' }
  | {
      readonly type: 'verifying';
      readonly from: 'none' | 'disabled' | 'enabled';
      /** Whether the response decides about a change, or is only reported. */
      readonly purpose: 'change' | 'verify';
    };

export type EnablementEvent =
  | { readonly type: 'create'; readonly enabled: boolean; readonly probes: boolean }
  | { readonly type: 'update'; readonly enabled: boolean; readonly probes: boolean }
  | { readonly type: 'verify' }
  | { readonly type: 'answered'; readonly successful: boolean }
  | { readonly type: 'unanswered' };

/** The operation's next actions, in this order. */
type EnablementEffect = 'send_verification' | 'save_changes' | 'store_response' | 'reject';

interface EnablementStep {
  readonly next: Enablement;
  readonly effects: readonly EnablementEffect[];
}

interface EnablementError {
  readonly type: 'invalid_transition';
  readonly state: Enablement['type'];
  readonly event: EnablementEvent['type'];
}

/** The table of the notification interface. `probes`: whether the change needs a verification; e-mail never does. */
export function transitionEnablement(
  current: Enablement,
  event: EnablementEvent,
): Result<EnablementStep, EnablementError> {
  const impossible = err({ type: 'invalid_transition' as const, state: current.type, event: event.type });
  switch (event.type) {
    case 'create':
      return current.type === 'none' ? ok(change('none', event.enabled, event.probes)) : impossible;
    case 'update':
      return current.type === 'disabled' || current.type === 'enabled'
        ? ok(change(current.type, event.enabled, event.probes))
        : impossible;
    case 'verify':
      return current.type === 'disabled' || current.type === 'enabled'
        ? ok({ next: { type: 'verifying', from: current.type, purpose: 'verify' }, effects: ['send_verification'] })
        : impossible;
    case 'answered':
      return current.type === 'verifying' ? ok(answered(current, event.successful)) : impossible;
    case 'unanswered':
      return current.type === 'verifying' ? ok({ next: { type: current.from }, effects: ['reject'] }) : impossible;
  }
}

function change(from: 'none' | 'disabled' | 'enabled', enabled: boolean, probes: boolean): EnablementStep {
  if (enabled && probes) {
    return { next: { type: 'verifying', from, purpose: 'change' }, effects: ['send_verification'] };
  }
  return { next: { type: enabled ? 'enabled' : 'disabled' }, effects: ['save_changes'] };
}

function answered(current: Enablement & { readonly type: 'verifying' }, successful: boolean): EnablementStep {
  if (current.purpose === 'verify') {
    return { next: { type: current.from }, effects: successful ? ['store_response'] : ['store_response', 'reject'] };
  }
  return successful
    ? { next: { type: 'enabled' }, effects: ['save_changes', 'store_response'] }
    : { next: { type: current.from }, effects: ['reject'] };
}
