import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';

/** The sums of what the live jobs of a namespace request. Kept only while there are quotas. */
export interface QuotaUsage {
  readonly Namespace: string;
  readonly Jobs: number;
  /** MHz. */
  readonly CPU: number;
  readonly Cores: number;
  /** MiB. */
  readonly MemoryMB: number;
}

/** The dispatches of a namespace, measured against the rate of its quota. */
interface DispatchRate {
  readonly Namespace: string;
  /** When everything taken so far will have been replenished. */
  readonly Until: Instant;
}

export const quotaUsages = table<QuotaUsage>('quota_usages', ({ Namespace }) => [Namespace]);
export const dispatchRates = table<DispatchRate>('dispatch_rates', ({ Namespace }) => [Namespace]);
