import type { ResultAsync } from 'neverthrow';
import type { AgentProcess } from '../agent/link/agent-process.js';
import type { CommandPerformer } from '../agent/link/node-command.js';
import type {
  NodeDescription,
  NodeReport,
  NodeWorkList,
  RegisteredNode,
  ReportOutcome,
} from '../agent/link/node-work.js';
import type { TaskVariables, TaskVariablesQuery } from '../agent/link/task-variables.js';

/** The node does not exist, is down for the server or has another agent by now: the agent registers again. */
export interface UnknownNode {
  readonly type: 'node_not_found';
  /** The ID that the agent gave. */
  readonly nodeId: string;
}

/** The server will have nothing to do with this agent; asking again changes nothing. */
export interface AgentRefused {
  readonly type: 'node_refused';
  readonly message: string;
}

/** Another agent handles the node and is alive: this one may not run anything for it. */
export interface NodeTaken {
  readonly type: 'node_taken';
  readonly message: string;
}

/** The server could not be reached, or could not answer: it may be asked again later. */
export interface LinkFailed {
  readonly type: 'link_failed';
  readonly message: string;
}

/** Why a call of an agent has no answer: register again, give up, end what runs here, or ask again later. */
export type AgentLinkError = UnknownNode | AgentRefused | NodeTaken | LinkFailed;

/**
 * What the agent of a node may ask of its server, and nothing else: in the same process, or over a connection that the
 * agent holds. Every call may be repeated: the server's state after a repetition is that after the first time. `instance` says which
 * process asks (`AgentProcess`); it is absent for agents that do not say.
 */
export interface AgentLink {
  /**
   * Registers the node, or brings its description up to date, and makes it ready. The process is the node's agent from then on: calls of
   * others are answered as if the node were not known. Refused with `node_taken` while another agent of the node is alive.
   */
  register(node: NodeDescription, agent?: AgentProcess): ResultAsync<RegisteredNode, AgentLinkError>;
  /** Says that the node lives. */
  heartbeat(nodeId: string, instance?: string): ResultAsync<Pick<RegisteredNode, 'heartbeatTtl'>, AgentLinkError>;
  /**
   * The work of a node; with `after` above 0 only what has changed since that index, waiting until something has. An
   * answer without any change may come at any time. Aborting the signal ends the wait.
   */
  work(
    query: { readonly nodeId: string; readonly after: number; readonly instance?: string | undefined },
    signal: AbortSignal,
  ): ResultAsync<NodeWorkList, AgentLinkError>;
  /**
   * The variables of the store that a task's templates consider, with the rights of the task: those of its own job, and what the
   * policies for its job grant. With `known` waits until the answer is another one; an answer without a change may come at any
   * time. Aborting the signal ends the wait.
   */
  variables(query: TaskVariablesQuery, signal: AbortSignal): ResultAsync<TaskVariables, AgentLinkError>;
  /** Reports the state of allocations. Resolves when the server will not forget it. */
  report(report: NodeReport): ResultAsync<ReportOutcome, AgentLinkError>;
  /** Lets the server give commands for the node's allocations, until the function that it gives is called. */
  serve(nodeId: string, perform: CommandPerformer, instance?: string): () => void;
  /**
   * Says which functions the agent can run, until the function that it gives is called; registrations warn of others. Only for agents in the
   * engine's process, absent elsewhere.
   */
  offer?(nodeId: string, functions: readonly string[]): () => void;
  /** The node will not come back: it is down from now on, and its allocations are replaced at once. */
  leave(nodeId: string, instance?: string): ResultAsync<void, AgentLinkError>;
}
