// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

/** A rule that a node must satisfy. The block `constraint` of a job specification. */
export interface ConstraintInput {
  /** The attribute to compare: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`. */
  readonly LTarget?: string | null;
  /** The value to compare it with. */
  readonly RTarget?: string | null;
  /**
   * `=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains`, `set_contains_any`, `is_set`,
   * `is_not_set`, `distinct_hosts` or `distinct_property`.
   */
  readonly Operand?:
    | '='
    | '=='
    | 'is'
    | '!='
    | 'not'
    | '<'
    | '<='
    | '>'
    | '>='
    | 'regexp'
    | 'version'
    | 'semver'
    | 'set_contains'
    | 'set_contains_all'
    | 'set_contains_any'
    | 'is_set'
    | 'is_not_set'
    | 'distinct_hosts'
    | 'distinct_property'
    | null;
}

/**
 * A rule that a node should satisfy, with a weight from -100 (avoid) to 100 (prefer). The block `affinity` of a job
 * specification.
 */
export interface AffinityInput {
  /** The attribute to compare: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`. */
  readonly LTarget?: string | null;
  /** The value to compare it with. */
  readonly RTarget?: string | null;
  /** `=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains` or `set_contains_any`. */
  readonly Operand?:
    | '='
    | '=='
    | 'is'
    | '!='
    | 'not'
    | '<'
    | '<='
    | '>'
    | '>='
    | 'regexp'
    | 'version'
    | 'semver'
    | 'set_contains'
    | 'set_contains_all'
    | 'set_contains_any'
    | null;
  /**
   * From -100 to 100, not 0. A negative weight keeps allocations away. A whole number from -128 to 127. Default:
   * `50`.
   */
  readonly Weight?: number | null;
}

/** An attribute over whose values allocations are spread. The block `spread` of a job specification. */
export interface SpreadInput {
  /** An interpolation over whose values allocations are spread, such as `${node.datacenter}`. */
  readonly Attribute?: string | null;
  /** From 1 to 100, relative to other spreads. A whole number from -128 to 127. Default: `50`. */
  readonly Weight?: number | null;
  /** The share of each value; without targets, allocations are spread evenly over all values. */
  readonly SpreadTarget?: readonly SpreadTargetInput[] | null;
}

/** The share of allocations that one value of the attribute should get. The block `target` of a job specification. */
export interface SpreadTargetInput {
  /** A value of the attribute. */
  readonly Value?: string | null;
  /** From 0 to 100; at most 100 for all targets together. Other values share the rest. A whole number from 0 to 255. */
  readonly Percent?: number | null;
}
