import { triggerDefinitions, triggerFromSpelling } from '../events/trigger.js';
import { tokenProblem } from '../signature.js';
import type { User } from '../workspace.js';
import { pointers, type ReadConfigurationInput } from './configuration-input.js';
import { type DestinationKind, destinationKindFromSpelling } from './destination.js';

/* The checks of a configuration's members, each with its messages. */

/** The context of the checks. */
export interface ConfigurationContext {
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
export type Refuse = (pointer: string, message: string) => void;

/** Limits of stored values, in characters and entries; a request beyond them is refused. */
const configurationLimits = { name: 255, url: 4096, token: 4096, triggers: 200, users: 1000 } as const;

export function checkSameKind(
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

export function checkContents({ token, triggers }: ReadConfigurationInput, refuse: Refuse): void {
  checkToken(token, refuse);
  checkTriggers(triggers ?? [], refuse);
}

export function checkEmail(
  read: ReadConfigurationInput,
  present: readonly string[],
  context: ConfigurationContext,
  refuse: Refuse,
): void {
  checkRecipients(read, present, context, refuse);
  checkMail(read.enabled, context, refuse);
}

export function destinationTypeMessage(given: string | undefined): string {
  const allowed = 'generic, email, chat-a, chat-b (or slack, microsoft-teams)';
  return given === undefined
    ? `Destination type is missing; use one of ${allowed}`
    : `Destination type must be one of ${allowed}`;
}

export function checkName(name: string | undefined, refuse: Refuse): void {
  if (name === undefined || name.trim() === '') refuse(pointers.name, "Name can't be blank");
  else if (name.length > configurationLimits.name) {
    refuse(pointers.name, `Name must have at most ${configurationLimits.name} characters`);
  }
}

export function checkUrl(url: string | null, context: ConfigurationContext, refuse: Refuse): void {
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
