import { ok, okAsync, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { CommandPerformer } from '../../agent/link/node-command.js';
import { outputFor } from '../../agent/link/node-shapes.js';
import { nodeConnections, type RelaySession, relaySessions } from '../../agent/link/relay.js';
import { carryOut } from '../../channels/carry-out.js';
import { Channels } from '../../channels/channels.js';
import type { StorageError } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import { commit } from '../commit.js';
import { type BackgroundLoop, type EngineContext, ownAddress } from '../context/engine-context.js';
import { beatPause } from './perform-on-node.js';
import { removeSession, StoreSocket } from './store-socket.js';

/** The maximum number of concurrent commands from other servers. */
const mostSessions = 128;

/**
 * Lets other servers over the same store reach the nodes whose agents are connected to this one: announces the connections in the
 * store, carries out commands that other servers have stored for them, and removes abandoned sessions.
 */
export const commandRelayLoop: BackgroundLoop = {
  name: 'command-relay',
  async run(context, signal) {
    const over = new AbortController();
    const end = (): void => over.abort();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    const parts = [announce, serve, removeLeft].map((part) => part(context, over.signal));
    try {
      await Promise.all(parts);
    } finally {
      end();
      signal.removeEventListener('abort', end);
      await Promise.allSettled(parts);
    }
  },
};

/** Stores which nodes are connected here. A connection is stored once: if the agent reconnects elsewhere, its new server overwrites it. */
async function announce(context: EngineContext, signal: AbortSignal): Promise<void> {
  let announced: ReadonlyMap<string, CommandPerformer> = new Map();
  while (!signal.aborted) {
    const connected = context.agents.connections();
    if ((await write(context, announced, connected)).isOk()) {
      announced = connected;
      await context.agents.changed(connected, signal);
    } else await context.clock.sleep(second, signal);
  }
  const left = await write(context, announced, new Map());
  if (left.isErr())
    context.logger.debug({ reason: left.error.reason }, 'Withdrawing the connections of this server failed');
}

function write(
  context: EngineContext,
  before: ReadonlyMap<string, CommandPerformer>,
  now: ReadonlyMap<string, CommandPerformer>,
): ResultAsync<unknown, StorageError> {
  const { owner } = context;
  const added = [...now].flatMap(([nodeId, performer]) => (before.get(nodeId) === performer ? [] : [nodeId]));
  const gone = [...before.keys()].filter((nodeId) => !now.has(nodeId));
  if (added.length + gone.length === 0) return okAsync(undefined);
  return commit<void, never>(context, hostPrincipal, (tx) => {
    for (const NodeID of added) tx.put(nodeConnections, { NodeID, owner, address: ownAddress(context) });
    for (const nodeId of gone) {
      if (tx.get(nodeConnections, [nodeId])?.record.owner === owner) tx.remove(nodeConnections, [nodeId]);
    }
    return ok();
  });
}

/** Carries out the commands of other servers. Commands beyond the maximum get no response. */
async function serve(context: EngineContext, signal: AbortSignal): Promise<void> {
  const { storage, owner } = context;
  const serving = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    const looked = await storage.read((view) => ({
      index: view.index,
      sessions: view.list(relaySessions, { index: 'by_receiver', prefix: [owner] }).map(({ record }) => record),
    }));
    if (looked.isErr()) throw new Error(looked.error.message);
    const present = new Set(looked.value.sessions.map(({ id }) => id));
    for (const id of serving.keys()) if (!present.has(id)) serving.delete(id);
    for (const session of looked.value.sessions) {
      if (serving.has(session.id) || serving.size >= mostSessions) continue;
      serving.set(session.id, serveSession(context, session, signal));
    }
    await storage.waitForChange([relaySessions], looked.value.index, signal);
  }
  await Promise.all(serving.values());
}

async function serveSession(context: EngineContext, { id, nodeId }: RelaySession, signal: AbortSignal): Promise<void> {
  const socket = new StoreSocket(context, id, 'to');
  const stop = (): void => socket.close(1001, 'the server is stopping');
  signal.addEventListener('abort', stop, { once: true });
  const perform: CommandPerformer = (command, input, over) => context.agents.perform(nodeId, command, input, over);
  const channels = new Channels({
    socket,
    clock: context.clock,
    onOpen: (channel) => void carryOut(channel, perform, outputFor),
  });
  await channels.run();
  signal.removeEventListener('abort', stop);
  socket.close();
}

/** Removes sessions whose row has not changed for several beats: their sender is gone. Without sessions there is nothing to time. */
async function removeLeft(context: EngineContext, signal: AbortSignal): Promise<void> {
  let seen: ReadonlyMap<string, number> = new Map();
  while (!signal.aborted) {
    const looked = await context.storage.read((view) => ({
      index: view.index,
      sessions: view.list(relaySessions).map(({ record, modifyIndex }) => [record.id, modifyIndex] as const),
    }));
    if (looked.isErr()) throw new Error(looked.error.message);
    const { index, sessions } = looked.value;
    const left = sessions.filter(([id, changedAt]) => seen.get(id) === changedAt);
    seen = new Map(sessions);
    const removed = await commitRemoval(context, left);
    if (removed.isErr()) throw new Error(removed.error.message);
    if (sessions.length === left.length) await context.storage.waitForChange([relaySessions], index, signal);
    else await context.clock.sleep(3 * beatPause, signal);
  }
}

function commitRemoval(
  context: EngineContext,
  left: readonly (readonly [id: string, changedAt: number])[],
): ResultAsync<unknown, StorageError> {
  if (left.length === 0) return okAsync(undefined);
  return commit<void, never>(context, hostPrincipal, (tx) => {
    for (const [id, changedAt] of left) {
      if (tx.get(relaySessions, [id])?.modifyIndex === changedAt) removeSession(tx, id);
    }
    return ok();
  });
}
