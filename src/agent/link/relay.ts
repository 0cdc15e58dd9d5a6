import type { TaskState } from '../../scheduler/allocation.js';
import { table } from '../../shared/table.js';
import type { AllocationReport } from './node-work.js';

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

/** Maximum JSON length of the reports in one message, in characters: far below the servers' body limit in bytes, whatever the encoding. */
const longestMessage = 1_000_000;

/** How many newest events each task of a long report keeps: as many as fit. */
const fewerEvents = [5, 2, 1, 0];

/** The first reports that fit in one message: at least one, which loses older task events if it is longer than a message. */
export function reportsOfOneMessage<T extends { readonly report: AllocationReport }>(
  reports: readonly T[],
): readonly T[] {
  const fitting: T[] = [];
  let left = longestMessage;
  for (const each of reports) {
    const length = lengthOf(each.report);
    if (length > left) break;
    fitting.push(each);
    left -= length;
  }
  const [first] = reports;
  if (fitting.length > 0 || first === undefined) return fitting;
  return [{ ...first, report: shortened(first.report) }];
}

function shortened(report: AllocationReport): AllocationReport {
  let shorter = report;
  for (const kept of fewerEvents) {
    shorter = { ...report, taskStates: withNewestEvents(report.taskStates, kept) };
    if (lengthOf(shorter) <= longestMessage) break;
  }
  return shorter;
}

function withNewestEvents(states: AllocationReport['taskStates'], kept: number): AllocationReport['taskStates'] {
  const shorten = (state: TaskState): TaskState => ({
    ...state,
    Events: state.Events === null ? null : state.Events.slice(Math.max(0, state.Events.length - kept)),
  });
  return Object.fromEntries(Object.entries(states).map(([name, state]) => [name, shorten(state)]));
}

function lengthOf(report: AllocationReport): number {
  return JSON.stringify(report).length;
}
