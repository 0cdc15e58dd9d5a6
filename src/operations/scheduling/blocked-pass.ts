import type { ReadView } from '../../ports/storage.js';
import { blockedQueues } from '../../scheduler/blocked-queue.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';

/** How far the blocked evaluations have been tried since capacity was last freed. A value: a write may run twice. */
export interface BlockedPass {
  /** The capacity signal that the pass answers. */
  readonly seen: number;
  /** The queue to try next; undefined when the pass is over. */
  readonly cursor: string | undefined;
}

/** Before the first pass: every queue is worth a try when an engine starts. */
export const firstPass: BlockedPass = { seen: -1, cursor: undefined };

/** The first blocked evaluation of the queue that the pass has come to; a new capacity signal starts a new pass. */
export function nextBlocked(
  view: ReadView,
  pass: BlockedPass,
): { readonly evaluation: Evaluation | undefined; readonly pass: BlockedPass } {
  const signalled = view.get(capacitySignals, ['capacity'])?.record.index ?? 0;
  const seen = Math.max(signalled, pass.seen);
  let cursor = signalled > pass.seen ? '' : pass.cursor;
  while (cursor !== undefined) {
    const [entry] = view.list(blockedQueues, { index: 'by_queue', from: [cursor], limit: 1 });
    if (entry === undefined) return { evaluation: undefined, pass: { seen, cursor: undefined } };
    const evaluation = view.get(evaluations, [entry.record.ID])?.record;
    if (evaluation?.Status === 'blocked') return { evaluation, pass: { seen, cursor } };
    cursor = afterQueue(entry.record.queue);
  }
  return { evaluation: undefined, pass: { seen, cursor } };
}

/** The same queue again while its evaluations find room; else the rest of the queue wants the same and is passed over. */
export function passAfter(view: ReadView, tried: Evaluation, placedAll: boolean, pass: BlockedPass): BlockedPass {
  const queue = view.get(blockedQueues, [tried.ID])?.record.queue;
  return placedAll || queue === undefined ? pass : { ...pass, cursor: afterQueue(queue) };
}

/** A key after every entry of the queue: queue names are JSON arrays, which end in `]`. */
function afterQueue(queue: string): string {
  return `${queue}\u{10ffff}`;
}
