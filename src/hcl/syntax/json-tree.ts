import type { Span } from './tree.js';

/** The JSON form before a schema has separated attributes from blocks. */
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

interface JsonString extends Span {
  readonly kind: 'json-string';
  readonly text: string;
  /** True if the source has no escapes, so that offsets in the text are offsets after the quote. */
  readonly verbatim: boolean;
}
