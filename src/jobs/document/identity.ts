import type { Nanoseconds } from './document-values.js';

/**
 * A signed token that identifies the task or service to others. The stored form of `WorkloadIdentityInput`, which describes the
 * fields.
 */
export interface WorkloadIdentity {
  readonly Name: string;
  readonly Audience: readonly string[] | null;
  readonly ChangeMode: string;
  readonly ChangeSignal: string;
  readonly Env: boolean;
  readonly File: boolean;
  readonly Filepath: string;
  readonly ServiceName: string;
  readonly TTL: Nanoseconds;
  readonly ExtraClaims: readonly string[] | null;
}
