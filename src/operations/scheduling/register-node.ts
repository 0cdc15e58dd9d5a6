import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { isReadyNode, type Node, nodeHeartbeats, nodes } from '../../scheduler/node.js';
import { unixSecondsFromInstant } from '../../shared/instant.js';
import { authoriseManagement, type PermissionDenied } from '../shared/authorise.js';
import { type EngineContext, emit } from '../shared/context.js';
import { signalCapacity } from '../shared/put-allocation.js';
import { evaluateJobsOnNode, evaluateSystemJobs } from './node-evaluations.js';

/** A node as its agent describes it; the engine adds status and indexes. */
export type NodeDescription = Omit<
  Node,
  'Status' | 'StatusDescription' | 'StatusUpdatedAt' | 'CreateIndex' | 'ModifyIndex'
>;

export interface RegisteredNode {
  readonly index: number;
  /** How long the node may stay silent, in milliseconds. */
  readonly heartbeatTtl: number;
}

/** Registers a node, or brings its description up to date, and makes it ready. */
export function registerNode(
  context: EngineContext,
  caller: Principal,
  description: NodeDescription,
): ResultAsync<RegisteredNode, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  const now = context.clock.now();
  const heartbeatTtl = context.settings.scheduling.heartbeatTtl;
  return context.storage
    .write((view) => {
      const before = view.get(nodes, [description.ID])?.record;
      const node: Node = {
        ...description,
        Status: 'ready',
        StatusDescription: '',
        StatusUpdatedAt: unixSecondsFromInstant(now),
        CreateIndex: before?.CreateIndex ?? view.index,
        ModifyIndex: view.index,
      };
      view.put(nodes, node);
      view.put(nodeHeartbeats, { ID: node.ID, expiresAt: now + heartbeatTtl });
      const turnedReady = before === undefined || !isReadyNode(before);
      signalCapacity(view);
      if (turnedReady) {
        evaluateJobsOnNode(view, { now, ids: context.ids }, node);
        evaluateSystemJobs(view, { now, ids: context.ids }, node);
      }
      return ok(turnedReady);
    })
    .map(({ value: turnedReady, index }) => {
      if (turnedReady) emit(context, 'node.changed', { nodeId: description.ID, status: 'ready' });
      return { index, heartbeatTtl };
    });
}

export interface UnknownNode {
  readonly type: 'node_not_found';
  readonly nodeId: string;
}

/** Tells that the node is alive. A node that was taken for down is unknown here: it must register again. */
export function heartbeatNode(
  context: EngineContext,
  caller: Principal,
  nodeId: string,
): ResultAsync<{ readonly heartbeatTtl: number }, PermissionDenied | UnknownNode | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  const heartbeatTtl = context.settings.scheduling.heartbeatTtl;
  return context.storage
    .write((view) => {
      const node = view.get(nodes, [nodeId])?.record;
      if (node === undefined || node.Status === 'down') {
        return err<never, UnknownNode>({ type: 'node_not_found', nodeId });
      }
      view.put(nodeHeartbeats, { ID: nodeId, expiresAt: context.clock.now() + heartbeatTtl });
      return ok<undefined, UnknownNode>(undefined);
    })
    .map(() => ({ heartbeatTtl }));
}
