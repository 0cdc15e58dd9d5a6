import { any, bytes, flag, integer, listOf, mapOf, nullable, struct, text, unsigned } from '../../filter/schema.js';

export const namespaceSchema = struct({
  Name: text,
  Description: text,
  Quota: text,
  Capabilities: nullable(
    struct({
      EnabledTaskDrivers: listOf(text),
      DisabledTaskDrivers: listOf(text),
      EnabledNetworkModes: listOf(text),
      DisabledNetworkModes: listOf(text),
    }),
  ),
  NodePoolConfiguration: nullable(struct({ Default: text, Allowed: listOf(text), Denied: listOf(text) })),
  VaultConfiguration: nullable(struct({ Default: text, Allowed: listOf(text), Denied: listOf(text) })),
  ConsulConfiguration: nullable(struct({ Default: text, Allowed: listOf(text), Denied: listOf(text) })),
  Meta: mapOf(text),
  Hash: bytes,
  RequiredExtraClaims: mapOf(text),
  OptionalExtraClaims: mapOf(text),
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

export const nodePoolSchema = struct({
  Name: text,
  Description: text,
  Meta: mapOf(text),
  NodeIdentityTTL: integer,
  SchedulerConfiguration: nullable(struct({ SchedulerAlgorithm: text, MemoryOversubscriptionEnabled: nullable(flag) })),
  Hash: bytes,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

export const serviceSchema = struct({
  ID: text,
  ServiceName: text,
  Namespace: text,
  NodeID: text,
  Datacenter: text,
  JobID: text,
  AllocID: text,
  Tags: listOf(text),
  Address: text,
  Port: integer,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

/** The listed members of a variable: all but its items. */
export const variableSchema = struct({
  Namespace: text,
  Path: text,
  Lock: nullable(struct({ ID: text, TTL: integer, LockDelay: integer })),
  CreateIndex: unsigned,
  CreateTime: integer,
  ModifyIndex: unsigned,
  ModifyTime: integer,
});

export const scalingPolicySchema = struct({
  ID: text,
  Type: text,
  Target: mapOf(text),
  Policy: mapOf(any),
  Min: integer,
  Max: integer,
  Enabled: flag,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});
