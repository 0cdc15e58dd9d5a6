/** A parsed filter expression. */
export type Expression =
  | { readonly kind: 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'and'; readonly operands: readonly Expression[] }
  | { readonly kind: 'not'; readonly operand: Expression }
  | Match
  | Quantified;

/** A test of one value of the record. */
export interface Match {
  readonly kind: 'match';
  readonly test: Test;
  /** True for `!=`, `not in`, `is not empty` … */
  readonly negated: boolean;
  readonly selector: Selector;
  /** The value to compare with; empty for tests without one. */
  readonly value: string;
}

/** `in` is `contains` with its sides exchanged. */
export type Test = 'equal' | 'in' | 'matches' | 'empty' | 'nil';

/** `any` or `all` of the elements of a list or a map. */
export interface Quantified {
  readonly kind: 'any' | 'all';
  readonly selector: Selector;
  readonly names: Names;
  readonly inner: Expression;
}

/** The names between `as` and the brace. */
export interface Names {
  /** A single name: an element of a list, or a key of a map. */
  readonly single?: string;
  /** The first of two names: the position in a list, or the key of a map. */
  readonly index?: string;
  /** The second of two names. */
  readonly value?: string;
}

/** The path from the record to a value. */
export interface Selector {
  readonly path: readonly string[];
  /** As written. */
  readonly text: string;
  /** Offset in UTF-16 units. */
  readonly offset: number;
}
