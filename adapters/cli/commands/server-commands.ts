import { type Command, command } from '../command-line/command.js';
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

/** `signalbox agent`: runs jobs on this host for a server elsewhere, until a signal. */
export const agent = command({
  usage: 'agent',
  summary: 'run the jobs of a server on this host; stopped by SIGTERM or SIGINT',
  local: true,
  options: {
    server: { type: 'text', value: 'URL', summary: 'the server (SIGNALBOX_ADDR, else http://127.0.0.1:4646)' },
    'token-file': {
      type: 'text',
      value: 'FILE',
      summary: 'a file with the secret of a node token (SIGNALBOX_TOKEN holds the secret itself)',
    },
    driver: { type: 'list', value: 'NAME', summary: 'how tasks are run, may be repeated: raw_exec (raw_exec)' },
    directory: {
      type: 'text',
      value: 'PATH',
      summary: 'directory of the allocations, used by one agent at a time; created if missing (./signalbox-agent)',
    },
    'node-id': {
      type: 'text',
      value: 'UUID',
      summary: 'ID of the node (generated at the first start, kept in the directory)',
    },
    name: { type: 'text', value: 'NAME', summary: 'name of the node (the name of the host)' },
    pool: { type: 'text', value: 'POOL', summary: 'node pool; the token must be for it (default)' },
    datacenter: { type: 'text', value: 'NAME', summary: 'datacenter (dc1)' },
    class: { type: 'text', value: 'NAME', summary: 'class of the node, for constraints of jobs (none)' },
    meta: {
      type: 'list',
      value: 'KEY=VALUE',
      summary: 'metadata of the node, for constraints of jobs; may be repeated',
    },
    cpu: { type: 'text', value: 'MHZ', summary: 'processor time of the node (all cores)' },
    memory: { type: 'text', value: 'MIB', summary: 'memory of the node (that of the host)' },
    disk: { type: 'text', value: 'MIB', summary: 'disk of the node (the free space where the directory is)' },
    reserved: {
      type: 'list',
      value: 'KIND=AMOUNT',
      summary: 'resources reserved for other programs: cpu=MHZ, memory=MIB or disk=MIB; may be repeated (none)',
    },
    volume: {
      type: 'list',
      value: 'NAME=PATH',
      summary: 'a folder that jobs may mount: NAME=PATH, or NAME=PATH:ro for read-only; may be repeated',
    },
    'allow-outbound': {
      type: 'list',
      value: 'CIDR',
      summary: 'private ranges that artifacts may be fetched from, may be repeated (none)',
    },
    config: {
      type: 'text',
      value: 'FILE',
      summary: 'file with the settings of the node (SIGNALBOX_CONFIG, else signalbox.json in the working folder)',
    },
    'on-stop': {
      type: 'text',
      value: 'leave|kill',
      summary: 'what happens to running processes when the agent stops (leave)',
    },
  },
  // The other commands need no runner.
  run: async ({ options, terminal, json }) => (await import('../agent/agent.js')).runAgent({ options, terminal, json }),
});
