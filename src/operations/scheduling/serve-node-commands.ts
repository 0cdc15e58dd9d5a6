import type { Principal } from '../../access/principal.js';
import { isExpired, tokens } from '../../access/tokens.js';
import type { MessageSocket } from '../../api/message-socket.js';
import { Channels } from '../../channels/channels.js';
import { second } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import { remotePerformer } from '../node-commands/remote-performer.js';
import { isAgentOf } from './node-ownership.js';

interface ServedNode {
  /** The holder of the connection, authorised for the node. */
  readonly caller: Principal;
  readonly nodeId: string;
  /** The agent process that holds the connection; undefined for agents that do not identify it. */
  readonly instance: string | undefined;
  /** Aborts when the connection has ended. */
  readonly signal: AbortSignal;
}

/** The maximum time that a connection outlives its token. */
const tokenCheckPause = 10 * second;

/**
 * Sends the commands for a node over its agent's connection, until that ends or the agent opens a newer one. Connections of
 * processes other than the node's agent are closed.
 */
export async function serveNodeCommands(
  context: EngineContext,
  node: ServedNode,
  socket: MessageSocket,
): Promise<void> {
  const owned = await context.storage.read((view) => isAgentOf(view, node.nodeId, node.instance));
  if (owned.isErr()) return socket.close(1011, 'the store failed');
  if (!owned.value) return socket.close(1008, 'the node has another agent');
  const channels = new Channels({ socket, clock: context.clock });
  const detach = context.agents.attach(node.nodeId, remotePerformer(channels, context.clock), () =>
    socket.close(1000, 'the agent holds a newer connection'),
  );
  const watching = new AbortController();
  const watched = endWithToken(context, node, socket, watching.signal);
  await channels.run();
  detach();
  watching.abort();
  await watched;
}

/** Tokens of the store are checked again at intervals. Callers authenticated by the host are not. */
async function endWithToken(
  context: EngineContext,
  { caller, nodeId }: ServedNode,
  socket: MessageSocket,
  signal: AbortSignal,
): Promise<void> {
  if (caller.node === undefined) return;
  let wasKnown = false;
  while (!signal.aborted) {
    const read = await context.storage.read((view) => view.get(tokens, [caller.accessor])?.record);
    const token = read.isOk() ? read.value : undefined;
    const fits = token?.node?.id === nodeId && !isExpired(token, context.clock.now());
    // If the store cannot be read, the check is repeated at the next interval.
    if (read.isOk() && wasKnown && !fits) return socket.close(1008, 'the token is no longer valid');
    wasKnown ||= fits;
    await context.clock.sleep(tokenCheckPause, signal);
  }
}
