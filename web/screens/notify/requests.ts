import type { ConfigurationInput } from '../../../src/notifications/configurations/configuration-input.js';
import type { Obstacle } from '../../../src/notifications/events/event.js';
import { type TriggerSpelling, triggerDefinitions } from '../../../src/notifications/events/trigger.js';
import type { BulkRedeliverySpan, ConfigurationView, DeliveryDetails } from './answers.js';

/* What the page asks the server, and what it hands over to be asked elsewhere. */

export const triggers = triggerDefinitions;

/** Alerts of Signalbox about destinations, which configurations receive like other event types. */
export { alertTypes } from '../../../src/notifications/events/event-type.js';

/** The trigger of the interface with this name, if it is one. */
export function triggerNamed(name: string): TriggerSpelling | undefined {
  return triggers.find(({ value, aliases }) => value === name || aliases.some((alias) => alias === name))?.value;
}

/** Filters of a list of deliveries, as they are in the address. */
export interface DeliveryFilters {
  readonly outcome: string;
  readonly trigger: string;
  /** A status code, a class such as `5xx`, or `none`. */
  readonly status: string;
  /** RFC 3339; of the acceptance of the event. */
  readonly since: string;
  readonly until: string;
  readonly configuration: string;
  /** From 1. */
  readonly page: number;
}

export function filtersOf(query: URLSearchParams): DeliveryFilters {
  const text = (name: string): string => query.get(name) ?? '';
  const time = (name: string): string => (Number.isNaN(Date.parse(text(name))) ? '' : text(name));
  const page = Number(text('page'));
  return {
    outcome: text('outcome'),
    trigger: text('trigger'),
    status: text('status'),
    since: time('since'),
    until: time('until'),
    configuration: text('configuration'),
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  };
}

/** The filters as a list call takes them: those that are set. */
export function askedOf({ page, outcome, trigger, status, since, until, configuration }: DeliveryFilters) {
  return {
    pageNumber: page,
    pageSize: 50,
    ...(outcome === '' ? {} : { outcome }),
    ...(trigger === '' ? {} : { trigger }),
    ...(status === '' ? {} : { status }),
    ...(since === '' ? {} : { since: Date.parse(since) }),
    ...(until === '' ? {} : { until: Date.parse(until) }),
    ...(configuration === '' ? {} : { configuration }),
  };
}

export function isFiltered({ page: _page, ...filters }: DeliveryFilters): boolean {
  return Object.values(filters).some((value) => value !== '');
}

/** Outcomes after which a delivery can be sent again with others. */
export const recoverableOutcomes = ['dead', 'cancelled', 'partly_delivered'] as const;
type RecoverableOutcome = (typeof recoverableOutcomes)[number];

export function recoverableOutcome(name: string): RecoverableOutcome | undefined {
  return recoverableOutcomes.find((each) => each === name);
}

export interface Bulk {
  readonly outcome: RecoverableOutcome;
  /** RFC 3339; of the end of a delivery. */
  readonly since: string;
  readonly trigger: string;
  /** As in the filters. */
  readonly status: string;
  readonly configuration: string;
}

/** The deliveries of a bulk redelivery. `until` keeps the set as it was counted. */
export function spanOf({ outcome, since, trigger, status, configuration }: Bulk, until: number): BulkRedeliverySpan {
  return {
    outcome,
    since,
    until: new Date(until).toISOString(),
    ...(trigger === '' ? {} : { trigger }),
    ...(status === '' ? {} : { status }),
    ...(configuration === '' ? {} : { configurationId: configuration }),
  };
}

/** A string as one word of a POSIX shell, whatever it contains. */
export function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const redacted = '[redacted]';

/**
 * The request of an attempt as a command. Headers that the server masks are named in a comment: their values are not known here. `url`: that of the
 * configuration, which is used when it still leads to the same origin.
 */
export function curlCommand(
  { request, destination }: DeliveryDetails['attempts'][number],
  body: string | null,
  url: string | null,
): string {
  const isSame = url !== null && URL.canParse(url) && new URL(url).origin === new URL(destination).origin;
  const headers = Object.entries(request?.headers ?? {});
  const masked = headers.filter(([, value]) => value.includes(redacted)).map(([name]) => oneLine(name));
  const words = [
    `curl --request ${shellQuoted(request?.method ?? 'POST')} ${shellQuoted(isSame ? url : destination)}`,
    ...headers
      .filter(([, value]) => !value.includes(redacted))
      .map(([name, value]) => `  --header ${shellQuoted(`${name}: ${value}`)}`),
    // Without a name of a file: data may begin with an at sign.
    ...(body === null ? [] : [`  --data-raw ${shellQuoted(body)}`]),
  ];
  const comment = masked.length === 0 ? '' : `# Without the secret headers: ${masked.join(', ')}\n`;
  return comment + words.join(' \\\n');
}

/** Without line ends, which would end a comment. */
function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}

