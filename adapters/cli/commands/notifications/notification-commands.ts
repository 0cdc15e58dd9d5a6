import { orThrow } from '../../../../src/client/index.js';
import type { DeliverySummary, DestinationSpelling, HealthView, TriggerSpelling } from '../../../../src/index.js';
import { type Command, command, option } from '../../command-line/command.js';
import { facts, tableOf } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { jsonOf } from '../event-commands.js';
import { deliveryOutcomes, optional, pageOption } from '../option-values.js';
import { confirm, print, printAnswer } from '../print.js';

const list = command({
  usage: 'notification list WORKSPACE',
  summary: 'list the notification configurations of a workspace',
  run: async (invocation, workspace = '') => {
    const { items } = await orThrow(invocation.box.notifications.list(workspace));
    const rows = items.map(({ id, name, destinationType, enabled, triggers, delivery, health }) => [
      id,
      name,
      destinationType,
      `${enabled}`,
      [...triggers, ...(delivery?.eventTypes ?? [])].join(','),
      stateOf(health),
    ]);
    const headings = ['ID', 'Name', 'Type', 'Enabled', 'Triggers', 'Deliveries'];
    return print(invocation, items, () => tableOf(headings, rows, 'no configurations'));
  },
});

const show = command({
  usage: 'notification show CONFIGURATION',
  summary: 'show a notification configuration and the state of its deliveries',
  run: async (invocation, given = '') => {
    const configuration = await orThrow(invocation.box.notifications.show(given));
    return print(invocation, configuration, ({ health, response, ...shown }) =>
      facts({
        ID: shown.id,
        Name: shown.name,
        Type: shown.destinationType,
        Enabled: shown.enabled,
        URL: shown.url ?? undefined,
        Users: shown.users.join(','),
        Triggers: shown.triggers.join(','),
        'Event types': shown.delivery?.eventTypes.join(','),
        Filter: shown.delivery?.filter ?? undefined,
        'Last verification': response === null ? undefined : `${response.code} at ${response.sentAt}`,
        Paused: health.paused,
        Breaker: health.breaker,
        'Failing since': health.failingSince ?? undefined,
        'Next probe': health.nextProbeAt ?? undefined,
        'Blocked by': health.hinderedBy ?? undefined,
        'Blocked since': health.hinderedSince ?? undefined,
        Waiting: health.backlog,
      }),
    );
  },
});

/** The state of a configuration's deliveries in a word. */
function stateOf({ paused, breaker, hinderedBy, failingSince }: HealthView): string {
  if (paused) return 'paused';
  if (breaker !== 'closed') return `breaker ${breaker.replace('_', ' ')}`;
  return hinderedBy ?? (failingSince === null ? '' : 'failing');
}

const destination = option.text('TYPE', 'kind of the destination (generic)');
const tokenFile = option.text('FILE', 'file with the secret that signs notifications; - for standard input');

const create = command({
  usage: 'notification create WORKSPACE NAME URL',
  summary: 'create a webhook configuration, verify it and enable it',
  options: {
    type: { ...destination, choices: ['generic', 'slack', 'microsoft-teams'] },
    trigger: option.list('TRIGGER', 'a trigger that it receives, may be repeated'),
    'token-file': tokenFile,
    disabled: option.flag('do not verify and enable it'),
  },
  run: async (invocation, workspace = '', name = '', url = '') => {
    const { options, terminal, box } = invocation;
    const file = options['token-file'];
    const token = file === undefined ? undefined : (await terminal.read(file)).trim();
    const created = await orThrow(
      box.notifications.create(workspace, {
        ...contentOf(options),
        name,
        url,
        ...optional('token', token),
      }),
    );
    return print(invocation, created, ({ id, enabled }) => `${id} is ${enabled ? 'enabled' : 'created'}\n`);
  },
});

/** The call checks the names. */
function contentOf(options: { type: string | undefined; trigger: readonly string[]; disabled: boolean }) {
  return {
    destinationType: (options.type ?? 'generic') as DestinationSpelling,
    enabled: !options.disabled,
    triggers: options.trigger as readonly TriggerSpelling[],
  };
}

