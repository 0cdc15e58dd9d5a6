import { orThrow } from '../../../../src/client/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { tableOf } from '../../output/tables.js';
import { optional } from '../option-values.js';
import { print, printAnswer } from '../print.js';

const spanOptions = {
  until: option.text('TIME', 'only deliveries that ended before this time (now)'),
  outcome: option.text('OUTCOME', 'outcome of the deliveries (dead)', ['dead', 'cancelled', 'partly_delivered']),
  trigger: option.text('TRIGGER', 'only this trigger or type'),
  status: option.text('STATUS', 'only this last answer: a code, a class such as 5xx, or none'),
  configuration: option.text('ID', 'only this configuration'),
} as const;

const count = command({
  usage: 'recovery count WORKSPACE SINCE',
  summary: 'count the deliveries that a recovery would send again; sends nothing',
  options: spanOptions,
  run: async (invocation, workspace = '') => {
    const counted = invocation.box.recoveries.count(workspace, spanOf(invocation));
    return printAnswer(invocation, counted, ({ count: found, whole }) => `${found}${whole ? '' : ' at least'}\n`);
  },
});

const start = command({
  usage: 'recovery start WORKSPACE SINCE',
  summary: 'send unsuccessful deliveries again that ended since a time such as 2026-01-02T03:04:05Z',
  options: spanOptions,
  run: async (invocation, workspace = '') => {
    const started = invocation.box.recoveries.start(workspace, spanOf(invocation));
    return printAnswer(invocation, started, ({ id, total }) => `recovery ${id} sends ${total} deliveries again\n`);
  },
});

const list = command({
  usage: 'recovery list WORKSPACE',
  summary: 'list the recoveries of a workspace with their progress',
  run: async (invocation, workspace = '') => {
    const { items: found } = await orThrow(invocation.box.recoveries.list(workspace));
    const rows = found.map(({ id, state, status, redelivered, total, createdAt }) => [
      id,
      state,
      `${redelivered} of ${total}`,
      createdAt,
      status ?? 'any',
    ]);
    return print(invocation, found, () =>
      tableOf(['ID', 'State', 'Sent again', 'Started', 'Answer'], rows, 'no recoveries'),
    );
  },
});

const cancel = command({
  usage: 'recovery cancel RECOVERY',
  summary: 'cancel a recovery; deliveries that it has already queued are still sent',
  run: async (invocation, recovery = '') => {
    const ended = invocation.box.recoveries.cancel(recovery);
    return printAnswer(invocation, ended, ({ id, state }) => `recovery ${id} is ${state}\n`);
  },
});

function spanOf({ parameters, options }: Invocation<typeof spanOptions>) {
  const { until, outcome, trigger, status, configuration } = options;
  return {
    since: parameters[1] ?? '',
    ...optional('until', until),
    // The server validates it and lists the allowed ones.
    ...optional('outcome', outcome as 'dead' | undefined),
    ...optional('trigger', trigger),
    ...optional('status', status),
    ...optional('configurationId', configuration),
  };
}

export const recoveryCommands: readonly Command[] = [count, start, list, cancel];
