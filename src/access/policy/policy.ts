/**
 * The parsed rules of a policy, in the wire's member names (job interface, policies). Capabilities are listed as
 * written, followed by those of the shorthand.
 */
export interface Policy {
  /** Rules by namespace; null if there are none. */
  readonly Namespaces: readonly NamespacePolicy[] | null;
  /** Rules by node pool; null if there are none. */
  readonly NodePools: readonly NamedPolicy[] | null;
  /** Rules by host volume; null if there are none. */
  readonly HostVolumes: readonly NamedPolicy[] | null;
  /** The agent's own calls, such as its log; null if there is no rule. */
  readonly Agent: AreaPolicy | null;
  /** Nodes and their metadata; null if there is no rule. */
  readonly Node: AreaPolicy | null;
  /** Settings of the installation; null if there is no rule. */
  readonly Operator: OperatorPolicy | null;
  /** Null if there is no rule. No call requires this right. */
  readonly Quota: AreaPolicy | null;
  /** Plugins for volumes; null if there is no rule. */
  readonly Plugin: AreaPolicy | null;
  /** Null if there is no rule. No call requires this right. */
  readonly Sentinel: AreaPolicy | null;
  /** The source text. */
  readonly Raw: string;
  /** Always null: unknown keys are refused. */
  readonly ExtraKeysHCL: null;
}

/** A rule for objects whose names match a glob. */
export interface NamedPolicy {
  /** The name, or a glob in which `*` stands for any characters. */
  readonly Name: string;
  /** `''` if only capabilities are given. */
  readonly Policy: string;
  /** Null if nothing is granted. */
  readonly Capabilities: readonly string[] | null;
}

/** A rule for the namespaces whose names match, with the rights on their variables. */
export interface NamespacePolicy extends NamedPolicy {
  /** Rights on variables by path; null if there is no rule. */
  readonly Variables: { readonly Paths: readonly VariablePathPolicy[] } | null;
}

/** A rule for the variables of a namespace whose paths match. */
export interface VariablePathPolicy {
  /** A path or a glob. */
  readonly PathSpec: string;
  /** As written; `read` implies `list`. */
  readonly Capabilities: readonly VariableCapability[];
}

/** The access level of an area that has no named objects: `list`, `read`, `write`, `scale` or `deny`. */
export interface AreaPolicy {
  /** `list` exists for plugins only. */
  readonly Policy: string;
}

/** The access level of the operator's area. The capabilities are only shown: the level decides. */
export interface OperatorPolicy extends AreaPolicy {
  /** As written, followed by those of the level; null if there are none. */
  readonly Capabilities: readonly string[] | null;
}

/** The rights that a policy can grant on variables. */
export const variableCapabilities = ['list', 'read', 'write', 'destroy', 'deny'] as const;
/** One right on variables; `deny` takes all others away. */
export type VariableCapability = (typeof variableCapabilities)[number];

/** The rights that a policy can grant on node pools. */
export const nodePoolCapabilities = ['read', 'write', 'delete', 'deny'] as const;
/** One right on node pools; `deny` takes all others away. */
export type NodePoolCapability = (typeof nodePoolCapabilities)[number];

/** The rights that a policy can grant on host volumes. */
export const hostVolumeCapabilities = ['mount-readonly', 'mount-readwrite', 'deny'] as const;
/** One right on host volumes; `deny` takes all others away. */
export type HostVolumeCapability = (typeof hostVolumeCapabilities)[number];

/** Areas with a single access level. */
export const areas = ['agent', 'node', 'operator', 'quota', 'plugin', 'sentinel'] as const;
/** One of the areas that a policy grants with a single access level. */
export type Area = (typeof areas)[number];

/** `list` exists for plugins only; `scale` grants nothing in an area. */
export type AreaLevel = 'list' | 'read' | 'write' | 'scale' | 'deny';
