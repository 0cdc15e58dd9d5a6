import { block, duration, flag, strings, text } from './field-table.js';

export const identityBlock = block('WorkloadIdentity', {
  Name: text,
  Audience: strings,
  ChangeMode: text,
  ChangeSignal: text,
  Env: flag,
  File: flag,
  Filepath: text,
  ServiceName: text,
  TTL: duration,
  ExtraClaims: strings,
});
