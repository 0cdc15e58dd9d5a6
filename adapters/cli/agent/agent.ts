import { tokenSecret } from '../../../src/options/option-kinds.js';
import type { Logger } from '../../../src/ports/index.js';
import { randomIds, systemClock } from '../../node/index.js';
import { createRunner, httpAgentLink, type RunnerPorts, rawExecDriver } from '../../runner/index.js';
import { isLoopback } from '../addresses.js';
import { firstSignal } from '../first-signal.js';
import { outboundFrom } from '../outbound.js';
import { readSettingsFile } from '../settings/settings-file.js';
import { Stopped } from '../stopped.js';
import { stderrLogger, type Terminal } from '../terminal.js';
import { type AgentFlags, type AgentOptions, agentOptionsFrom } from './agent-options.js';

interface AgentCommand {
  readonly options: AgentFlags & { readonly config: string | undefined };
  readonly terminal: Terminal;
  /** Print the first line as JSON. */
  readonly json: boolean;
}

/** Milliseconds after a signal for tasks to finish or to be recorded as interrupted. */
const stopGrace = 10_000;

/**
 * Runs the agent of a node until a signal. Prints `node ID is registered with URL` as its first line. An unreachable server is
 * retried; the command fails if the server refuses the node at the start or has another agent for it.
 */
export async function runAgent({ options: flags, terminal, json }: AgentCommand): Promise<number> {
  const signalled = firstSignal();
  const { environment } = terminal;
  const file = await readSettingsFile(flags.config ?? null, environment);
  const options = agentOptionsFrom(flags, { environment, file });
  const { download } = await outboundFrom(
    options.outbound,
    'start the agent with its range in --allow-outbound to allow it',
  );
  const logger = stderrLogger(terminal);
  const token = await tokenOf(options, terminal);
  warnOfPlainText(options.url, token, logger);
  const clock = systemClock();
  const { link, lost } = tellingLoss(
    httpAgentLink({ url: options.url, clock, logger, ...(token === undefined ? {} : { token }) }),
  );
  const runner = createRunner(
    { link, clock, ids: randomIds(), logger },
    {
      ...options.node,
      download,
      drivers: [rawExecDriver()],
      directory: options.directory,
      onStop: options.onStop,
    },
  );
  const refusal = (reason: string): Stopped =>
    new Stopped(`${options.url} refuses the node ${runner.nodeId}: ${reason}`);
  const outcome = await Promise.race([runner.start(), signalled]);
  if (outcome?.isErr() === true) {
    const { type, message } = outcome.error;
    throw type === 'node_refused' || type === 'node_taken' ? refusal(message) : new Stopped(message);
  }
  let reason: string | undefined;
  if (outcome !== undefined) {
    const started = { nodeId: runner.nodeId, server: options.url };
    terminal.out(
      json ? `${JSON.stringify(started)}\n` : `node ${started.nodeId} is registered with ${started.server}\n`,
    );
    reason = (await Promise.race([signalled, lost])) ?? undefined;
  }
  await runner.stop({ deadline: stopGrace });
  if (reason !== undefined) throw refusal(reason);
  return 0;
}

async function tokenOf({ tokenFile }: AgentOptions, terminal: Terminal): Promise<string | undefined> {
  const text = tokenFile === null ? (terminal.environment['SIGNALBOX_TOKEN'] ?? '') : await terminal.read(tokenFile);
  const secret = text.trim();
  if (tokenFile !== null && !tokenSecret.fits(secret))
    throw new Stopped(`${tokenFile} does not contain a secret: expected one line of visible ASCII characters`);
  return secret === '' ? undefined : secret;
}

function warnOfPlainText(url: string, token: string | undefined, logger: Logger): void {
  const { protocol, hostname } = new URL(url);
  if (token !== undefined && protocol === 'http:' && !isLoopback(hostname))
    logger.warn({ server: url }, 'The token is sent over the network unencrypted: use https');
}

/** Wraps the link to record the server's message when another agent has taken over this agent's node. */
function tellingLoss(link: RunnerPorts['link']): {
  readonly link: RunnerPorts['link'];
  readonly lost: Promise<string>;
} {
  let isTaken = false;
  let tell: (reason: string) => void = () => undefined;
  const lost = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const register: RunnerPorts['link']['register'] = (node, agent) =>
    link
      .register(node, agent)
      .map((registered) => {
        isTaken = true;
        return registered;
      })
      .mapErr((error) => {
        if (isTaken && error.type === 'node_taken') tell(error.message);
        return error;
      });
  return { link: { ...link, register }, lost };
}
