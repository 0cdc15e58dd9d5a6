/**
 * The rules of a policy as they are understood, in the wire's own member names (job interface, policies). Capabilities stand as
 * written, what a word stands for after them.
 */
export interface Policy {
  readonly Namespaces: readonly NamespacePolicy[] | null;
  readonly NodePools: readonly NamedPolicy[] | null;
  readonly HostVolumes: readonly NamedPolicy[] | null;
  readonly Agent: AreaPolicy | null;
  readonly Node: AreaPolicy | null;
  readonly Operator: OperatorPolicy | null;
  readonly Quota: AreaPolicy | null;
  readonly Plugin: AreaPolicy | null;
  readonly Sentinel: AreaPolicy | null;
  /** The text that was read. */
  readonly Raw: string;
  readonly ExtraKeysHCL: null;
}

/** What a policy says of things whose name a glob names. */
export interface NamedPolicy {
  readonly Name: string;
  /** `''` when only capabilities are given. */
  readonly Policy: string;
  /** Null when nothing is granted. */
  readonly Capabilities: readonly string[] | null;
}

export interface NamespacePolicy extends NamedPolicy {
  readonly Variables: { readonly Paths: readonly VariablePathPolicy[] } | null;
}

export interface VariablePathPolicy {
  /** A path or a glob. */
  readonly PathSpec: string;
  readonly Capabilities: readonly VariableCapability[];
}

export interface AreaPolicy {
  readonly Policy: string;
}

export interface OperatorPolicy extends AreaPolicy {
  readonly Capabilities: readonly string[] | null;
}

export const variableCapabilities = ['list', 'read', 'write', 'destroy', 'deny'] as const;
export type VariableCapability = (typeof variableCapabilities)[number];

export const nodePoolCapabilities = ['read', 'write', 'delete', 'deny'] as const;
export type NodePoolCapability = (typeof nodePoolCapabilities)[number];

export const hostVolumeCapabilities = ['mount-readonly', 'mount-readwrite', 'deny'] as const;
export type HostVolumeCapability = (typeof hostVolumeCapabilities)[number];

/** Areas with one level for the whole of them. */
export const areas = ['agent', 'node', 'operator', 'quota', 'plugin', 'sentinel'] as const;
export type Area = (typeof areas)[number];

/** `list` is known to plugins only, `scale` grants nothing in an area. */
export type AreaLevel = 'list' | 'read' | 'write' | 'scale' | 'deny';
