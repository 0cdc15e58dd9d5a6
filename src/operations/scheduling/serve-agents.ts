import { err, ok, okAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { isExpired, tokens } from '../../access/tokens.js';
import { commandRefused } from '../../agent/link/node-command.js';
import {
  readAgentProcess,
  readIds,
  readNodeDescription,
  readReports,
  readVariablesQuery,
  type UnfitForNode,
} from '../../agent/link/node-shapes.js';
import type { AgentProcess, TaskVariablesQuery } from '../../agent/link/node-work.js';
import type { MessageSocket } from '../../api/message-socket.js';
import { Channels } from '../../channels/channels.js';
import { type InvalidRequest, invalidRequest } from '../../jobs/errors.js';
import type { UnknownNode } from '../../ports/agent-link.js';
import { type NodeNotFound, nodeNotFound } from '../../scheduler/nodes/node-errors.js';
import { second } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import { remotePerformer } from '../node-commands/remote-performer.js';
import type { CallManner } from '../operation.js';
import { secretHash } from '../records/presented-secret.js';
import type { MayWait } from '../waiting/blocking-query.js';
import { listNodeWork } from './list-node-work.js';
import { isAgentOf, type NodeClaimant } from './node-ownership.js';
import { readTaskVariables } from './read-task-variables.js';
import { heartbeatNode, leaveNode, registerNode } from './register-node.js';
import { reportAllocations } from './report-allocations.js';

/* The calls of agents in other processes: their documents are unchecked input, and a node that does not exist is that of the interface. */

interface OfAgent {
  readonly nodeId: string;
  /** The process of the agent. */
  readonly instance?: string | undefined;
}

/** `registerNode` for the node that an agent describes. */
export function registerNodeOfAgent(
  context: EngineContext,
  caller: Principal,
  { nodeId, node, agent }: { readonly nodeId: string; readonly node: unknown; readonly agent?: unknown },
) {
  return readNodeDescription(node)
    .andThen((description) => readAgentProcess(agent).map((process) => ({ description, process })))
    .mapErr(unfit)
    .andThen(({ description, process }) => ofNode(nodeId, description).map(() => ({ description, process })))
    .asyncAndThen(({ description, process }) =>
      registerNode(context, caller, description, process && claimantFrom(process)),
    );
}

/** `heartbeatNode` of an agent. */
export function heartbeatOfAgent(context: EngineContext, caller: Principal, { nodeId, instance }: OfAgent) {
  return known(heartbeatNode(context, caller, nodeId, instance));
}

/** `listNodeWork` of an agent. */
export function workOfAgent(context: EngineContext, _caller: Principal, input: OfAgent & MayWait) {
  return known(listNodeWork(context, input));
}

/** `readTaskVariables` for the query of an agent, for as long as a call waits. */
export function variablesOfAgent(
  context: EngineContext,
  _caller: Principal,
  { nodeId, query, instance }: OfAgent & { readonly query: unknown },
) {
  return readVariablesQuery(query)
    .mapErr(unfit)
    .asyncAndThen((read) => known(variablesInTime(context, { ...read, nodeId, instance })));
}

interface ReportOfAgent extends OfAgent {
  readonly reports: unknown;
  readonly ended?: unknown;
  readonly kept?: unknown;
}

/** `reportAllocations` for the reports of an agent. */
export function reportOfAgent(
  context: EngineContext,
  caller: Principal,
  { nodeId, reports, ended = [], kept = [], instance }: ReportOfAgent,
) {
  return readReports(reports)
    .andThen((read) =>
      readIds(ended, 'ended').andThen((over) =>
        readIds(kept, 'kept').map((rest) => ({ nodeId, reports: read, ended: over, kept: rest, instance })),
      ),
    )
    .mapErr(unfit)
    .asyncAndThen((report) => known(reportAllocations(context, caller, report)));
}

/** `leaveNode` of an agent. */
export function leaveOfAgent(context: EngineContext, caller: Principal, { nodeId, instance }: OfAgent) {
  return known(leaveNode(context, caller, nodeId, instance));
}

/** The connection over which an agent takes commands. */
export function commandsForAgent(
  context: EngineContext,
  caller: Principal,
  { nodeId, instance, signal }: OfAgent & Pick<CallManner, 'signal'>,
) {
  const node = { caller, nodeId, instance, signal };
  return okAsync((socket: MessageSocket) => serveNodeCommands(context, node, socket));
}

function ofNode<T extends { readonly ID: string }>(nodeId: string, description: T) {
  return description.ID === nodeId
    ? ok(description)
    : err(invalidRequest('node.ID', 'node.ID must be the node ID of the path'));
}

/** A copied folder may be on a copied host, so the boot ID counts as well. */
function claimantFrom({ instance, folder, boot = '' }: AgentProcess): NodeClaimant {
  return { instance, ...(folder === undefined ? {} : { folder: secretHash(`${boot} ${folder}`) }) };
}

/** Bounds the wait of a call whose agent is gone. */
const longestVariablesWait = 30 * second;

function variablesInTime(context: EngineContext, query: TaskVariablesQuery) {
  const over = new AbortController();
  void context.clock.sleep(longestVariablesWait, over.signal).then(() => over.abort());
  const answered = readTaskVariables(context, query, over.signal);
  void answered.then(() => over.abort());
  return answered.mapErr((error) => {
    if (error.type === 'node_refused') return { type: 'claim_refused', message: error.message } as const;
    return error.type === 'link_failed' ? commandRefused('failed', error.message) : error;
  });
}

function unfit({ field, message }: UnfitForNode): InvalidRequest {
  return invalidRequest(field, message);
}

function known<T, E extends { readonly type: string }>(
  asked: ResultAsync<T, E | UnknownNode>,
): ResultAsync<T, Exclude<E, UnknownNode> | NodeNotFound> {
  return asked.mapErr((error) => (isUnknown(error) ? nodeNotFound(error.nodeId) : (error as Exclude<E, UnknownNode>)));
}

function isUnknown(error: { readonly type: string }): error is UnknownNode {
  return error.type === 'node_not_found';
}

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
async function serveNodeCommands(context: EngineContext, node: ServedNode, socket: MessageSocket): Promise<void> {
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
