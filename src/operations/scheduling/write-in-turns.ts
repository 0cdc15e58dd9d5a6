import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { KnownCluster } from '../records/scheduling/known-cluster.js';
import { watchOf } from '../records/scheduling/plan-basis.js';
import type { Transaction } from '../write-transaction.js';
import { type DecidedPlan, type WrittenSoFar, writeDecided } from './process-evaluation.js';

/** The result of writing a plan. The evaluation is still open unless it is complete. */
type WrittenPlan<T> = {
  /** As of the last written part. */
  readonly cluster: KnownCluster;
  readonly index: number;
  /** Number of written parts. */
  readonly parts: number;
} & (
  | { readonly end: 'complete'; readonly atEnd: T }
  /** An input of the plan has changed. */
  | { readonly end: 'conflict' }
  /** The signal aborted. */
  | { readonly end: 'stopped' }
);

/**
 * Writes a plan in parts, between which the event loop runs. After each part any engine can decide the evaluation again from the
 * stored state. `atEnd` runs in the write that ends the evaluation.
 */
export async function writeInTurns<T>(
  context: EngineContext,
  plan: DecidedPlan,
  signal: AbortSignal,
  atEnd: (tx: Transaction) => T,
): Promise<Result<WrittenPlan<T>, StorageError>> {
  let before: WrittenSoFar = { known: plan.known, watch: watchOf(plan.basis) };
  let { index } = plan.basis;
  const { parts } = plan;
  for (const [at, part] of parts.entries()) {
    if (at > 0) await context.turns.next();
    const reached = { cluster: before.known, index, parts: at };
    if (signal.aborted) return ok({ ...reached, end: 'stopped' });
    const write = await commit(context, hostPrincipal, (tx) => {
      const written = writeDecided(tx, plan, { part, before });
      return ok(written && { ...written, ended: part.last ? { atEnd: atEnd(tx) } : undefined });
    });
    if (write.isErr()) return err(write.error);
    const { value: written } = write.value;
    index = write.value.index;
    if (written === undefined) return ok({ ...reached, index, end: 'conflict' });
    const { cluster, watch, ended } = written;
    if (ended !== undefined) return ok({ cluster, index, parts: parts.length, end: 'complete', ...ended });
    before = { known: cluster, watch };
  }
  throw new Error('a plan has no last part');
}
