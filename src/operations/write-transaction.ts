import type { Principal } from '../access/principal.js';
import type { Cause } from '../events/changes.js';
import type { JobPolicy } from '../jobs/admission/job-policy.js';
import type { Delivery } from '../notifications/delivery/delivery.js';
import type { StoredEvent } from '../notifications/events/event.js';
import type { Ids } from '../ports/ids.js';
import type { WriteView } from '../ports/storage.js';
import type { Settings } from '../settings.js';
import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import type { EngineContext } from './context/engine-context.js';
import type { Sightings } from './context/store-clock.js';
import type { EngineEvents } from './events.js';

/**
 * The inputs of a `commit`'s work. It reads and changes rows like any write view and sees its own changes; what follows from them is done
 * by the reactions. Time and
 * identifiers come from here too and are generated once: when the store runs the work again, it gets the same
 * values.
 */
export interface Transaction extends WriteView {
  /** Wall time, for timestamps and calendars. */
  readonly now: Instant;
  /** Monotonic time, for heartbeats and waits, with the name of its timeline. */
  readonly monotonic: Milliseconds;
  readonly timeline: string;
  /** What other hosts have written and this process has seen, over a store that several hosts share. */
  readonly sightings: Sightings | undefined;
  /** A stopwatch in nanoseconds, for measurements. It is not replayed, so no decision may depend on it. */
  readonly stopwatch: () => number;
  readonly ids: Ids;
  readonly settings: Settings;
  /** The host's requirements on jobs. */
  readonly policies: readonly JobPolicy[];
  /** The secrets that no message may contain, and the key of the stored ones. */
  readonly sealing: Pick<EngineContext, 'cipher' | 'secrets'>;
  /** The caller; the host itself for background loops. */
  readonly caller: Principal;
  /** The trace of the written records, as a valid `traceparent`: the caller's, unless the work sets another one. */
  trace: string | undefined;
  /** The cause of the changes for the event stream, if they do not show it. */
  cause: Cause | undefined;
  /** The name of the person behind the change; undefined when the system itself acts. */
  readonly actor: string | undefined;
  /** Stores a new delivery. If it may begin at once, the loop of this process claims it in this write. */
  deliver(delivery: Delivery, event: StoredEvent): void;
  /** Further writes of the same plan follow: only after the last one it is known whether all of a job is up. */
  unfinished: boolean;
  /** Emits a fact once this write is durable; a failed write emits none. */
  emit<K extends keyof EngineEvents>(name: K, fact: Parameters<EngineEvents[K]>[0]): void;
  /** Whether anybody listens to a fact: for facts that are so frequent that making them in vain costs. */
  hears(name: keyof EngineEvents): boolean;
  /** The instance of this class that belongs to this run of the work, made at its first use. */
  part<T extends object>(kind: new (tx: Transaction) => T): T;
}
