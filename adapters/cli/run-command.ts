import { type ConnectOptions, connect, SignalboxError } from '../../src/client/index.js';
import { messageOf } from '../../src/shared/values.js';
import { serverAddress } from './addresses.js';
import {
  type Command,
  commandHelp,
  generalHelp,
  type Invocation,
  type RawRequest,
  topicHelp,
} from './command-line/command.js';
import { adviceForCommand, translateNomadCommand } from './command-line/nomad-commands.js';
import { optionsOf, readArguments, withOptions } from './command-line/read-arguments.js';
import { commands } from './commands/index.js';
import { didYouMean } from './did-you-mean.js';
import { localCommands, settingsHelp } from './local-commands.js';
import { inLines } from './output/tables.js';
import { Stopped } from './stopped.js';
import type { Terminal } from './terminal.js';

/** Runs one command line and returns the exit code: 0 success, 1 failure, 2 misuse. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    if (!(error instanceof Stopped || error instanceof SignalboxError)) throw error;
    // Messages of servers are untrusted.
    const message = error instanceof Stopped ? error.message : inLines(error.message);
    terminal.error(`signalbox: ${message}${hintFor(error, terminal)}\n`);
    return error instanceof Stopped ? error.exitCode : 1;
  }
}

/** A hint for the usual causes of a missing right or an unknown path. */
function hintFor(error: Error, { environment }: Terminal): string {
  if (!(error instanceof SignalboxError)) return '';
  if (error.type === 'refused' && error.message === 'there is no such path') {
    return '; the notification interface of a server with upstream names is at --notifications-base /api/v2';
  }
  if (error.type !== 'permission_denied') return '';
  return (environment['SIGNALBOX_TOKEN'] ?? '') === ''
    ? '; no token was sent: set SIGNALBOX_TOKEN'
    : '; the token in SIGNALBOX_TOKEN is unknown, has expired or lacks the right';
}

async function dispatch(given: readonly string[], terminal: Terminal): Promise<number> {
  const args = translateNomadCommand(given);
  const [first, ...rest] = args;
  if (first === undefined) {
    terminal.out(generalHelp(commands));
    return 2;
  }
  if (isHelp(first)) return help(rest, terminal);
  if (/^(--?)?version$/.test(first)) {
    terminal.out(`signalbox ${productVersion}\n`);
    return 0;
  }
  const own = await localCommands.get(first)?.();
  if (own === undefined) return runNamed(args, terminal);
  return rest.some(isHelp) ? helpFor(own.usage, terminal) : own.run(rest, terminal);
}

async function runNamed(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = commands.find(({ words }) => words.split(' ').every((word, at) => args[at] === word));
  if (command === undefined && asksForTopic(args)) return help(args, terminal);
  if (command === undefined) throw unknownCommand(args);
  const rest = args.slice(command.words.split(' ').length);
  if (withOptions(command, rest).some((text) => isHelp(text) && text !== 'help')) {
    return helpFor(commandHelp(command, optionsOf(command)), terminal);
  }
  const invocation = invocationOf(command, rest, terminal, await socketsFor(command));
  return command.run(invocation, ...invocation.parameters);
}

type Sockets = Pick<ConnectOptions, 'WebSocket'>;

/** The most bytes of a received message; output of commands arrives in chunks of a few kilobytes. */
const longestMessage = 1024 * 1024;

/** Loads the WebSocket library only for commands that need it. */
async function socketsFor({ sockets }: Command): Promise<Sockets> {
  if (sockets !== true) return {};
  const { boundedWebSocket } = await import('../runner/http-agent-link.js');
  return { WebSocket: await boundedWebSocket(longestMessage) };
}

