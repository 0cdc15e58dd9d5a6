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

/** How long the server that holds the connection may take to take a command up, and how often the sender shows that it lives. */
const answerTimeout = 5 * second;
export const beatPause = 60 * second;

interface Asked {
  readonly command: NodeCommand;
  readonly input: AsyncIterable<CommandInput>;
  readonly signal: AbortSignal;
}

type Begun = Result<AsyncIterable<CommandOutput>, CommandRefused | StorageError>;

/**
 * Has the agent of a node carry out a command: over its connection to this process, or through the server over the same store that
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
        return errAsync(commandRefused('not_found', 'No path to node'));
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

/** The output, after which the session ends; it also ends with the caller's signal, if nobody takes the output. */
async function* untilEnd(outputs: AsyncIterable<CommandOutput>, socket: StoreSocket): AsyncGenerator<CommandOutput> {
  try {
    yield* outputs;
  } finally {
    socket.close();
  }
}

function silentServer({ address }: NodeConnection): CommandRefused {
  const message = `No path to node: the server ${address}, which it is connected to, does not answer`;
  return commandRefused('failed', message);
}

/** Keeps a long conversation from being taken for one that its sender has left behind. */
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
      context.logger.warn({ reason: written.error.reason }, 'A relayed command could not be kept alive');
  }
}

function put(context: EngineContext, session: RelaySession): ResultAsync<unknown, StorageError> {
  return commit<void, never>(context, hostPrincipal, (tx) => {
    tx.put(relaySessions, session);
    return ok();
  });
}
