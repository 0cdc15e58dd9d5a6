import { configurations } from '../../notifications/configurations/configuration.js';
import { type Delivery, deliveries } from '../../notifications/delivery/delivery.js';
import type { StoredEvent } from '../../notifications/events/event.js';
import { hookHolds, queues } from '../../notifications/queue/queue-record.js';
import { users, workspaces } from '../../notifications/workspace.js';
import type { TableName, WriteView } from '../../ports/storage.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';

/*
 * The delivery loop of a process can claim the deliveries of an event in the write that accepts it, so that they begin when that is durable,
 * without another write. It learns of what it does not claim.
 */

/** The tables that deliveries depend on. */
export const deliveryTables: readonly TableName[] = [deliveries, queues, hookHolds, configurations, workspaces, users];
/** Of these, the ones that an accepted event does not change. */
export const destinationTables: readonly TableName[] = [hookHolds, configurations, workspaces, users];

/** The write of a commit, and its time. */
export interface TimedWrite extends WriteView {
  readonly now: Instant;
  readonly monotonic: Milliseconds;
  readonly timeline: string;
}

/** Whether an operation has changed deliveries in a write, other than by accepting events: then the loop looks at the store. */
export class OtherChanges {
  isAny = false;
}

/** The part of one write in which events are accepted. */
export interface AcceptedWrite {
  /** The work of the write runs again, or has failed: what it claimed is not. */
  restart(): void;
  /** Stores a new delivery: claimed if it may begin when the write is durable. */
  add(tx: TimedWrite, delivery: Delivery, event: StoredEvent): void;
  /** At the end of the work, with what else it has changed. */
  ended(tx: TimedWrite, others: OtherChanges): void;
  /** The write is durable. */
  settled(): void;
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
