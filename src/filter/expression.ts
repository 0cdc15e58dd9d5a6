/** A filter expression as it was read. */
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
  /** `!=`, `not in`, `is not empty` … */
  readonly negated: boolean;
  readonly selector: Selector;
  /** What the value is compared with; empty for tests that compare with nothing. */
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

/** What stands between `as` and the brace. */
export interface Names {
  /** A single name: an element of a list, or a key of a map. */
  readonly single?: string;
  /** The first of two names: the position in a list, or the key of a map. */
  readonly index?: string;
  /** The second of two names. */
  readonly value?: string;
}

/** The way from the record to a value. */
export interface Selector {
  readonly path: readonly string[];
  /** As it was written. */
  readonly text: string;
  /** 16-bit units before it. */
  readonly offset: number;
}
