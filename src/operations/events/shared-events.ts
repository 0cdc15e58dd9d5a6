import type { ClusterEvent, EventBatch, Notice } from '../../events/cluster-event.js';
import type { NoticeBatch } from '../../events/event-records.js';
import type { ReadView } from '../../ports/storage.js';
import { eventOfNotice } from '../books/tell-changes.js';

/** Transactions whose events are kept. Readers that are up to date read the same few. */
const keptBatches = 64;
/** A transaction with more events is not kept: they would hold its records in memory. */
const mostEvents = 100;

/** The events of the newest transactions: each is made, and can be printed, once for all streams that report it. */
export class SharedEvents {
  /** By the index of the transaction; undefined where nobody has wanted the event yet. The oldest first. */
  readonly #made = new Map<number, (ClusterEvent | undefined)[]>();

  /** The events that a reader wants of a transaction. */
  batchFor(view: ReadView, { Index, Notices }: NoticeBatch, wants: (notice: Notice) => boolean): EventBatch {
    const made = this.#madeOf(Index, Notices.length);
    const Events: ClusterEvent[] = [];
    for (const [at, notice] of Notices.entries()) {
      if (!wants(notice)) continue;
      const event = made?.[at] ?? eventOfNotice(view, notice, Index);
      if (made !== undefined) made[at] = event;
      Events.push(event);
    }
    return { Index, Events };
  }

  #madeOf(index: number, count: number): (ClusterEvent | undefined)[] | undefined {
    if (count > mostEvents) return undefined;
    const known = this.#made.get(index);
    if (known !== undefined) return known;
    const made = Array.from<undefined>({ length: count });
    this.#made.set(index, made);
    const [oldest] = this.#made.keys();
    if (this.#made.size > keptBatches && oldest !== undefined) this.#made.delete(oldest);
    return made;
  }
}
