import { described, faultOfMembers, type OptionTable } from '../options/check-options.js';
import { anything, flag, group, listOf, mapOf, oneOf, optional, text } from '../options/option-kinds.js';
import { isRecord } from '../shared/values.js';
import { namespaceCapabilities, policyShorthands } from './capability.js';
import {
  type Area,
  type AreaLevel,
  areas,
  hostVolumeCapabilities,
  nodePoolCapabilities,
  variableCapabilities,
} from './policy/policy.js';
import type { NamespaceRule, NodeIdentity, Principal, Workload } from './principal.js';

const rule: OptionTable<NamespaceRule> = {
  capabilities: listOf(oneOf(...namespaceCapabilities)),
  policy: optional(oneOf(...policyShorthands)),
  variables: optional(mapOf(listOf(oneOf(...variableCapabilities)))),
};

const levels: readonly AreaLevel[] = ['list', 'read', 'write', 'scale', 'deny'];
const level = optional(oneOf(...levels));

const members: OptionTable<Principal> = {
  accessor: text,
  name: text,
  management: flag,
  namespaces: mapOf(group(rule)),
  workspaces: mapOf(oneOf('admin', 'events')),
  nodePools: optional(mapOf(listOf(oneOf(...nodePoolCapabilities)))),
  hostVolumes: optional(mapOf(listOf(oneOf(...hostVolumeCapabilities)))),
  areas: optional(
    group(Object.fromEntries(areas.map((area) => [area, level])) as OptionTable<Record<Area, AreaLevel>>),
  ),
  workload: optional(group<Workload>({ namespace: text, jobId: text, group: text, task: text })),
  node: optional(group<NodeIdentity>({ id: optional(text), pool: text })),
  policies: optional(listOf(text)),
  roles: optional(listOf(text)),
  // An invalid traceparent is ignored.
  traceparent: optional(anything),
};

/** Principals that passed the check: hosts pass the same one to many calls. */
const sound = new WeakSet<object>();

/**
 * Why a host's value is not a valid principal; undefined when it is valid. A value of the wrong type must not pass: the string
 * `false` as `management` would allow everything. Unknown members belong to the host and are ignored.
 */
export function principalFault(value: unknown): string | undefined {
  if (!isRecord(value)) return `a principal is an object such as hostPrincipal, not ${described(value)}`;
  if (sound.has(value)) return undefined;
  const fault = faultOfMembers(value, members, '');
  if (fault === undefined) sound.add(value);
  return fault === undefined ? undefined : `this is not a principal: ${fault}`;
}
