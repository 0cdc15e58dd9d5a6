import { err, ok, type Result } from 'neverthrow';
import {
  pointers,
  type ReadConfigurationInput,
  readConfigurationInput,
  type UncheckedConfigurationInput,
} from './configuration-input.js';
import { type DestinationKind, destinationKindFromSpelling, usesUrl } from './destination.js';
import type { FieldFault, InvalidAttributes } from './errors.js';
import { triggerDefinitions, triggerFromSpelling } from './trigger.js';
import type { User } from './user.js';

/** A configuration's contents with its secrets in the clear: what callers state, checked and complete. */
export interface ConfigurationContents {
  readonly kind: DestinationKind;
  readonly destinationType: string;
  readonly enabled: boolean;
  readonly name: string;
  readonly token: string | null;
  readonly triggers: readonly string[];
  readonly url: string | null;
  readonly users: readonly string[];
}

/** What the checks need from outside the request. */
export interface ConfigurationSurroundings {
  /** The organization of the workspace. */
  readonly organization: string;
  readonly findUser: (id: string) => User | undefined;
  /** Whether the outbound rules could ever allow the URL. */
  readonly checkUrl: (
    url: string,
  ) => { readonly allowed: true } | { readonly allowed: false; readonly message: string };
}

export interface DecidedConfiguration {
  readonly contents: ConfigurationContents;
  /** Whether the destination must answer a verification request before this is saved. */
  readonly probes: boolean;
}

/** Bounds of what is stored; beyond them a request is refused. */
export const configurationLimits = { name: 255, url: 4096, token: 4096, triggers: 200, users: 1000 } as const;

/**
 * The pure half of creating a configuration: defaults, checks, aliases (notification interface, Resources and Create).
 * Members that a destination type does not use are accepted and left out; a chat's token is kept, though unused.
 */
export function decideCreate(
  input: UncheckedConfigurationInput,
  surroundings: ConfigurationSurroundings,
  earlier: readonly FieldFault[] = [],
): Result<DecidedConfiguration, InvalidAttributes> {
  const { read, faults: found } = readConfigurationInput(input);
  const faults = [...earlier, ...found];
  const told = new Set(faults.map((fault) => fault.pointer));
  const missing = (pointer: string, message: string): void => {
    if (!told.has(pointer)) faults.push({ pointer, message });
  };

  const kind = read.destinationType === undefined ? undefined : destinationKindFromSpelling(read.destinationType);
  if (kind === undefined) missing(pointers.destinationType, destinationTypeMessage(read.destinationType));
  checkName(read.name, missing);
  const url = read.url === undefined || read.url === '' ? null : read.url;
  if (kind !== undefined && usesUrl(kind)) checkUrl(url, surroundings, missing);
  checkToken(read.token, missing);
  checkTriggers(read.triggers ?? [], missing);
  if (kind === 'email') checkRecipients(read, [], surroundings, missing);
  if (faults.length > 0 || kind === undefined || read.destinationType === undefined || read.name === undefined) {
    return err({ type: 'invalid_attributes', faults });
  }
  const contents: ConfigurationContents = {
    kind,
    destinationType: read.destinationType,
    enabled: read.enabled ?? false,
    name: read.name,
    token: kind === 'email' ? null : read.token || null,
    triggers: uniqueTriggers(read.triggers ?? []),
    url: usesUrl(kind) ? url : null,
    users: kind === 'email' ? [...new Set(read.users ?? [])] : [],
  };
  return ok({ contents, probes: contents.enabled && usesUrl(kind) });
}

export interface UpdateRules {
  readonly verifyOnUpdate: 'relevant' | 'always';
  readonly omittedUsersOnUpdate: 'keep' | 'clear';
}

/**
 * The pure half of an update. Omitted members keep their value; the destination type cannot change its kind. A probe is
 * needed when the request enables, and when a configuration that stays enabled gets another URL or token (always, by
 * setting).
 */
export function decideUpdate(
  current: ConfigurationContents,
  input: UncheckedConfigurationInput,
  surroundings: ConfigurationSurroundings,
  rules: UpdateRules,
  earlier: readonly FieldFault[] = [],
): Result<DecidedConfiguration, InvalidAttributes> {
  const { read, faults: found } = readConfigurationInput(input);
  const faults = [...earlier, ...found];
  const told = new Set(faults.map((fault) => fault.pointer));
  const wrong = (pointer: string, message: string): void => {
    if (!told.has(pointer)) faults.push({ pointer, message });
  };

  const { kind } = current;
  if (read.destinationType !== undefined) {
    const asked = destinationKindFromSpelling(read.destinationType);
    if (asked === undefined) wrong(pointers.destinationType, destinationTypeMessage(read.destinationType));
    else if (asked !== kind) {
      wrong(
        pointers.destinationType,
        `Destination type cannot be changed from ${current.destinationType}; delete the configuration and create another`,
      );
    }
  }
  if (read.name !== undefined) checkName(read.name, wrong);
  const url = read.url === undefined ? current.url : read.url === '' ? null : read.url;
  if (usesUrl(kind) && read.url !== undefined) checkUrl(url, surroundings, wrong);
  checkToken(read.token, wrong);
  if (read.triggers !== undefined) checkTriggers(read.triggers, wrong);
  if (kind === 'email') checkRecipients(read, current.users, surroundings, wrong);
  if (faults.length > 0) return err({ type: 'invalid_attributes', faults });

  const omittedUsers = rules.omittedUsersOnUpdate === 'keep' ? current.users : [];
  const contents: ConfigurationContents = {
    ...current,
    enabled: read.enabled ?? current.enabled,
    name: read.name ?? current.name,
    token: kind === 'email' ? null : read.token === undefined ? current.token : read.token || null,
    triggers: read.triggers === undefined ? current.triggers : uniqueTriggers(read.triggers),
    url: usesUrl(kind) ? url : null,
    users: kind === 'email' ? (read.users === undefined ? omittedUsers : [...new Set(read.users)]) : [],
  };
  const relevant = contents.url !== current.url || contents.token !== current.token;
  const probes =
    usesUrl(kind) && contents.enabled && (read.enabled === true || relevant || rules.verifyOnUpdate === 'always');
  return ok({ contents, probes });
}

type Refuse = (pointer: string, message: string) => void;

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

function checkUrl(url: string | null, surroundings: ConfigurationSurroundings, refuse: Refuse): void {
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
  const verdict = surroundings.checkUrl(url);
  if (!verdict.allowed) refuse(at, `Url is not allowed: ${verdict.message}`);
}

function checkToken(token: string | null | undefined, refuse: Refuse): void {
  if (token !== undefined && token !== null && token.length > configurationLimits.token) {
    refuse(pointers.token, `Token must have at most ${configurationLimits.token} characters`);
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

/** Users that were recipients before stay acceptable: somebody who left the organization must not block a rename. */
function checkRecipients(
  read: ReadConfigurationInput,
  present: readonly string[],
  surroundings: ConfigurationSurroundings,
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
    if (surroundings.findUser(id)?.organization !== surroundings.organization) {
      refuse(pointers.users, `User ${id.slice(0, 64)} is not a member of the organization`);
      return;
    }
  }
}

/** The first spelling of each trigger, in the order given. */
function uniqueTriggers(spellings: readonly string[]): string[] {
  const seen = new Set<string>();
  return spellings.filter((spelling) => {
    const value = triggerFromSpelling(spelling)?.value ?? spelling;
    if (seen.has(value)) return false;
    seen.add(value);
    return true;
  });
}
