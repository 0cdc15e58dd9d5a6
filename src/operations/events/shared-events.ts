import type { ClusterEvent, EventBatch, Notice } from '../../events/cluster-event.js';
import type { NoticeBatch } from '../../events/event-records.js';
import type { ReadView } from '../../ports/storage.js';
import { eventOfNotice } from '../books/write-notices.js';

/** The most transactions whose events are cached. Up-to-date readers share the same few. */
const keptBatches = 64;
/** A transaction with more events is not cached: its records would stay in memory. */
const mostEvents = 100;

/** The events of the newest transactions: each is created, and can be serialised, once for all streams. */
export class SharedEvents {
  /** By index of the transaction, oldest first; undefined for an event that no stream has read yet. */
  readonly #made = new Map<number, (ClusterEvent | undefined)[]>();

  /** The events of a transaction that a reader selects. */
  batchFor(view: ReadView, { Index, Notices }: NoticeBatch, wants: (notice: Notice) => boolean): EventBatch {
    const made = this.#madeOf(Index, Notices.length);
    const Events: ClusterEvent[] = [];
    for (const [at, notice] of Notices.entries()) {
      if (!wants(notice)) continue;
      const event = made?.[at] ?? eventOfNotice(view, notice, Index);
      if (event === undefined) continue;
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
