import { orThrow } from '../../../../src/client/index.js';
import { type Command, command, type Invocation } from '../../command-line/command.js';
import { tableOf } from '../../output/tables.js';
import { optional } from '../option-values.js';
import { print, printAnswer } from '../print.js';

const spanOptions = {
  until: { type: 'text', value: 'TIME', summary: 'only deliveries that ended before this time (now)' },
  outcome: {
    type: 'text',
    value: 'OUTCOME',
    summary: 'outcome of the deliveries (dead)',
    choices: ['dead', 'cancelled', 'partly_delivered'],
  },
  trigger: { type: 'text', value: 'TRIGGER', summary: 'only this trigger or type' },
  configuration: { type: 'text', value: 'ID', summary: 'only this configuration' },
} as const;

const count = command({
  words: 'recovery count',
  parameters: 'WORKSPACE SINCE',
  summary: 'count the deliveries that a recovery would send again; sends nothing',
  options: spanOptions,
  run: async (invocation) => {
    const [workspace = ''] = invocation.parameters;
    const counted = invocation.box.recoveries.count(workspace, spanOf(invocation));
    return printAnswer(invocation, counted, ({ count: found, whole }) => `${found}${whole ? '' : ' at least'}\n`);
  },
});

const start = command({
  words: 'recovery start',
  parameters: 'WORKSPACE SINCE',
  summary: 'send unsuccessful deliveries again that ended since a time such as 2026-01-02T03:04:05Z',
  options: spanOptions,
  run: async (invocation) => {
    const [workspace = ''] = invocation.parameters;
    const started = invocation.box.recoveries.start(workspace, spanOf(invocation));
    return printAnswer(invocation, started, ({ id, total }) => `recovery ${id} sends ${total} deliveries again\n`);
  },
});

const list = command({
  words: 'recovery list',
  parameters: 'WORKSPACE',
  summary: 'list the recoveries of a workspace with their progress',
  options: {},
  run: async (invocation) => {
    const { items: found } = await orThrow(invocation.box.recoveries.list(invocation.parameters[0] ?? ''));
    const rows = found.map(({ id, state, redelivered, total, createdAt }) => [
      id,
      state,
      `${redelivered} of ${total}`,
      createdAt,
    ]);
    return print(invocation, found, () => tableOf(['ID', 'State', 'Sent again', 'Started'], rows, 'no recoveries'));
  },
});

const cancel = command({
  words: 'recovery cancel',
  parameters: 'RECOVERY',
  summary: 'cancel a recovery; deliveries that it has already queued are still sent',
  options: {},
  run: async (invocation) => {
    const ended = invocation.box.recoveries.cancel(invocation.parameters[0] ?? '');
    return printAnswer(invocation, ended, ({ id, state }) => `recovery ${id} is ${state}\n`);
  },
});

function spanOf({ parameters, options }: Invocation<typeof spanOptions>) {
  const { until, outcome, trigger, configuration } = options;
  return {
    since: parameters[1] ?? '',
    ...optional('until', until),
    // The server validates it and lists the allowed ones.
    ...optional('outcome', outcome as 'dead' | undefined),
    ...optional('trigger', trigger),
    ...optional('configurationId', configuration),
  };
}

export const recoveryCommands: readonly Command[] = [count, start, list, cancel];
