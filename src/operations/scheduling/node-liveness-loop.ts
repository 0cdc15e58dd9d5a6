import { ok } from 'neverthrow';
import { nodeHeartbeats, nodes } from '../../scheduler/node.js';
import { type Instant, unixSecondsFromInstant } from '../../shared/instant.js';
import { type BackgroundLoop, type EngineContext, emit } from '../shared/context.js';
import { evaluateJobsOnNode } from './node-evaluations.js';

/** Takes nodes that have been silent for too long for down, so that their allocations are replaced. */
export const nodeLivenessLoop: BackgroundLoop = {
  name: 'node-liveness',
  run: async (context, signal) => {
    while (!signal.aborted) {
      const swept = await sweep(context);
      await untilNextExpiry(context, swept, signal);
    }
  },
};

interface Sweep {
  readonly next: Instant | undefined;
  readonly silenced: readonly string[];
}

async function sweep(context: EngineContext): Promise<{ readonly index: number; readonly next: Instant | undefined }> {
  const now = context.clock.now();
  const written = await context.storage.write((view) => {
    const silenced: string[] = [];
    for (const { record } of view.list(nodeHeartbeats, { index: 'by_expiry' })) {
      if (record.expiresAt > now) return ok<Sweep, never>({ next: record.expiresAt, silenced });
      view.remove(nodeHeartbeats, [record.ID]);
      const node = view.get(nodes, [record.ID])?.record;
      if (node === undefined) continue;
      view.put(nodes, {
        ...node,
        Status: 'down',
        StatusDescription: 'The node has not been heard of for too long',
        StatusUpdatedAt: unixSecondsFromInstant(now),
        ModifyIndex: view.index,
      });
      evaluateJobsOnNode(view, { now, ids: context.ids }, node);
      silenced.push(node.ID);
    }
    return ok<Sweep, never>({ next: undefined, silenced });
  });
  if (written.isErr()) {
    context.logger.error({ error: written.error.message }, 'The nodes could not be looked through');
    return { index: 0, next: now + 1000 };
  }
  const { next, silenced } = written.value.value;
  for (const nodeId of silenced) emit(context, 'node.changed', { nodeId, status: 'down' });
  return { index: written.value.index, next };
}

/** A heartbeat only moves an expiry further away, so the loop wakes for the earliest one, or for the first node. */
async function untilNextExpiry(
  context: EngineContext,
  swept: { readonly index: number; readonly next: Instant | undefined },
  signal: AbortSignal,
): Promise<void> {
  if (swept.next === undefined) await context.storage.waitForChange([nodeHeartbeats], swept.index, signal);
  else await context.clock.sleepUntil(swept.next, signal);
}
