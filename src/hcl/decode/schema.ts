import type { Result } from 'neverthrow';
import type { DiagnosticCode } from '../diagnostics/codes.js';
import type { SourceText } from '../syntax/source.js';
import type { Span } from '../syntax/tree.js';
import type { HclValue } from '../values/value.js';

/**
 * What a body may contain. A schema is plain data: the decoder reads it, reports every mismatch at its position
 * (with a suggestion for a misspelled name), and returns a `DecodedBody`.
 */
export interface BodySchema {
  readonly attributes?: Readonly<Record<string, AttributeSchema>>;
  readonly blocks?: Readonly<Record<string, BlockSchema>>;
  /** Rule for attributes of any other name, for a body that is a map, e.g. `{ otherAttributes: { is: 'string' } }` for `meta { … }`. */
  readonly otherAttributes?: AttributeSchema;
}

/** How one attribute is read. */
export interface AttributeSchema {
  readonly is: AttributeKind;
  readonly required?: boolean;
  /** If true, `null` means "not set" and the attribute is left out of the decoded body; otherwise `null` is an error. */
  readonly nullable?: boolean;
}

/**
 * | kind | accepts | returns |
 * |---|---|---|
 * | `string` | string, number, bool | string |
 * | `integer` | whole number, numeric string | number |
 * | `number` | number, numeric string | number |
 * | `bool` | bool, `"true" "false" "1" "0"` | boolean |
 * | `duration` | Go duration text, whole number of nanoseconds | nanoseconds as a number |
 * | `stringList` | collection of what `string` accepts; in version 1 sources one such value | string[] |
 * | `integerList` | collection of what `integer` accepts | number[] |
 * | `stringMap` | map or object of what `string` accepts | Record<string, string> |
 * | `stringListMap` | map or object of what `stringList` accepts | Record<string, string[]> |
 * | `any` | everything | plain data |
 *
 * With `{ integer: [lowest, highest] }` and `{ integerList: […] }` the numbers are range-checked. `{ convert }` is the caller's own
 * rule: it receives the evaluated value and returns plain data, or a sentence that is reported at the value.
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
  /** Names of the labels in messages; a block must have exactly as many labels. Default: none. */
  readonly labels?: readonly string[];
  /** `once`: a second block is an error that refers to the first. `many`: any number, in source order. */
  readonly times: 'once' | 'many';
  /** A block of this type is required. */
  readonly required?: boolean;
  /** A schema, a function that gives it (for schemas that contain themselves), or `freeForm`: anything, as plain data. */
  readonly body: BodySchema | (() => BodySchema) | 'freeForm';
}

/** Data without the types of the language. Numbers are JavaScript numbers. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

/** A span of one of the sources, for `Report` and for diagnostics made later. */
export interface SourceRange extends Span {
  readonly source: SourceText;
}

/** A body after decoding: only the items that were given, in source order. */
export interface DecodedBody {
  readonly attributes: ReadonlyMap<string, DecodedAttribute>;
  /** Blocks by type; `dynamic` blocks are expanded in place. */
  readonly blocks: ReadonlyMap<string, readonly DecodedBlock[]>;
  /** Where the body opens. */
  readonly range: SourceRange;
}

/** An attribute with its value, and the position of both in the source. */
export interface DecodedAttribute {
  readonly name: string;
  readonly value: PlainValue;
  readonly nameRange: SourceRange;
  /** The whole expression. */
  readonly valueRange: SourceRange;
  /** Position for a problem with the value: for a quoted string its content after the quote, for a collection its bracket. */
  readonly valueStart: SourceRange;
}

/** A block with its labels and its content. */
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

/** A label of a block. */
export interface DecodedLabel {
  readonly text: string;
  readonly range: SourceRange;
}

/** Reports a problem found by the caller's own rules. */
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
