import type { StoredPolicy, StoredRole } from '../../access/policy-record.js';
import type { RoleLink, TokenStub } from '../../access/tokens.js';
import { filterCompiler } from '../../filter/compile-filter.js';
import { jobSchema, namespaceSchema } from '../../jobs/record-schemas.js';
import { recordSchemas } from '../../scheduler/record-schemas.js';
import type { ServiceRegistration } from '../../services/service-registration.js';
import {
  bytes,
  flag,
  integer,
  listOf,
  mapOf,
  onlyInJson,
  placed,
  pointer,
  struct,
  text,
  time,
  written,
} from '../../shared/schema.js';
import type { VariableStub } from '../../variables/variable-document.js';

const link = struct<RoleLink>({ ID: text, Name: text });

const tokenSchema = struct<TokenStub>({
  AccessorID: text,
  SecretID: text,
  Name: text,
  Type: text,
  Policies: listOf(text),
  Roles: listOf(link),
  NodeID: onlyInJson(text),
  NodePool: onlyInJson(text),
  Workspaces: onlyInJson(mapOf(text)),
  Global: flag,
  Hash: bytes,
  CreateTime: time,
  ExpirationTime: pointer(time),
  ExpirationTTL: integer,
  ...placed,
});

const policySchema = struct<StoredPolicy>({
  Name: text,
  Description: text,
  Rules: text,
  JobACL: pointer(struct({ Namespace: text, JobID: text, Group: text, Task: text })),
  Hash: bytes,
  ...placed,
});

const roleSchema = struct<StoredRole>({
  ID: text,
  Name: text,
  Description: text,
  Policies: listOf(struct({ Name: text })),
  Hash: bytes,
  ...placed,
});

const serviceSchema = struct<ServiceRegistration>({
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
  ...placed,
});

/** The listed members of a variable: all but its items. */
const variableSchema = struct<VariableStub>({
  Namespace: text,
  Path: text,
  Lock: pointer(struct({ ID: text, TTL: integer, LockDelay: integer })),
  ...written,
});

/** The filter of each list, applied to stored records as in Nomad, instead of to the list's entries. */
export const compileFilter = {
  job: filterCompiler(jobSchema),
  /** Input: an allocation with its job as `Job`, and with `derivedMembers` of its document if the filter's `members` include them. */
  allocation: filterCompiler(recordSchemas.allocation),
  evaluation: filterCompiler(recordSchemas.evaluation),
  deployment: filterCompiler(recordSchemas.deployment),
  node: filterCompiler(recordSchemas.node),
  nodePool: filterCompiler(recordSchemas.nodePool),
  namespace: filterCompiler(namespaceSchema),
  service: filterCompiler(serviceSchema),
  variable: filterCompiler(variableSchema),
  token: filterCompiler(tokenSchema),
  policy: filterCompiler(policySchema),
  role: filterCompiler(roleSchema),
} as const;
