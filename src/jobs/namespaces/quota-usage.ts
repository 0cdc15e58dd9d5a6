import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';

/** What the live jobs of a namespace ask for. Kept only while there are quotas. */
export interface QuotaUsage {
  readonly Namespace: string;
  readonly Jobs: number;
  /** MHz. */
  readonly CPU: number;
  readonly Cores: number;
  /** MiB. */
  readonly MemoryMB: number;
}

/** When the dispatches of a namespace are paid back at the rate of its quota. */
interface DispatchRate {
  readonly Namespace: string;
  readonly Until: Instant;
}

export const quotaUsages = table<QuotaUsage>('quota_usages', ({ Namespace }) => [Namespace]);
export const dispatchRates = table<DispatchRate>('dispatch_rates', ({ Namespace }) => [Namespace]);
