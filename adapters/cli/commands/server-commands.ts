import { type Command, command, option } from '../command-line/command.js';
import { optional } from './option-values.js';
import { confirm, passOn } from './print.js';

const collect = command({
  usage: 'system gc',
  summary: 'run the garbage collection: remove all ended records, regardless of their age',
  run: (invocation) => confirm(invocation, invocation.box.maintenance.collectGarbage(), 'garbage collection done'),
});

const monitor = command({
  usage: 'monitor',
  summary: 'print log entries of the server as they are written, until a signal',
  raw: true,
  options: {
    'log-level': option.text('LEVEL', 'minimum level of the printed entries (info)', [
      'trace',
      'debug',
      'info',
      'warn',
      'error',
    ]),
    'log-json': option.flag('print each entry as a JSON object'),
    'node-id': option.text('NODE', 'print the log of the server that runs this node'),
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

/** `signalbox agent`: runs jobs on this host for a server elsewhere, until a signal. */
export const agent = command({
  usage: 'agent',
  summary: 'run the jobs of a server on this host; stopped by SIGTERM or SIGINT',
  local: true,
  options: {
    server: option.text('URL', 'the server (SIGNALBOX_ADDR, else http://127.0.0.1:4646)'),
    'token-file': option.text(
      'FILE',
      'a file with the secret of a node token (SIGNALBOX_TOKEN holds the secret itself)',
    ),
    driver: option.list('NAME', 'how tasks are run, may be repeated: raw_exec (raw_exec)'),
    directory: option.text(
      'PATH',
      'directory of the allocations, used by one agent at a time; created if missing (./signalbox-agent)',
    ),
    'node-id': option.text('UUID', 'ID of the node (generated at the first start, kept in the directory)'),
    name: option.text('NAME', 'name of the node (the name of the host)'),
    pool: option.text('POOL', 'node pool; the token must be for it (default)'),
    datacenter: option.text('NAME', 'datacenter (dc1)'),
    class: option.text('NAME', 'class of the node, for constraints of jobs (none)'),
    meta: option.list('KEY=VALUE', 'metadata of the node, for constraints of jobs; may be repeated'),
    cpu: option.text('MHZ', 'processor time of the node (all cores)'),
    memory: option.text('MIB', 'memory of the node (that of the host)'),
    disk: option.text('MIB', 'disk of the node (the free space where the directory is)'),
    reserved: option.list(
      'KIND=AMOUNT',
      'resources reserved for other programs: cpu=MHZ, memory=MIB or disk=MIB; may be repeated (none)',
    ),
    volume: option.list(
      'NAME=PATH',
      'a folder that jobs may mount: NAME=PATH, or NAME=PATH:ro for read-only; may be repeated',
    ),
    'allow-outbound': option.list('CIDR', 'private ranges that artifacts may be fetched from, may be repeated (none)'),
    config: option.text(
      'FILE',
      'file with the settings of the node (SIGNALBOX_CONFIG, else signalbox.json in the working folder)',
    ),
    'on-stop': option.text('leave|kill', 'what happens to running processes when the agent stops (leave)'),
  },
  // The other commands need no runner.
  run: async ({ options, terminal, json }) => (await import('../agent/agent.js')).runAgent({ options, terminal, json }),
});
