import type { Span } from './tree.js';

/** The JSON form before a schema has said what is an attribute and what a block. */
export type JsonValue =
  | JsonObject
  | (Span & { readonly kind: 'json-array'; readonly items: readonly JsonValue[] })
  | JsonString
  | (Span & { readonly kind: 'json-number'; readonly text: string })
  | (Span & { readonly kind: 'json-keyword'; readonly name: 'true' | 'false' | 'null' });

export interface JsonObject extends Span {
  readonly kind: 'json-object';
  readonly members: readonly JsonMember[];
}

export interface JsonMember {
  readonly name: string;
  readonly nameSpan: Span;
  readonly value: JsonValue;
}

export interface JsonString extends Span {
  readonly kind: 'json-string';
  readonly text: string;
  /** The text stands in the source as it is, so offsets in it are offsets behind the quote. */
  readonly verbatim: boolean;
}
