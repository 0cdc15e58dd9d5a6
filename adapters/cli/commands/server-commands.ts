import { type Command, command } from '../command-line/command.js';
import { optional } from './option-values.js';
import { confirm, passOn } from './print.js';

const collect = command({
  words: 'system gc',
  parameters: '',
  summary: 'collect everything that has ended, however recently',
  options: {},
  run: (invocation) => confirm(invocation, invocation.box.maintenance.collectGarbage(), 'what has ended is collected'),
});

const monitor = command({
  words: 'monitor',
  parameters: '',
  summary: 'print what the server logs, from now on, until a signal',
  raw: true,
  options: {
    'log-level': {
      type: 'text',
      value: 'LEVEL',
      summary: 'the least severe entries that are printed (info)',
      choices: ['trace', 'debug', 'info', 'warn', 'error'],
    },
    'log-json': { type: 'flag', summary: 'each entry as a JSON object' },
    'node-id': { type: 'text', value: 'NODE', summary: 'of the server that this node is part of' },
  },
  run: ({ box, options, terminal }) =>
    passOn(
      terminal,
      box.system.monitor({
        plain: true,
        json: options['log-json'],
        ...optional('level', options['log-level']),
        ...optional('nodeId', options['node-id']),
      }),
    ),
});

export const serverCommands: readonly Command[] = [collect, monitor];
