import { block, duration, flag, oneOf, strings, text } from './field-table.js';

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
