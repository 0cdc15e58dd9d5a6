import { type Command, command } from '../command-line/command.js';
import { optional } from './option-values.js';
import { confirm, passOn } from './print.js';

const collect = command({
  words: 'system gc',
  parameters: '',
  summary: 'run the garbage collection: remove all ended records, regardless of their age',
  options: {},
  run: (invocation) => confirm(invocation, invocation.box.maintenance.collectGarbage(), 'garbage collection done'),
});

const monitor = command({
  words: 'monitor',
  parameters: '',
  summary: 'print log entries of the server as they are written, until a signal',
  raw: true,
  options: {
    'log-level': {
      type: 'text',
      value: 'LEVEL',
      summary: 'minimum level of the printed entries (info)',
      choices: ['trace', 'debug', 'info', 'warn', 'error'],
    },
    'log-json': { type: 'flag', summary: 'print each entry as a JSON object' },
    'node-id': { type: 'text', value: 'NODE', summary: 'print the log of the server that runs this node' },
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
