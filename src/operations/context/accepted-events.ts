import { configurations } from '../../notifications/configurations/configuration.js';
import { events, firstSequenceOf, type StoredEvent } from '../../notifications/events/event.js';
import { hookHolds } from '../../notifications/queue/hook-hold.js';
import { queues } from '../../notifications/queue/queue-record.js';
import { users } from '../../notifications/user.js';
import { workspaces } from '../../notifications/workspace.js';
import type { ReadView, Row, TableName, WriteView } from '../../ports/storage.js';

/*
 * The delivery loop reads new events from the store, whichever process accepted them. If its own process did, and nothing else
 * has changed since its last read, that write contains all changes: the events are passed on directly when the write is
 * durable, without a read.
 */

/** The other tables that deliveries depend on. */
export const deliveryTables: readonly TableName[] = [events, queues, hookHolds, configurations, workspaces, users];
const dependencies: readonly TableName[] = [queues, hookHolds, configurations, workspaces, users];

/** The events of one durable write that changed none of `deliveryTables` otherwise. */
export interface AcceptedEvents {
  readonly rows: readonly Row<StoredEvent>[];
  /** Index of the last change of `deliveryTables` before this write, and after it. */
  readonly before: number;
  readonly after: number;
}

/** Hands accepted events to the delivery loop of the same process, in the order of their writes. */
export class AcceptedEventsFeed {
  #listener: ((accepted: AcceptedEvents) => void) | undefined;

  /** One listener at a time; returns the function that removes it. */
  listen(listener: (accepted: AcceptedEvents) => void): () => void {
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
    };
  }

  emit(accepted: AcceptedEvents): void {
    this.#listener?.(accepted);
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

  /** The collected events at the end of the work; undefined when there are none, or the write changed other rows of `deliveryTables`. */
  finish(view: WriteView): AcceptedEvents | undefined {
    const before = this.#before;
    if (before === undefined || this.#changesOld || indexOf(view, dependencies) > before) return undefined;
    const rows = this.#sequences.flatMap((sequence) => view.get(events, [sequence]) ?? []);
    return { rows, before, after: view.tableIndex(events) };
  }
}

/** Index of the last change of any of the tables. */
export function indexOf(view: ReadView, tables: readonly TableName[]): number {
  return tables.reduce((highest, table) => Math.max(highest, view.tableIndex(table)), 1);
}
