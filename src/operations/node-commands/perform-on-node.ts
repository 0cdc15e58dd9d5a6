import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  commandRefused,
  type NodeCommand,
} from '../../agent/link/node-command.js';
import { type NodeConnection, nodeConnections, type RelaySession, relaySessions } from '../../agent/link/relay.js';
import { Channels } from '../../channels/channels.js';
import type { StorageError } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { remotePerformer } from './remote-performer.js';
import { StoreSocket } from './store-socket.js';

/** How long the server with the connection may take to accept a command, and the interval of the sender's signs of life. */
const answerTimeout = 5 * second;
export const beatPause = 60 * second;

const noPath = 'No path to node';

/** Whether the node's agent was not connected to any server: it may be soon, after a restart of one of them. */
export function isUnconnected(error: object): boolean {
  return 'message' in error && String(error.message).startsWith(noPath);
}

interface Asked {
  readonly command: NodeCommand;
  readonly input: AsyncIterable<CommandInput>;
  readonly signal: AbortSignal;
}

type Begun = Result<AsyncIterable<CommandOutput>, CommandRefused | StorageError>;

/**
 * Sends a command to the agent of a node: over its connection to this process, or through the server over the same store that
 * holds its connection.
 */
export function performOnNode(
  context: EngineContext,
  nodeId: string,
  asked: Asked,
): ResultAsync<AsyncIterable<CommandOutput>, CommandRefused | StorageError> {
  if (context.agents.has(nodeId)) return context.agents.perform(nodeId, asked.command, asked.input, asked.signal);
  return context.storage
    .read((view) => view.get(nodeConnections, [nodeId])?.record)
    .andThen((connection): ResultAsync<AsyncIterable<CommandOutput>, CommandRefused | StorageError> => {
      if (connection === undefined || connection.owner === context.owner) {
        return errAsync(commandRefused('not_found', noPath));
      }
      return new ResultAsync(relay(context, connection, asked));
    });
}

async function relay(context: EngineContext, connection: NodeConnection, asked: Asked): Promise<Begun> {
  const session = { id: context.ids.next('uuid'), nodeId: connection.NodeID, to: connection.owner, beat: 0 };
  const opened = await put(context, session);
  if (opened.isErr()) return err(opened.error);
  const socket = new StoreSocket(context, session.id, 'from');
  const leave = (): void => socket.close();
  asked.signal.addEventListener('abort', leave, { once: true });
  if (asked.signal.aborted) leave();
  void socket.closed.then(() => asked.signal.removeEventListener('abort', leave));
  const channels = new Channels({ socket, clock: context.clock });
  const running = channels.run();
  void beats(context, session, running);
  const begun = remotePerformer(channels, context.clock)(asked.command, asked.input, asked.signal);
  await context.clock.sleep(answerTimeout, socket.heard);
  const isSilent = !socket.heard.aborted;
  if (isSilent) socket.close();
  const outputs = await begun;
  if (isSilent) return err(silentServer(connection));
  if (outputs.isErr()) socket.close();
  return outputs.map((all) => untilEnd(all, socket));
}

/** Passes the output on and ends the session after it, or when the caller's signal aborts before the output is read. */
async function* untilEnd(outputs: AsyncIterable<CommandOutput>, socket: StoreSocket): AsyncGenerator<CommandOutput> {
  try {
    yield* outputs;
  } finally {
    socket.close();
  }
}

function silentServer({ address }: NodeConnection): CommandRefused {
  const message = `${noPath}: its server ${address} does not respond`;
  return commandRefused('failed', message);
}

/** Shows during a long conversation that its sender is alive. */
async function beats(context: EngineContext, session: RelaySession, running: Promise<void>): Promise<void> {
  const over = new AbortController();
  void running.then(() => over.abort());
  for (let beat = 1; ; beat += 1) {
    await context.clock.sleep(beatPause, over.signal);
    if (over.signal.aborted) return;
    const written = await commit<void, never>(context, hostPrincipal, (tx) => {
      if (tx.get(relaySessions, [session.id]) !== undefined) tx.put(relaySessions, { ...session, beat });
      return ok();
    });
    if (written.isErr())
      context.logger.warn({ reason: written.error.reason }, 'Keeping a relayed command alive failed');
  }
}

function put(context: EngineContext, session: RelaySession): ResultAsync<unknown, StorageError> {
  return commit<void, never>(context, hostPrincipal, (tx) => {
    tx.put(relaySessions, session);
    return ok();
  });
}
