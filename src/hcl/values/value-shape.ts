import type { HclNumber } from './big-float.js';

/**
 * The type of a value. `dynamic` is the type of a bare `null`; in a type constraint it stands for "any type".
 * Object attributes are kept in code point order.
 */
export type HclType =
  | { readonly kind: 'string' }
  | { readonly kind: 'number' }
  | { readonly kind: 'bool' }
  | { readonly kind: 'dynamic' }
  | { readonly kind: 'list'; readonly element: HclType }
  | { readonly kind: 'set'; readonly element: HclType }
  | { readonly kind: 'map'; readonly element: HclType }
  | { readonly kind: 'tuple'; readonly elements: readonly HclType[] }
  | { readonly kind: 'object'; readonly attributes: ReadonlyMap<string, HclType> };

export type HclNull = { readonly kind: 'null'; readonly type: HclType };
export type HclString = { readonly kind: 'string'; readonly value: string };
export type HclNumeric = { readonly kind: 'number'; readonly value: HclNumber };
export type HclBool = { readonly kind: 'bool'; readonly value: boolean };
export type HclList = {
  readonly kind: 'list';
  readonly element: HclType;
  readonly items: readonly HclValue[];
  readonly size: number;
  readonly depth: number;
};
export type HclSet = {
  readonly kind: 'set';
  readonly element: HclType;
  readonly items: readonly HclValue[];
  readonly size: number;
  readonly depth: number;
};
export type HclMap = {
  readonly kind: 'map';
  readonly element: HclType;
  readonly entries: ReadonlyMap<string, HclValue>;
  readonly size: number;
  readonly depth: number;
};
export type HclTuple = {
  readonly kind: 'tuple';
  readonly items: readonly HclValue[];
  readonly size: number;
  readonly depth: number;
};
export type HclObject = {
  readonly kind: 'object';
  readonly entries: ReadonlyMap<string, HclValue>;
  readonly size: number;
  readonly depth: number;
};

/**
 * An immutable, typed, nullable value. Build it with the constructors of `value.ts` only: they normalise strings, sort maps, objects and
 * sets by code point (sets of numbers ascending), and keep `size` and `depth`. A null in a list, set or map carries the element type.
 */
export type HclValue = HclNull | HclString | HclNumeric | HclBool | HclList | HclSet | HclMap | HclTuple | HclObject;
