import type { Capability, PolicyShorthand } from './capability.js';
import type { Area, AreaLevel, HostVolumeCapability, NodePoolCapability, VariableCapability } from './policy/policy.js';

/** What a caller may do in the namespaces that a glob names. */
export interface NamespaceRule {
  readonly capabilities: readonly Capability[];
  readonly policy?: PolicyShorthand;
  /** Path of a variable, or glob, to what the caller may do with it. */
  readonly variables?: Readonly<Record<string, readonly VariableCapability[]>>;
}

/** `admin` manages a workspace's notification configurations and may send events; `events` may only send events. */
export type WorkspaceRight = 'admin' | 'events';

/** A task that acts for itself: it may read the variables of its own job. */
export interface Workload {
  readonly namespace: string;
  readonly jobId: string;
  readonly group: string;
  readonly task: string;
}

/** The agent of a node: it may register that node and look after its allocations, and nothing else. */
export interface NodeIdentity {
  /** Absent until the first registration: the token then belongs to the node that registered with it. */
  readonly id?: string;
  /** The one node pool that the node may be in. */
  readonly pool: string;
}

/** Who calls, as far as the core needs to know. The host may build one itself, or the token store does. Never changed once made. */
export interface Principal {
  /** Stable and not secret: it is stored with what the caller submits. Empty for the host itself. */
  readonly accessor: string;
  /** Shown to people, for example as the creator of a run. */
  readonly name: string;
  /** Allows everything. */
  readonly management: boolean;
  /** Namespace name or glob (`*` stands for any characters) to rule. */
  readonly namespaces: Readonly<Record<string, NamespaceRule>>;
  /** Workspace id or glob to right. */
  readonly workspaces: Readonly<Record<string, WorkspaceRight>>;
  /** Node pool or glob to capabilities. */
  readonly nodePools?: Readonly<Record<string, readonly NodePoolCapability[]>>;
  /** Host volume or glob to capabilities. */
  readonly hostVolumes?: Readonly<Record<string, readonly HostVolumeCapability[]>>;
  /** What the caller may do with nodes, the agent, the operator's settings and so on. */
  readonly areas?: Readonly<Partial<Record<Area, AreaLevel>>>;
  /** Set for a task that acts for itself. */
  readonly workload?: Workload;
  /** Set for the agent of a node. It has no other rights, whatever else stands here. */
  readonly node?: NodeIdentity;
  /** Names of the policies and ids of the roles that the rights come from: the caller may read them. */
  readonly policies?: readonly string[];
  readonly roles?: readonly string[];
}

/** The embedding service itself: management rights, no accessor. */
export const hostPrincipal: Principal = {
  accessor: '',
  name: '',
  management: true,
  namespaces: {},
  workspaces: {},
};

/** A caller without credentials: nothing is allowed. */
export const anonymousPrincipal: Principal = {
  accessor: 'anonymous',
  name: 'Anonymous Token',
  management: false,
  namespaces: {},
  workspaces: {},
};