function invocationOf(command: Command, args: readonly string[], terminal: Terminal, sockets: Sockets): Invocation {
  const { parameters, options } = readArguments(command, args);
  const { environment } = terminal;
  const namespace = textOf(options['namespace']) ?? environment['SIGNALBOX_NAMESPACE'];
  const address = textOf(options['address']) ?? textOf(environment['SIGNALBOX_ADDR']);
  return {
    parameters,
    options: options as Invocation['options'],
    terminal,
    json: options['json'] === true,
    inNamespace: namespace === undefined ? {} : { namespace },
    send: (path, request) =>
      send(`${withoutEndSlash(checked(address))}${path}`, environment['SIGNALBOX_TOKEN'], request),
    get box() {
      const base = textOf(options['notifications-base']) ?? textOf(environment['SIGNALBOX_NOTIFICATIONS_BASE']);
      return serverAt(address, {
        base: checkedBase(base),
        token: environment['SIGNALBOX_TOKEN'],
        sockets,
      });
    },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function serverAt(
  address: string | undefined,
  { base, token, sockets }: { base: string | undefined; token: string | undefined; sockets: Sockets },
) {
  return connect({
    url: checked(address),
    ...sockets,
    ...(base === undefined ? {} : { notificationsPath: base }),
    ...(token === undefined || token === '' ? {} : { token }),
  });
}

function checked(address = 'http://127.0.0.1:4646'): string {
  const server = serverAddress(address);
  if ('url' in server) return server.url;
  throw new Stopped(`the address must be a URL such as http://127.0.0.1:4646, not ${server.shown}`, 2);
}

function checkedBase(base: string | undefined): string | undefined {
  if (base === undefined || /^\/[^?#\s]*$/.test(base)) return base;
  throw new Stopped(`--notifications-base takes a path such as /api/v2, not ${JSON.stringify(base.slice(0, 60))}`, 2);
}

async function send(url: string, token: string | undefined, { method, headers, body }: RawRequest): Promise<Response> {
  const authorised = token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` };
  try {
    return await fetch(url, {
      method,
      headers: { ...authorised, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Stopped(`no answer from ${url}: ${messageOf(cause)}`);
  }
}

function withoutEndSlash(text: string): string {
  return text.replace(/\/+$/, '');
}

function isHelp(text: string): boolean {
  return text === 'help' || text === '-h' || text === '--help' || text === '-help';
}

/** Whether it is a topic followed by a help option: `node --help`, `node meta -h`. */
function asksForTopic(args: readonly string[]): boolean {
  const words = args.slice(0, args.findIndex(isHelp)).join(' ');
  return args.some(isHelp) && commands.some((command) => command.words.startsWith(`${words} `));
}

async function help([topic]: readonly string[], terminal: Terminal): Promise<number> {
  if (topic === undefined) return helpFor(generalHelp(commands), terminal);
  if (topic === 'settings') return helpFor(await settingsHelp(), terminal);
  const own = await localCommands.get(topic)?.();
  if (own !== undefined) return helpFor(own.usage, terminal);
  const text = topicHelp(topic, commands);
  if (!commands.some(({ words }) => words.split(' ')[0] === topic)) throw unknownCommand([topic]);
  return helpFor(text, terminal);
}

function helpFor(text: string, terminal: Terminal): number {
  terminal.out(text);
  return 0;
}

/** The error for an unknown command; lists the commands of its topic if there is one. */
function unknownCommand(args: readonly string[]): Stopped {
  const absent = adviceForCommand(args);
  if (absent !== undefined) return new Stopped(`there is no command "${absent.words}": ${absent.advice}`, 2);
  const [topic = '', word] = args;
  const ofTopic = commands.filter(({ words }) => words.split(' ')[0] === topic);
  const known = ofTopic.length > 0;
  const text = known ? topicHelp(topic, commands) : 'signalbox --help lists the commands\n';
  if (known && word === undefined) return new Stopped(`${topic} needs the name of a command\n\n${text}`, 2);
  if (!known && topic.startsWith('-')) {
    return new Stopped(`options such as ${topic.slice(0, 60)} go after the command\n\n${text}`, 2);
  }
  const given = args.slice(0, known ? 2 : 1).join(' ');
  const names = known
    ? ofTopic.map(({ words }) => words)
    : [...commands.flatMap(({ words }) => words.split(' ', 1)), ...localCommands.keys()];
  return new Stopped(`there is no command "${given.slice(0, 60)}"${didYouMean(given, names)}\n\n${text}`, 2);
}

/** The version in package.json; a test keeps the two equal. */
const productVersion = '0.1.0';
