/**
 * The parsed rules of a policy, in the wire's member names (job interface, policies). Capabilities are listed as
 * written, followed by those of the shorthand.
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
  /** The source text. */
  readonly Raw: string;
  readonly ExtraKeysHCL: null;
}

/** A rule for objects whose names match a glob. */
export interface NamedPolicy {
  readonly Name: string;
  /** `''` if only capabilities are given. */
  readonly Policy: string;
  /** Null if nothing is granted. */
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

/** Areas with a single access level. */
export const areas = ['agent', 'node', 'operator', 'quota', 'plugin', 'sentinel'] as const;
export type Area = (typeof areas)[number];

/** `list` exists for plugins only; `scale` grants nothing in an area. */
export type AreaLevel = 'list' | 'read' | 'write' | 'scale' | 'deny';
