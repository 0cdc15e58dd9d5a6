import { described, faultOfMembers, type OptionTable } from '../options/check-options.js';
import { amount, anything, flag, group, listOf, mapOf, oneOf, optional, text } from '../options/option-kinds.js';
import { isRecord } from '../shared/values.js';
import { type Capability, namespaceCapabilities, type PolicyShorthand, policyShorthands } from './capability.js';
import {
  type Area,
  type AreaLevel,
  areas,
  type HostVolumeCapability,
  hostVolumeCapabilities,
  type NodePoolCapability,
  nodePoolCapabilities,
  type VariableCapability,
  variableCapabilities,
} from './policy/parse-policy.js';

/** The caller's rights in the namespaces that match a glob. */
export interface NamespaceRule {
  /** Single rights, which are added to those of `policy`. */
  readonly capabilities: readonly Capability[];
  /** A word that stands for several capabilities. */
  readonly policy?: PolicyShorthand;
  /** Capabilities by variable path or glob. */
  readonly variables?: Readonly<Record<string, readonly VariableCapability[]>>;
}

/**
 * `admin` manages a workspace's notification configurations and may send events; `events` may only send events; `portal` manages
 * configurations and deliveries within the limits of `Principal.portal`. Each includes reading the workspace.
 */
export type WorkspaceRight = (typeof workspaceRights)[number];
export const workspaceRights = ['admin', 'events', 'portal'] as const;

/** A task that calls with its workload identity: it may read its job's variables. */
export interface Workload {
  /** The namespace of the task's job. */
  readonly namespace: string;
  /** The job; for an instance, its own ID. */
  readonly jobId: string;
  /** The group of the task. */
  readonly group: string;
  /** The name of the task. */
  readonly task: string;
}

/** The agent of a node: it may register that node and manage its allocations, nothing else. */
export interface NodeIdentity {
  /** Absent until the first registration, which binds the token to the node. */
  readonly id?: string;
  /** The only node pool that the node may join. */
  readonly pool: string;
}

/** The authenticated caller. Built by the host or by the token store; immutable. */
export interface Principal {
  /** Stable and not secret: it is stored with the caller's submissions. Empty for the host itself. */
  readonly accessor: string;
  /** Shown to people, for example as the creator of a run. */
  readonly name: string;
  /** Allows everything. */
  readonly management: boolean;
  /** Rules by namespace name or glob (`*` matches any characters). */
  readonly namespaces: Readonly<Record<string, NamespaceRule>>;
  /** Rights by workspace ID or glob. */
  readonly workspaces: Readonly<Record<string, WorkspaceRight>>;
  /** The limits of its rights `portal`; without them it may see and create no configurations. */
  readonly portal?: {
    /** `generic`, `chat-a`, `chat-b`, `email`: configurations of other kinds do not exist for it. */
    readonly kinds: readonly string[];
    /** It creates no more once the workspace has so many configurations. */
    readonly configurations: number;
  };
  /** Capabilities by node pool or glob. */
  readonly nodePools?: Readonly<Record<string, readonly NodePoolCapability[]>>;
  /** Capabilities by host volume or glob. */
  readonly hostVolumes?: Readonly<Record<string, readonly HostVolumeCapability[]>>;
  /** Access levels for nodes, the agent, the operator's settings and so on. */
  readonly areas?: Readonly<Partial<Record<Area, AreaLevel>>>;
  /** Set for a task that calls with its workload identity. */
  readonly workload?: Workload;
  /** Set for the agent of a node. Such a caller has no other rights, regardless of the other members. */
  readonly node?: NodeIdentity;
  /** Names of the policies and IDs of the roles that grant the rights; the caller may read them. */
  readonly policies?: readonly string[];
  /** IDs of roles; see `policies`. */
  readonly roles?: readonly string[];
  /**
   * The parent span of the call, as a `traceparent` of W3C Trace Context. Not a right; passed on to the work that the call starts.
   * An invalid value is ignored.
   */
  readonly traceparent?: string;
}

/** The embedding service itself: management rights, no accessor. */
export const hostPrincipal: Principal = {
  accessor: '',
  name: '',
  management: true,
  namespaces: {},
  workspaces: {},
};

/** A caller without credentials and without rights. */
export const anonymousPrincipal: Principal = {
  accessor: 'anonymous',
  name: 'Anonymous Token',
  management: false,
  namespaces: {},
  workspaces: {},
};

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
  workspaces: mapOf(oneOf(...workspaceRights)),
  portal: optional(group<NonNullable<Principal['portal']>>({ kinds: listOf(text), configurations: amount })),
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

/** Whose records, rules and words a caller expects. */
export interface CallerNames {
  /** `upstream`: those of Nomad and its clients. Neutral when absent. */
  readonly names?: 'neutral' | 'upstream';
}
