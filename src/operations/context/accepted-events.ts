import { configurations } from '../../notifications/configurations/configuration.js';
import { deliveries } from '../../notifications/delivery/delivery.js';
import { events, firstSequenceOf, type StoredEvent } from '../../notifications/events/event.js';
import { hookHolds } from '../../notifications/queue/hook-hold.js';
import { queues } from '../../notifications/queue/queue-record.js';
import { users } from '../../notifications/user.js';
import { workspaces } from '../../notifications/workspace.js';
import type { ReadView, TableName, WriteView } from '../../ports/storage.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';

/*
 * The delivery loop of a process can claim the deliveries of an event in the write that accepts it, so that they begin when that is durable,
 * without another write. It learns of what it does not claim.
 */

/** The tables that deliveries depend on. */
export const deliveryTables: readonly TableName[] = [deliveries, queues, hookHolds, configurations, workspaces, users];
const destinationTables: readonly TableName[] = [hookHolds, configurations, workspaces, users];

/** The write of a commit, and its time. */
export interface TimedWrite extends WriteView {
  readonly now: Instant;
  readonly monotonic: Milliseconds;
  readonly timeline: string;
}

/** The part of one write in which events are accepted. */
export interface AcceptedWrite {
  /** The write's work has run, possibly again. Claims the deliveries that may begin. */
  claim(tx: TimedWrite, accepted: readonly StoredEvent[]): void;
  /** The write is durable. The indexes are those of the last change of `deliveryTables`; undefined when it has changed them otherwise, too. */
  settled(indexes: { readonly before: number; readonly after: number } | undefined): void;
  /** The write has failed; `mayBeStored` when the store has failed, so that it is not known whether it was done. */
  failed(mayBeStored: boolean): void;
}

/** Connects writes that accept events to the delivery loop of the same process. */
export class AcceptedEventsFeed {
  #listener: (() => AcceptedWrite) | undefined;

  /** One listener at a time; returns the function that removes it. */
  listen(listener: () => AcceptedWrite): () => void {
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
    };
  }

  /** The part of a new write; undefined without a loop. */
  open(): AcceptedWrite | undefined {
    return this.#listener?.();
  }
}

/** Collects the events that one run of a write's work puts. */
export class AcceptedEventsNote {
  #before: number | undefined;
  readonly #sequences: number[] = [];
  #changesOld = false;

  /** Call this before the event is put. */
  note(view: WriteView, { sequence }: StoredEvent): void {
    this.#before ??= indexOf(view, deliveryTables);
    this.#changesOld ||= sequence < firstSequenceOf(view.index);
    this.#sequences.push(sequence);
  }

  /** The new events. */
  events(view: WriteView): readonly StoredEvent[] {
    const first = firstSequenceOf(view.index);
    return this.#sequences.flatMap((sequence) =>
      sequence < first ? [] : (view.get(events, [sequence])?.record ?? []),
    );
  }

  /** See `AcceptedWrite.settled`; at the end of the work. */
  indexes(view: WriteView): { readonly before: number; readonly after: number } | undefined {
    const before = this.#before;
    if (before === undefined || this.#changesOld || indexOf(view, destinationTables) > before) return undefined;
    return { before, after: indexOf(view, deliveryTables) };
  }
}

/** Index of the last change of any of the tables. */
function indexOf(view: ReadView, tables: readonly TableName[]): number {
  return tables.reduce((highest, table) => Math.max(highest, view.tableIndex(table)), 1);
}
