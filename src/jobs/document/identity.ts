import { block, duration, flag, oneOf, type Stored, strings, text } from './field-table.js';

/**
 * A signed token that identifies the task or service to others. The stored form of `WorkloadIdentityInput`, which describes the
 * fields.
 */
export interface WorkloadIdentity extends Stored<typeof identityBlock> {}

export const identityBlock = block<WorkloadIdentity>()('WorkloadIdentity', {
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
