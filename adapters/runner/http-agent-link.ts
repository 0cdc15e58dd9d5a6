import type { CommandPerformer } from '../../src/agent/link/node-command.js';
import { outputFor } from '../../src/agent/link/node-shapes.js';
import type { NodeReport } from '../../src/agent/link/node-work.js';
import { carryOut } from '../../src/channels/carry-out.js';
import { Channels } from '../../src/channels/channels.js';
import { type Client, type ConnectOptions, connect } from '../../src/client/index.js';
import { checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { amount, clock, logger as loggerKind, optional, text, textLike } from '../../src/options/option-kinds.js';
import type { AgentLink, AgentLinkError } from '../../src/ports/agent-link.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Logger } from '../../src/ports/logger.js';
import { stated } from '../../src/shared/values.js';

type WebSocketConstructor = NonNullable<ConnectOptions['WebSocket']>;

/** The WebSocket of the package `ws`, for every version of Node. Messages longer than `maxPayload` bytes close the socket. */
export async function boundedWebSocket(maxPayload: number): Promise<WebSocketConstructor> {
  const { WebSocket } = await import('ws');
  return class extends WebSocket {
    constructor(url: string) {
      super(url, { maxPayload, perMessageDeflate: false, handshakeTimeout: 10_000 });
    }
  } as unknown as WebSocketConstructor;
}

/** How an agent reaches its server. */
export interface HttpAgentLinkOptions {
  /** The URL of the server, including its mount path if it has one: `https://jobs.example.org`. */
  readonly url: string;
  /** The secret of a node token. Not needed if the server runs with open access. */
  readonly token?: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Timeout of a request in milliseconds; default: 30 seconds. */
  readonly timeout?: number;
}

const optionTable: OptionTable<HttpAgentLinkOptions> = {
  url: textLike(/^https?:\/\//i, 'a URL such as https://jobs.example.org'),
  token: optional(text),
  clock,
  logger: optional(loggerKind),
  timeout: optional(amount),
};

/** The most bytes of a received message: messages of channels are shorter. */
const longestMessage = 128 * 1024;

/** How long the server may hold a blocking query, in milliseconds. */
const longestAnswer = 30_000;
/** The `wait` of a blocking query for work; after a timeout the next query follows at once. */
const workWait = 30_000;
const shortestPause = 500;
const longestPause = 15_000;
/** A connection that lasted this many milliseconds resets the growing pause before the next one. */
const longEnough = 60_000;

/**
 * The link of an agent to a server over HTTP: requests for its own calls, and one WebSocket, which it opens and keeps open,
 * for commands from the server. The agent's host needs no open port.
 */
export function httpAgentLink(options: HttpAgentLinkOptions): AgentLink {
  checkOptions('httpAgentLink', options, optionTable);
  const { url, token, timeout, logger } = options;
  const server: ConnectOptions = { url, ...stated({ token, timeout }) };
  const box = connect(server);
  const patient = connect({ ...server, timeout: longestAnswer + (timeout ?? longestAnswer) });
  const link: AgentLink = {
    register: (node, agent) =>
      box.agents.register(node.ID, node, agent === undefined ? {} : { agent }).mapErr(linkError(node.ID)),
    heartbeat: (nodeId, instance) => box.agents.heartbeat(nodeId, by(instance)).mapErr(linkError(nodeId)),
    work: ({ nodeId, after, instance }, signal) =>
      box.agents
        .work(nodeId, { ...by(instance), ...(after > 0 ? { index: after, wait: workWait } : {}), signal })
        .map(({ value }) => value)
        .mapErr(linkError(nodeId)),
    variables: ({ nodeId, instance, ...query }, signal) =>
      patient.agents.variables(nodeId, query, { ...by(instance), signal }).mapErr(linkError(nodeId)),
    report: ({ nodeId, reports, instance, ...further }: NodeReport) =>
      box.agents.report(nodeId, reports, { ...by(instance), ...further }).mapErr(linkError(nodeId)),
    serve: (nodeId, perform, instance) => {
      const over = new AbortController();
      keepServing(server, options, { nodeId, instance, perform, signal: over.signal }).catch((error: unknown) => {
        options.logger?.error({ error: String(error) }, 'The agent cannot receive commands from the server');
      });
      return () => over.abort();
    },
    leave: (nodeId, instance) =>
      box.agents
        .leave(nodeId, by(instance))
        .map(() => undefined)
        .mapErr(linkError(nodeId)),
  };
  return watchedLink(link, url, logger);
}

function by(instance: string | undefined): { readonly instance?: string } {
  return instance === undefined ? {} : { instance };
}

interface Served {
  readonly nodeId: string;
  readonly instance: string | undefined;
  readonly perform: CommandPerformer;
  readonly signal: AbortSignal;
}

/** Reopens the connection for commands whenever it ends, with growing pauses while connections are short-lived. */
async function keepServing(
  server: ConnectOptions,
  { clock, logger }: HttpAgentLinkOptions,
  served: Served,
): Promise<void> {
  const box = connect({ ...server, WebSocket: await boundedWebSocket(longestMessage) });
  let pause = shortestPause;
  let failures = 0;
  while (!served.signal.aborted) {
    const begun = clock.monotonic();
    const ended = await serveOnce(box, clock, served);
    if (served.signal.aborted) return;
    const lasted = clock.monotonic() - begun;
    failures = lasted < pause ? failures + 1 : 1;
    if (lasted >= longEnough) pause = shortestPause;
    // Of consecutive failures, only the first is a warning.
    const fields = { server: server.url, reason: ended };
    if (failures === 1) logger?.warn(fields, 'The connection for commands was lost; reconnecting');
    else logger?.debug(fields, 'The connection for commands could not be opened');
    // Jitter, so that agents that lost the same server do not all reconnect together.
    await clock.sleep(pause * (0.75 + Math.random() / 2), served.signal);
    pause = Math.min(pause * 2, longestPause);
  }
}

/** Returns why the connection ended. */
async function serveOnce(box: Client, clock: Clock, { nodeId, instance, perform, signal }: Served): Promise<string> {
  const opened = await box.agents.commands(nodeId, { ...by(instance), signal });
  if (opened.isErr()) return messageOf(opened.error);
  const socket = opened.value;
  const channels = new Channels({ socket, clock, onOpen: (channel) => void carryOut(channel, perform, outputFor) });
  await channels.run();
  const stopped = await Promise.race([socket.closed, clock.sleep(shortestPause, signal)]);
  return stopped?.reason || 'the connection was lost';
}

type CallFault = { readonly type: string; readonly message?: string };

/** A refusal by the server is final; all other faults may be temporary. */
function linkError(nodeId: string): (error: CallFault) => AgentLinkError {
  return (error) => {
    switch (error.type) {
      case 'node_not_found':
        return { type: 'node_not_found', nodeId };
      case 'permission_denied':
        return { type: 'node_refused', message: 'the token is invalid or not for this node' };
      case 'node_taken':
        return { type: 'node_taken', message: messageOf(error) };
      case 'claim_refused':
      case 'invalid_request':
      case 'bad_request':
        return { type: 'node_refused', message: messageOf(error) };
      default:
        return { type: 'link_failed', message: messageOf(error) };
    }
  };
}

function messageOf({ type, message }: CallFault): string {
  return message ?? type;
}

/** Wraps a link so that it logs once when the server stops answering or refuses the agent, and when it recovers. */
function watchedLink(link: AgentLink, server: string, logger: Logger | undefined): AgentLink {
  if (logger === undefined) return link;
  let reported = '';
  const over = (): void => {
    if (reported !== '') logger.info({ server }, 'The server answers the agent again');
    reported = '';
  };
  const failed = (error: { readonly type: string; readonly message?: string }): void => {
    // "Unknown node" is a normal answer: the agent then registers the node.
    if (error.type === 'node_not_found') over();
    if (error.type === 'node_not_found' || reported === error.type) return;
    reported = error.type;
    const what = error.type === 'node_refused' ? 'refuses the agent' : 'does not answer the agent';
    logger.warn({ server, error: error.message ?? error.type }, `The server ${what}; retrying`);
  };
  return {
    ...link,
    // The registration logs its own failures.
    register: (node, agent) => link.register(node, agent).andTee(over),
    heartbeat: (nodeId, instance) => link.heartbeat(nodeId, instance).andTee(over).orTee(failed),
    report: (report) => link.report(report).andTee(over).orTee(failed),
  };
}
