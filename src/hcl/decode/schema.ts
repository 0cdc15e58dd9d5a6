import type { Result } from 'neverthrow';
import type { DiagnosticCode } from '../diagnostics/codes.js';
import type { SourceText } from '../syntax/source.js';
import type { Span } from '../syntax/tree.js';
import type { HclValue } from '../values/value.js';

/**
 * What may stand in a body. A schema is plain data: the decoder reads it, reports everything that does not fit, each at its own position
 * (with a suggestion for a misspelled name), and hands back a `DecodedBody`.
 */
export interface BodySchema {
  readonly attributes?: Readonly<Record<string, AttributeSchema>>;
  readonly blocks?: Readonly<Record<string, BlockSchema>>;
  /** Rule for attributes of any other name: a body that is a map, e.g. `{ otherAttributes: { is: 'string' } }` for `meta { … }`. */
  readonly otherAttributes?: AttributeSchema;
}

/** How one attribute is read. */
export interface AttributeSchema {
  readonly is: AttributeKind;
  readonly required?: boolean;
  /** `null` counts as "not set" and the attribute is left out of the decoded body; without this, `null` is an error. */
  readonly nullable?: boolean;
}

/**
 * | kind | accepts | gives |
 * |---|---|---|
 * | `string` | string, number, bool | string |
 * | `integer` | whole number, numeric string | number |
 * | `number` | number, numeric string | number |
 * | `bool` | bool, `"true" "false" "1" "0"` | boolean |
 * | `duration` | Go duration text, whole number of nanoseconds | nanoseconds as a number |
 * | `stringList` | collection of what `string` accepts; in version 1 texts one such value | string[] |
 * | `integerList` | collection of what `integer` accepts | number[] |
 * | `stringMap` | map or object of what `string` accepts | Record<string, string> |
 * | `stringListMap` | map or object of what `stringList` accepts | Record<string, string[]> |
 * | `any` | everything | plain data |
 *
 * With `{ integer: [lowest, highest] }` and `{ integerList: […] }` the numbers are range-checked. `{ convert }` is the caller's own
 * rule: it gets the evaluated value and returns plain data, or a sentence that is reported at the value.
 */
export type AttributeKind =
  | 'string'
  | 'integer'
  | 'number'
  | 'bool'
  | 'duration'
  | 'stringList'
  | 'integerList'
  | 'stringMap'
  | 'stringListMap'
  | 'any'
  | { readonly integer: readonly [lowest: number, highest: number] }
  | { readonly integerList: readonly [lowest: number, highest: number] }
  | { readonly convert: (value: HclValue) => Result<PlainValue, string> };

/** How blocks of one type are read. */
export interface BlockSchema {
  /** What the labels are called in messages; their number is the number of labels that must be given. Default: none. */
  readonly labels?: readonly string[];
  /** `once`: a second one is an error that names the first. `many`: any number, order kept. */
  readonly times: 'once' | 'many';
  /** A block of this type must be there. */
  readonly required?: boolean;
  /** A schema, a function that gives it (for schemas that contain themselves), or `freeForm`: anything, as plain data. */
  readonly body: BodySchema | (() => BodySchema) | 'freeForm';
}

/** Data without types of the language. Numbers are JavaScript numbers. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

/** A span of one of the source texts, for `Report` and for diagnostics made later. */
export interface SourceRange extends Span {
  readonly source: SourceText;
}

/** A body after decoding. Only what was given is in it, in source order. */
export interface DecodedBody {
  readonly attributes: ReadonlyMap<string, DecodedAttribute>;
  /** Blocks by type; `dynamic` blocks are expanded in place. */
  readonly blocks: ReadonlyMap<string, readonly DecodedBlock[]>;
  /** Where the body opens. */
  readonly range: SourceRange;
}

export interface DecodedAttribute {
  readonly name: string;
  readonly value: PlainValue;
  readonly nameRange: SourceRange;
  /** The whole expression. */
  readonly valueRange: SourceRange;
  /** Where a complaint about the value belongs: for a quoted text the text behind the quote, for a collection its bracket. */
  readonly valueStart: SourceRange;
}

export interface DecodedBlock {
  readonly type: string;
  readonly labels: readonly DecodedLabel[];
  /** Decoded by the block's schema; empty for a free-form block. */
  readonly body: DecodedBody;
  /** The content of a free-form block; undefined for all others. */
  readonly data: { readonly [key: string]: PlainValue } | undefined;
  /** The block's type name. */
  readonly range: SourceRange;
}

export interface DecodedLabel {
  readonly text: string;
  readonly range: SourceRange;
}

/** Reports a problem that only the caller's rules know about. */
export type Report = (
  range: SourceRange,
  problem: {
    readonly message: string;
    readonly detail?: string;
    readonly suggestion?: string;
    /** Default `rule`. */
    readonly code?: DiagnosticCode;
    /** Default `error`. */
    readonly severity?: 'error' | 'warning';
  },
) => void;
