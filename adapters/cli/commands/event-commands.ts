import { orThrow } from '../../../src/client/index.js';
import { type Command, command, type Invocation, option } from '../command-line/command.js';
import { findJsonFault, jsonValueOf } from '../json-fault.js';
import { facts, tableOf } from '../output/tables.js';
import { Stopped } from '../stopped.js';
import { deliveryOutcomes, optional, pageOption, pairs } from './option-values.js';
import { confirm, print, printAnswer } from './print.js';

const attributesOptions = {
  set: option.list('NAME=TEXT', 'an attribute such as run_id, may be repeated'),
  file: option.text('FILE', 'JSON file with the attributes, or the payload of a custom type; - for standard input'),
} as const;

const send = command({
  usage: 'event send WORKSPACE TRIGGER',
  summary: 'publish an event, and show the number of deliveries or why there are none',
  options: attributesOptions,
  run: async (invocation, workspace = '') => {
    const sent = invocation.box.notifications.send(workspace, await attributesOf(invocation));
    return printAnswer(invocation, sent, ({ eventId, deliveryIds, explanations }) => {
      if (deliveryIds.length > 0)
        return `event ${eventId}: ${deliveryIds.length} ${deliveryIds.length === 1 ? 'delivery' : 'deliveries'}\n`;
      return `event ${eventId} has no recipients\n${explained(explanations)}`;
    });
  },
});

const explain = command({
  usage: 'event explain WORKSPACE TRIGGER',
  summary: 'show which configurations an event would notify, and why not the others; sends nothing',
  options: attributesOptions,
  run: async (invocation, workspace = '') =>
    printAnswer(invocation, invocation.box.events.explain(workspace, await attributesOf(invocation)), explained),
});

const list = command({
  usage: 'event list WORKSPACE',
  summary: 'list the events of a workspace, newest first',
  options: {
    trigger: option.text('TRIGGER', 'only events of this trigger or type'),
    outcome: option.text('OUTCOME', 'only events with a delivery of this outcome', deliveryOutcomes),
    filter: option.text('EXPRESSION', 'only events whose attributes match'),
    since: option.text('TIME', 'only events accepted at or after this time, such as 2026-01-02T03:04:05Z'),
    until: option.text('TIME', 'only events accepted before this time'),
    page: option.text('N', 'page of the list, 20 events per page (1)'),
  },
  run: async (invocation, workspace = '') => {
    const { trigger, outcome, filter, since, until, page } = invocation.options;
    const asked = {
      ...optional('trigger', trigger),
      ...optional('outcome', outcome),
      ...optional('filter', filter),
      ...optional('since', isoTimeOption('since', since)),
      ...optional('until', isoTimeOption('until', until)),
      ...pageOption(page),
    };
    const found = await orThrow(invocation.box.events.list(workspace, asked));
    const rows = found.items.map(({ id, trigger: of, createdAt, deliveries }) => [
      id,
      of,
      createdAt,
      deliveries.map(({ outcome: ended }) => ended).join(','),
    ]);
    return print(invocation, found, ({ totalCount, items }) => {
      const table = tableOf(['ID', 'Trigger', 'Accepted', 'Deliveries'], rows, 'no events');
      return totalCount > items.length ? `${table}${totalCount} events match\n` : table;
    });
  },
});

const show = command({
  usage: 'event show EVENT',
  summary: 'show an event with its content and every attempt',
  run: async (invocation, given = '') => {
    const event = invocation.box.events.show(given);
    return printAnswer(invocation, event, ({ id, trigger, message, createdAt, erasedAt, attempts, ...why }) => {
      const head = { ID: id, Trigger: trigger, Message: message, Accepted: createdAt, Erased: erasedAt ?? undefined };
      const rows = attempts.flatMap(({ id: delivery, attempts: made, recipients }) => [
        ...made.map(({ number, status, failure }) => [
          delivery,
          `${number}`,
          `${status ?? ''}`,
          failure?.message ?? '',
        ]),
        ...recipients.flatMap(({ userId, outcome, message: reason }) =>
          outcome === 'accepted' ? [] : [[delivery, '', '', `${userId} ${outcome}: ${reason ?? ''}`]],
        ),
      ]);
      const table = tableOf(['Delivery', 'Attempt', 'Status', 'Failure'], rows, 'no attempts yet');
      return `${facts(head)}\n${table}\n${explained(why.explanationsAtAcceptance ?? why.explanations)}`;
    });
  },
});

