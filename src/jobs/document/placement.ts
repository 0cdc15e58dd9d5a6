/** A rule that a node must satisfy. */
export interface Constraint {
  readonly LTarget: string;
  readonly RTarget: string;
  readonly Operand: string;
}

/** A rule that a node should satisfy; `Weight` -100..100. */
export interface Affinity {
  readonly LTarget: string;
  readonly RTarget: string;
  readonly Operand: string;
  readonly Weight: number;
}

/** An attribute over which allocations are spread. */
export interface Spread {
  readonly Attribute: string;
  readonly Weight: number;
  readonly SpreadTarget: readonly SpreadTarget[] | null;
}

interface SpreadTarget {
  readonly Value: string;
  readonly Percent: number;
}
