import type { Capability, PolicyShorthand } from './capability.js';

/** What a caller may do in the namespaces that a glob names. */
export interface NamespaceRule {
  readonly capabilities: readonly Capability[];
  readonly policy?: PolicyShorthand;
}

/** `admin` manages a workspace's notification configurations and may send events; `events` may only send events. */
export type WorkspaceRight = 'admin' | 'events';

/** Who calls, as far as the core needs to know. The host may build one itself, or the token store does. */
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
