import { bytes, flag, integer, listOf, nullable, struct, text, time, unsigned } from '../../filter/schema.js';

const link = struct({ ID: text, Name: text });

export const tokenSchema = struct({
  AccessorID: text,
  SecretID: text,
  Name: text,
  Type: text,
  Policies: listOf(text),
  Roles: listOf(link),
  Global: flag,
  Hash: bytes,
  CreateTime: time,
  ExpirationTime: nullable(time),
  ExpirationTTL: integer,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

export const policySchema = struct({
  Name: text,
  Description: text,
  Rules: text,
  JobACL: nullable(struct({ Namespace: text, JobID: text, Group: text, Task: text })),
  Hash: bytes,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

export const roleSchema = struct({
  ID: text,
  Name: text,
  Description: text,
  Policies: listOf(struct({ Name: text })),
  Hash: bytes,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});