const put = command({
  usage: 'notification put WORKSPACE NAME [URL]',
  summary: 'create or change the configuration with this name',
  options: {
    type: { ...destination, choices: ['generic', 'slack', 'microsoft-teams', 'email'] },
    trigger: option.list('TRIGGER', 'a trigger that it receives, may be repeated'),
    user: option.list('USER', 'recipient of the e-mail, may be repeated'),
    'token-file': tokenFile,
    'delivery-file': option.text('FILE', 'JSON with delivery options: filter, headers, rate, ...'),
    disabled: option.flag('do not verify and enable it'),
  },
  run: async (invocation, workspace = '', name = '', url) => {
    const { options, terminal, box } = invocation;
    const { 'token-file': secretFile, 'delivery-file': deliveryFile, user } = options;
    checkDestination(options.type, url, user);
    const token = secretFile === undefined ? undefined : (await terminal.read(secretFile)).trim();
    const delivery = deliveryFile === undefined ? undefined : await jsonOf(invocation, deliveryFile);
    const stated = await orThrow(
      box.notifications.declare(workspace, {
        ...contentOf(options),
        name,
        ...optional('url', url),
        ...optional('token', token),
        ...optional('delivery', delivery),
        ...(user.length === 0 ? {} : { users: user }),
      }),
    );
    return print(invocation, stated, ({ id, enabled, kind, users }) => {
      const nobody = kind === 'email' && users.length === 0;
      const hint = nobody ? '; no recipients: name users with --user' : '';
      return `${id} is ${enabled ? 'enabled' : 'stored'}${hint}\n`;
    });
  },
});

/** The API ignores a URL for e-mail and users for other types; on the command line they are mistakes. */
function checkDestination(type: string | undefined, url: string | undefined, users: readonly string[]): void {
  if (type === 'email' && url !== undefined) throw new Stopped('e-mail goes to --user USER, not to a URL', 2);
  if (type !== 'email' && users.length > 0) throw new Stopped('--user is for --type email', 2);
}

/** A command that calls one method with the ID of a configuration. */
const acting = (act: 'pause' | 'resume' | 'verify' | 'enable', done: string, summary: string) =>
  command({
    usage: `notification ${act} CONFIGURATION`,
    summary,
    run: (invocation, configuration = '') =>
      printAnswer(invocation, invocation.box.notifications[act](configuration), ({ id }) => `${id} is ${done}\n`),
  });

const pause = acting('pause', 'paused', 'pause a configuration: its deliveries wait until it is resumed');
const resume = acting('resume', 'resumed', 'resume a paused configuration and send its waiting deliveries');
const verify = acting('verify', 'verified', 'send a verification request');
const enable = acting('enable', 'enabled', 'verify and enable a configuration');

const disable = command({
  usage: 'notification disable CONFIGURATION',
  summary: 'disable a configuration; its waiting deliveries are cancelled',
  run: async (invocation, configuration = '') => {
    const changed = { enabled: false };
    const disabled = await orThrow(invocation.box.notifications.update(configuration, changed));
    return print(invocation, disabled, ({ id }) => `${id} is disabled\n`);
  },
});

const remove = command({
  usage: 'notification delete CONFIGURATION',
  summary: 'delete a configuration; its waiting deliveries are cancelled',
  run: (invocation, id = '') => confirm(invocation, invocation.box.notifications.delete(id), `${id} is deleted`),
});

const deliveries = command({
  usage: 'notification deliveries CONFIGURATION',
  summary: 'show the delivery log of a configuration, newest first',
  options: {
    outcome: option.text('OUTCOME', 'only deliveries with this outcome', deliveryOutcomes),
    page: option.text('N', 'page of the log, 20 deliveries per page (1)'),
  },
  run: async (invocation, configuration = '') => {
    const { box, options } = invocation;
    const asked = { ...optional('outcome', options.outcome), ...pageOption(options.page) };
    const { items, nextPage } = await orThrow(box.deliveries.list(configuration, asked));
    const rows = items.map((delivery) => [
      delivery.id,
      delivery.trigger,
      delivery.outcome,
      String(delivery.attemptCount),
      String(delivery.lastStatus ?? delivery.lastFailure ?? ''),
      whyOf(delivery),
      delivery.createdAt,
    ]);
    const headings = ['ID', 'Trigger', 'Outcome', 'Attempts', 'Last answer', 'Why', 'Created'];
    const older = nextPage === null ? '' : `next page: --page ${nextPage}\n`;
    return print(invocation, items, () => `${tableOf(headings, rows, 'no deliveries')}${older}`);
  },
});

/** What a delivery waits for and until when, or why it failed. */
function whyOf({ waitsFor, reason }: Pick<DeliverySummary, 'waitsFor' | 'reason'>): string {
  if (waitsFor === null) return reason ?? '';
  return waitsFor.until === null ? waitsFor.reason : `${waitsFor.reason} until ${waitsFor.until}`;
}

const redeliver = command({
  usage: 'notification redeliver DELIVERY',
  summary: 'send one delivery again',
  run: async (invocation, given = '') => {
    const delivery = await orThrow(invocation.box.deliveries.redeliver(given));
    return print(invocation, delivery, ({ id, outcome }) => `${id} is ${outcome}\n`);
  },
});

export const notificationCommands: readonly Command[] = [
  list,
  show,
  create,
  put,
  verify,
  enable,
  disable,
  pause,
  resume,
  remove,
  deliveries,
  redeliver,
];
