import { ResultAsync } from 'neverthrow';
import type { ClaimRefused, PermissionDenied } from './access/allows.js';
import { hostPrincipal } from './access/principal.js';
import type { AgentProcess, NodeWorkList } from './agent/link/node-work.js';
import { loadOperations, withOperations } from './local-transport.js';
import type { EngineContext } from './operations/context/engine-context.js';
import { secretHash } from './operations/records/presented-secret.js';
import type { NodeClaimant } from './operations/scheduling/node-ownership.js';

import type { AgentLink, AgentLinkError } from './ports/agent-link.js';
import type { Clock } from './ports/clock.js';
import type { Ids } from './ports/ids.js';
import type { Logger } from './ports/logger.js';
import type { StorageError } from './ports/storage.js';
import { day } from './shared/duration.js';

/** The context of a node's agent. */
export interface AgentPorts {
  /** The agent's connection to its server. */
  readonly link: AgentLink;
  /** The agent's clock. */
  readonly clock: Clock;
  /** New identifiers and random numbers. */
  readonly ids: Ids;
  /** Receives log entries for the operators of the host. */
  readonly logger: Logger;
}

/** Options of the link of an in-process agent. */
export interface AgentPortsOptions {
  /**
   * `false` if no other process uses the store: the node counts as alive while its agent runs, and no heartbeat is stored
   * every few seconds. An agent that ends without deregistering makes the node silent. `true` when absent.
   */
  readonly heartbeats?: boolean;
}

/** The context of an agent in the engine's own process: linked to the engine, on the engine's clock. */
export function agentPorts(context: EngineContext, { heartbeats = true }: AgentPortsOptions = {}): AgentPorts {
  const { clock, ids, logger } = context;
  const link = agentLink(context);
  return { link: heartbeats ? link : withoutHeartbeats(context, link), clock, ids, logger };
}

/** In-process agents get a very long TTL and need no heartbeat. */
const rarely = 3 * day;

/** No other process uses the store, so any agent of an earlier process has ended, whatever its folder was. */
const onlyProcess = 'the only process on the store';

function withoutHeartbeats(context: EngineContext, link: AgentLink): AgentLink {
  return {
    ...link,
    register: (node, agent) =>
      link
        .register(node, context.ownNodes.has(node.ID) ? agent : agent && { ...agent, folder: onlyProcess })
        .map((registered) => ({ ...registered, heartbeatTtl: rarely })),
    heartbeat: (nodeId, instance) => link.heartbeat(nodeId, instance).map(() => ({ heartbeatTtl: rarely })),
    serve: (nodeId, perform, instance) => {
      const stop = link.serve(nodeId, perform, instance);
      context.ownNodes.add(nodeId);
      return () => {
        stop();
        context.ownNodes.delete(nodeId);
        // From now on the node counts as silent. After a deregistration it is down already.
        void link.heartbeat(nodeId, instance).then((heard) => {
          if (heard.isErr() && heard.error.type !== 'node_not_found')
            context.logger.warn({ node: nodeId, error: heard.error.message }, 'Recording the end of an agent failed');
        });
      };
    },
  };
}

/** The folder is on the same host as the store, so the boot ID is not needed. */
function claimantFrom({ instance, folder }: AgentProcess): NodeClaimant {
  return { instance, ...(folder === undefined ? {} : { folder: secretHash(folder) }) };
}

/** The link of an agent in the engine's own process. */
export function agentLink(context: EngineContext): AgentLink {
  return {
    register: (node, agent) =>
      withOperations(({ registerNode }) =>
        registerNode(context, hostPrincipal, node, agent && claimantFrom(agent)).mapErr(linkError),
      ),
    heartbeat: (nodeId, instance) =>
      withOperations(({ heartbeatNode }) => heartbeatNode(context, hostPrincipal, nodeId, instance).mapErr(linkError)),
    work: (query, signal) => new ResultAsync(waitForWork(context, query, signal)).mapErr(linkError),
    variables: (query, signal) =>
      withOperations(({ readTaskVariables }) => readTaskVariables(context, query, signal).mapErr(linkError)),
    report: (report) =>
      withOperations(({ reportAllocations }) => reportAllocations(context, hostPrincipal, report).mapErr(linkError)),
    serve: (nodeId, perform) => context.agents.attach(nodeId, perform),
    offer: (nodeId, functions) => {
      context.functions.set(nodeId, functions);
      return () => void context.functions.delete(nodeId);
    },
    leave: (nodeId, instance) =>
      withOperations(({ leaveNode }) =>
        leaveNode(context, hostPrincipal, nodeId, instance)
          .map(() => undefined)
          .mapErr(linkError),
      ),
  };
}

async function waitForWork(
  context: EngineContext,
  {
    nodeId,
    after,
    instance,
  }: { readonly nodeId: string; readonly after: number; readonly instance?: string | undefined },
  signal: AbortSignal,
) {
  const { listNodeWork } = await loadOperations();
  let cancel: () => void = () => undefined;
  const abort = (): void => cancel();
  signal.addEventListener('abort', abort);
  const listed = await listNodeWork(context, {
    nodeId,
    instance,
    waiting: {
      after,
      isPatient: true,
      whenCancelled: (cancelWait) => {
        cancel = cancelWait;
        if (signal.aborted) cancelWait();
      },
    },
  });
  signal.removeEventListener('abort', abort);
  return listed.map(({ value }): NodeWorkList => value);
}

function linkError(error: PermissionDenied | ClaimRefused | AgentLinkError | StorageError): AgentLinkError {
  switch (error.type) {
    case 'node_not_found':
    case 'node_refused':
    case 'node_taken':
    case 'link_failed':
      return error;
    case 'permission_denied':
      return { type: 'node_refused', message: 'The server does not allow this agent to run nodes: use a node token' };
    case 'claim_refused':
      return { type: 'node_refused', message: error.message };
    case 'storage_failed':
      return error.reason === 'closed'
        ? { type: 'node_refused', message: 'The store of the engine is closed: create an engine with an open store' }
        : { type: 'link_failed', message: error.message };
  }
}
