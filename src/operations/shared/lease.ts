import type { Instant } from '../../shared/instant.js';

/** Who works on a row, and until when nobody else may. A killed owner's lease simply runs out. */
export interface Lease {
  readonly owner: string;
  readonly until: Instant;
}

export function leaseIsFree(lease: Lease | null, now: Instant): boolean {
  return lease === null || lease.until <= now;
}
