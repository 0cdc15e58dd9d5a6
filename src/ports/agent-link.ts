import type { ResultAsync } from 'neverthrow';
import type { CommandPerformer } from '../agent/link/node-command.js';
import type {
  AgentProcess,
  NodeDescription,
  NodeReport,
  NodeWorkList,
  RegisteredNode,
  ReportOutcome,
  TaskVariables,
  TaskVariablesQuery,
} from '../agent/link/node-work.js';

/** The node does not exist, is marked down, or has been taken over by another agent: the agent registers again. */
export interface UnknownNode {
  readonly type: 'node_not_found';
  /** The ID that the agent gave. */
  readonly nodeId: string;
}

/** The server rejects this agent permanently; a retry cannot succeed. */
export interface AgentRefused {
  readonly type: 'node_refused';
  readonly message: string;
}

/** Another live agent owns the node: this one must not run anything for it. */
export interface NodeTaken {
  readonly type: 'node_taken';
  readonly message: string;
}

/** The server could not be reached, or could not answer: retry later. */
export interface LinkFailed {
  readonly type: 'link_failed';
  readonly message: string;
}

/** Why a call of an agent failed: register again, give up, stop all tasks here, or retry later, in this order. */
export type AgentLinkError = UnknownNode | AgentRefused | NodeTaken | LinkFailed;

/**
 * Everything that a node's agent may call on its server: in the same process, or over a connection that the
 * agent holds. Every call is idempotent. `instance` identifies the calling process (`AgentProcess`); agents may
 * omit it.
 */
export interface AgentLink {
  /**
   * Registers the node, or updates its description, and makes it ready. From then on the process is the node's agent: calls of
   * others get `UnknownNode`. Refused with `node_taken` while another agent of the node is alive.
   */
  register(node: NodeDescription, agent?: AgentProcess): ResultAsync<RegisteredNode, AgentLinkError>;
  /** Sends a heartbeat. */
  heartbeat(nodeId: string, instance?: string): ResultAsync<Pick<RegisteredNode, 'heartbeatTtl'>, AgentLinkError>;
  /**
   * The work of a node. With `after` above 0, waits for a change after that index and returns the changes only; it may return
   * without changes at any time. Aborting the signal ends the wait.
   */
  work(
    query: { readonly nodeId: string; readonly after: number; readonly instance?: string | undefined },
    signal: AbortSignal,
  ): ResultAsync<NodeWorkList, AgentLinkError>;
  /**
   * The stored variables that a task's templates use, read with the task's rights: its job's variables, and those that the
   * policies for its job grant. With `known`, waits until the answer changes; it may return an unchanged answer at any
   * time. Aborting the signal ends the wait.
   */
  variables(query: TaskVariablesQuery, signal: AbortSignal): ResultAsync<TaskVariables, AgentLinkError>;
  /** Reports the state of allocations. Resolves when the server has stored it. */
  report(report: NodeReport): ResultAsync<ReportOutcome, AgentLinkError>;
  /** Accepts commands from the server for the node's allocations until the returned function is called. */
  serve(nodeId: string, perform: CommandPerformer, instance?: string): () => void;
  /**
   * Declares the functions that the agent can run, until the returned function is called; registering a job with any other gives a
   * warning. Only for agents in the engine's process, absent elsewhere.
   */
  offer?(nodeId: string, functions: readonly string[]): () => void;
  /** The node will not return: it is marked down, and its allocations are replaced immediately. */
  leave(nodeId: string, instance?: string): ResultAsync<void, AgentLinkError>;
}
