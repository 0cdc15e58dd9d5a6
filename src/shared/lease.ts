import type { Milliseconds } from './duration.js';
import { table } from './table.js';

/** The holder of work that only one process at a time may do. The row remains without a holder, so that terms only grow. */
export interface LeaseRecord {
  /** Of the work. */
  readonly name: string;
  /** Null when its last holder gave it back. */
  readonly owner: string | null;
  /** One more with each holder: a write under an earlier term comes too late. */
  readonly term: number;
  /** Monotonic time at which the lease ends by the holder's clock, and the timeline of that clock. */
  readonly until: Milliseconds;
  readonly timeline: string;
  /** How long it holds without being renewed. */
  readonly duration: Milliseconds;
}

export const leases = table<LeaseRecord>('leases', (lease) => [lease.name]);

/** A lease as a waiting process has observed it, on the monotonic clock of that process. */
export interface LeaseSighting {
  /** The write that last renewed it. */
  readonly token: number;
  readonly at: Milliseconds;
}

/** The reader's own time. */
export interface LeaseTime {
  readonly monotonic: Milliseconds;
  readonly timeline: string;
}

/**
 * How long the lease still keeps others out; 0 when it is free. The end of a lease from another timeline cannot be compared with the
 * reader's clock. It counts as over when it has not been renewed for its whole duration since the reader first saw it.
 */
export function leaseRemains(
  lease: LeaseRecord | undefined,
  { monotonic, timeline }: LeaseTime,
  sighting: LeaseSighting,
): Milliseconds {
  if (lease === undefined || lease.owner === null) return 0;
  const end = lease.timeline === timeline ? lease.until : sighting.at + lease.duration;
  return Math.max(0, end - monotonic);
}

/** Who wants which lease, and for how long. */
export interface LeaseClaim {
  readonly name: string;
  readonly owner: string;
  readonly duration: Milliseconds;
}

/** The row of a lease that begins with the next term. */
export function leaseFor(
  claim: LeaseClaim,
  previous: LeaseRecord | undefined,
  { monotonic, timeline }: LeaseTime,
): LeaseRecord {
  return { ...claim, term: (previous?.term ?? 0) + 1, until: monotonic + claim.duration, timeline };
}