const erase = command({
  usage: 'event erase EVENT',
  summary: 'erase the content of an event and keep its record',
  run: async (invocation, id = '') => confirm(invocation, invocation.box.events.erase(id), `${id} is erased`),
});

const types = command({
  usage: 'event-type list',
  summary: 'list the event types of the application',
  run: async (invocation) => {
    const found = await orThrow(invocation.box.eventTypes.list());
    const rows = found.map(({ name, description }) => [name, description ?? '']);
    return print(invocation, found, () => tableOf(['Name', 'Description'], rows, 'no event types'));
  },
});

const showType = command({
  usage: 'event-type show NAME',
  summary: 'show an event type with its JSON Schema',
  run: async (invocation, name = '') => {
    const type = invocation.box.eventTypes.show(name);
    return printAnswer(invocation, type, (shown) => `${JSON.stringify(shown, null, 2)}\n`);
  },
});

const putType = command({
  usage: 'event-type put NAME FILE',
  summary: 'register an event type from JSON with description, schema, example and body; - for standard input',
  run: async (invocation, name = '', file = '') => {
    const type = invocation.box.eventTypes.put(name, await jsonOf(invocation, file));
    return printAnswer(invocation, type, () => `event type ${name} is stored\n`);
  },
});

const removeType = command({
  usage: 'event-type delete NAME',
  summary: 'delete an event type; further events of this type are refused',
  run: async (invocation, name = '') =>
    confirm(invocation, invocation.box.eventTypes.remove(name), `event type ${name} is removed`),
});

function explained(explanations: readonly { name: string; fires: boolean; obstacles: readonly string[] }[]): string {
  const rows = explanations.map(({ name, fires, obstacles }) => [name, fires ? 'yes' : 'no', obstacles.join(',')]);
  return tableOf(['Configuration', 'Notified', 'Why not'], rows, 'the workspace has no configurations');
}

async function attributesOf(
  invocation: Invocation<typeof attributesOptions>,
): Promise<Readonly<Record<string, unknown>>> {
  const { parameters, options } = invocation;
  const [, trigger = ''] = parameters;
  const given = options.file === undefined ? {} : await attributesIn(invocation, options.file, trigger);
  return { trigger, ...given, ...pairs('set', options.set) };
}

async function attributesIn(
  invocation: Invocation,
  file: string,
  trigger: string,
): Promise<Readonly<Record<string, unknown>>> {
  const inFile = await jsonOf(invocation, file);
  const { isPayload } = await import('../payload-file.js');
  return isPayload(trigger, inFile) ? { data: inFile } : inFile;
}

/** The JSON object of a file. */
export async function jsonOf({ terminal }: Pick<Invocation, 'terminal'>, file: string): Promise<Record<string, never>> {
  const text = await terminal.read(file);
  const fault = findJsonFault(text);
  if (fault !== undefined) throw new Stopped(`${file}:${fault.line}:${fault.column}: ${fault.message}`, 2);
  const value: unknown = jsonValueOf(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Stopped(`${file}: expected a JSON object`, 2);
  return value as Record<string, never>;
}

function isoTimeOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  // Without an offset the result would depend on this process's time zone, and `5` would parse as a year.
  const time = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/i.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new Stopped(`--${name} takes a time such as 2026-01-02T03:04:05Z`, 2);
  return time;
}

export const eventCommands: readonly Command[] = [
  send,
  explain,
  list,
  show,
  erase,
  types,
  showType,
  putType,
  removeType,
];
