import { err, errAsync, ok, okAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { AgentProcess } from '../../agent/link/agent-process.js';
import { commandRefused } from '../../agent/link/node-command.js';
import {
  readAgentProcess,
  readIds,
  readNodeDescription,
  readReports,
  readVariablesQuery,
  type UnfitForNode,
} from '../../agent/link/node-shapes.js';
import type { TaskVariablesQuery } from '../../agent/link/task-variables.js';
import type { agentCalls } from '../../api/calls/agent-calls.js';
import type { nodeCalls } from '../../api/calls/scheduling-calls.js';
import { type InvalidRequest, invalidRequest } from '../../jobs/errors.js';
import type { UnknownNode } from '../../ports/agent-link.js';
import { type NodeNotFound, nodeNotFound } from '../../scheduler/nodes/node-errors.js';
import { second } from '../../shared/duration.js';
import { authoriseNode } from '../authorise.js';
import type { Bindings } from '../binding.js';
import type { EngineContext } from '../context/engine-context.js';
import { secretHash } from '../records/presented-secret.js';
import { listNodeWork } from './list-node-work.js';
import type { NodeClaimant } from './node-ownership.js';
import { listNodes, readNode } from './read-nodes.js';
import { readTaskVariables } from './read-task-variables.js';
import { heartbeatNode, registerNode } from './register-node.js';
import { reportAllocations } from './report-allocations.js';
import { serveNodeCommands } from './serve-node-commands.js';
import { leaveNode } from './take-node-down.js';

/** The calls of agents in other processes. Their input is validated first. */
export const agentBindings: Bindings<typeof agentCalls> = {
  register: (context, caller, { nodeId, node, agent }) =>
    readNodeDescription(node)
      .andThen((description) => readAgentProcess(agent).map((process) => ({ description, process })))
      .mapErr(unfit)
      .andThen(({ description, process }) => ofNode(nodeId, description).map(() => ({ description, process })))
      .asyncAndThen(({ description, process }) =>
        registerNode(context, caller, description, process && claimantFrom(process)),
      ),
  heartbeat: (context, caller, { nodeId, instance }) => known(heartbeatNode(context, caller, nodeId, instance)),
  work: (context, caller, { nodeId, instance }, { waiting }) =>
    known(listNodeWork(context, caller, { nodeId, instance }, waiting)),
  variables: (context, caller, { nodeId, query, instance }) =>
    readVariablesQuery(query)
      .mapErr(unfit)
      .asyncAndThen((read) => known(variablesInTime(context, caller, { ...read, nodeId, instance }))),
  report: (context, caller, { nodeId, reports, ended = [], kept = [], instance }) =>
    readReports(reports)
      .andThen((read) =>
        readIds(ended, 'ended').andThen((over) =>
          readIds(kept, 'kept').map((rest) => ({ nodeId, reports: read, ended: over, kept: rest, instance })),
        ),
      )
      .mapErr(unfit)
      .asyncAndThen((report) => known(reportAllocations(context, caller, report))),
  leave: (context, caller, { nodeId, instance }) => known(leaveNode(context, caller, nodeId, instance)),
  commands: (context, caller, { nodeId, instance }, { signal }) => {
    const allowed = authoriseNode(caller, nodeId);
    if (allowed.isErr()) return errAsync(allowed.error);
    return okAsync((socket) => serveNodeCommands(context, { caller, nodeId, instance, signal }, socket));
  },
};

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

function variablesInTime(context: EngineContext, caller: Principal, query: TaskVariablesQuery) {
  const over = new AbortController();
  void context.clock.sleep(longestVariablesWait, over.signal).then(() => over.abort());
  const answered = readTaskVariables(context, caller, query, over.signal);
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

/** The operations of the calls of nodes. */
export const nodeBindings: Bindings<typeof nodeCalls> = {
  list: (context, caller, input, { waiting }) => listNodes(context, caller, { ...input, waiting }),
  read: (context, caller, input, { waiting }) => readNode(context, caller, input, waiting),
};