/** The call that declares a configuration like this one; its secrets must be added. */
export function declarationOf(configuration: ConfigurationView): string {
  const { workspaceId, name, destinationType, enabled, url, kind, users, delivery } = configuration;
  const { headerNames = [], authentication = null, clientCertificate = false, ...open } = delivery ?? {};
  const set = Object.entries(open).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  );
  const missing = [
    ...(kind === 'email' ? [] : ['token']),
    ...headerNames.map((header) => `delivery.headers[${JSON.stringify(header)}]`),
    ...(authentication === null ? [] : [`delivery.authentication (${authentication})`]),
    ...(clientCertificate ? ['delivery.clientCertificate'] : []),
  ];
  const attributes = {
    name,
    destinationType,
    ...(kind === 'email' ? { users } : { url }),
    triggers: configuration.triggers,
    ...(set.length === 0 ? {} : { delivery: Object.fromEntries(set) }),
    enabled,
  };
  const comment =
    missing.length === 0 ? '' : `// Secrets, if set, are not shown here: ${missing.map(oneLine).join(', ')}\n`;
  return `${comment}await orThrow(box.notifications.declare(${JSON.stringify(workspaceId)}, ${JSON.stringify(attributes, null, 2)}));\n`;
}

/** Fields of the form of a configuration, by the pointer of a fault. */
const fieldsByPointer: readonly (readonly [RegExp, string])[] = [
  [/^\/data\/attributes\/destination-type/, 'kind'],
  [/^\/data\/attributes\/(name|url|token|triggers|enabled)(?:\/|$)/, '$1'],
  [/^\/data\/attributes\/email-addresses|^\/data\/relationships\/users/, 'users'],
  [/^\/data\/attributes\/delivery\/(\w+)/, '$1'],
];

/** The field at which a fault is shown; undefined when it belongs to none. */
export function fieldOfPointer(pointer: string): string | undefined {
  for (const [pattern, field] of fieldsByPointer) {
    const found = pattern.exec(pointer);
    if (found !== null) return field.replace('$1', found[1] ?? '');
  }
  return undefined;
}

/** Names and values of headers, one a line: `name: value`. The lines that are not of this form. */
export function headersOf(text: string): {
  readonly headers: Readonly<Record<string, string>>;
  readonly wrong: readonly string[];
} {
  const headers: [string, string][] = [];
  const wrong: string[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) wrong.push(line.trim());
    else headers.push([name, value]);
  }
  return { headers: Object.fromEntries(headers), wrong };
}

/** Words of a list that are separated by blanks or commas. */
export function wordsOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((word) => word !== ''))];
}

/** An example of an event with the trigger, to ask who would be notified. */
export function exampleOf(
  trigger: string,
  example: Readonly<Record<string, unknown>> | null,
): Readonly<Record<string, unknown>> {
  const scope = triggers.find(
    ({ value, aliases }) => value === trigger || aliases.some((alias) => alias === trigger),
  )?.scope;
  if (scope === 'run') return { trigger, run_id: 'run-example' };
  if (scope === 'assessment')
    return {
      trigger,
      new_assessment_result: { id: 'asmtres-example', url: 'https://example.com/', created_at: '2026-01-01T00:00:00Z' },
    };
  if (scope === 'workspace') return { trigger };
  return { trigger, data: example ?? {} };
}

/** The filter over events that finds those of a run, a job or a message. */
export function eventFilter(text: string): string {
  const quoted = JSON.stringify(text.trim());
  return ['message', 'run_message', 'run_id'].map((name) => `${name} contains ${quoted}`).join(' or ');
}

/** A change of a configuration that removes obstacles. */
export interface Fix {
  readonly id: string;
  readonly label: string;
  readonly input: ConfigurationInput;
  /** Whether it removes all of the obstacles. */
  readonly isWhole: boolean;
}

/** The change that has a configuration notified of a trigger, as far as one change can; undefined when none helps. */
export function fixOf(
  { id, kind, triggers: present, delivery }: Pick<ConfigurationView, 'id' | 'kind' | 'triggers' | 'delivery'>,
  obstacles: readonly Obstacle[],
  trigger: string,
): Fix | undefined {
  const named = triggerNamed(trigger);
  const isOff = obstacles.includes('trigger_off');
  const isDisabled = obstacles.includes('disabled');
  if (!isOff && !isDisabled) return undefined;
  const added: ConfigurationInput =
    named === undefined
      ? { delivery: { eventTypes: [...(delivery?.eventTypes ?? []), trigger] } }
      : { triggers: [...present.flatMap((each) => triggerNamed(each) ?? []), named] };
  const turnOn = `Turn on ${trigger}`;
  // Enabling e-mail sends nothing.
  const enable = kind === 'email' ? 'enable' : 'verify and enable';
  return {
    id,
    label: isOff
      ? isDisabled
        ? `${turnOn}, ${enable}`
        : turnOn
      : enable.replace(/^./, (first) => first.toUpperCase()),
    input: { ...(isOff ? added : {}), ...(isDisabled ? { enabled: true } : {}) },
    isWhole: obstacles.every((each) => each === 'trigger_off' || each === 'disabled'),
  };
}
