import { table } from '../../shared/table.js';

/*
 * Relays commands between several servers over one store. The server that a node's agent is connected to announces it here; another server
 * sends commands for that node as messages in the store.
 */

/** The server that holds the connection of a node's agent. The row of a killed server remains until the agent reconnects. */
export interface NodeConnection {
  readonly NodeID: string;
  /** ID of its engine, as in leases. */
  readonly owner: string;
  /** Host and port of the server, for messages. */
  readonly address: string;
}

export const nodeConnections = table<NodeConnection>('node_connections', ({ NodeID }) => [NodeID]);

/** One command on its way to the server that can reach the node. Deleting this row ends the conversation for both sides. */
export interface RelaySession {
  readonly id: string;
  readonly nodeId: string;
  /** The engine that relays the command to the node. */
  readonly to: string;
  /** Increases while the sending engine is alive. */
  readonly beat: number;
}

export const relaySessions = table<RelaySession>('relay_sessions', ({ id }) => [id], {
  by_receiver: { version: 1, key: ({ to }) => [to] },
});

/** `from`: the engine that sends the command; `to`: the engine that holds the connection. */
export type RelayEnd = 'from' | 'to';

/** A message that the peer has not read yet. */
interface RelayMessage {
  readonly session: string;
  readonly sender: RelayEnd;
  /** Sequence number of the sender's message, from 1. */
  readonly number: number;
  /** Base64, encrypted if the host has a cipher: input and output of commands may contain secrets. */
  readonly data: string;
}

export const relayMessages = table<RelayMessage>('relay_messages', ({ session, sender, number }) => [
  session,
  sender,
  number,
]);
