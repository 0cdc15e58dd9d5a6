/** A rule that a node must satisfy. The stored form of `ConstraintInput`, which describes the fields. */
export interface Constraint {
  readonly LTarget: string;
  readonly RTarget: string;
  readonly Operand: string;
}

/** A rule that a node should satisfy; `Weight` -100..100. The stored form of `AffinityInput`, which describes the fields. */
export interface Affinity {
  readonly LTarget: string;
  readonly RTarget: string;
  readonly Operand: string;
  readonly Weight: number;
}

/** An attribute over which allocations are spread. The stored form of `SpreadInput`, which describes the fields. */
export interface Spread {
  readonly Attribute: string;
  readonly Weight: number;
  readonly SpreadTarget: readonly SpreadTarget[] | null;
}

/** The stored form of `SpreadTargetInput`, which describes the fields. */
export interface SpreadTarget {
  readonly Value: string;
  readonly Percent: number;
}
