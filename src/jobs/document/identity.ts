import type { Nanoseconds } from './document-values.js';
import { block, duration, flag, oneOf, strings, text } from './field-table.js';

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

export const identityBlock = block('WorkloadIdentity', {
  Name: text,
  Audience: strings,
  ChangeMode: oneOf('noop', 'restart', 'signal'),
  ChangeSignal: text,
  Env: flag,
  File: flag,
  Filepath: text,
  ServiceName: text,
  TTL: duration,
  ExtraClaims: strings,
});
