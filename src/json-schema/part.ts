import type { JsonObject } from './json.js';
import { type Check, OPEN, type SchemaNode } from './run.js';

/** A problem of a schema. */
export interface SchemaProblem {
  /** JSON pointer within the schema; empty for the whole. */
  readonly pointer: string;
  /** The rest of a sentence whose subject is the keyword or the schema. */
  readonly message: string;
}

/** A reference, whose target is resolved when the whole schema has been read. */
export interface Reference {
  readonly text: string;
  readonly from: SchemaNode;
  target: SchemaNode | null;
}

/** A part of a schema while it is read: the context of keywords. */
export interface Part {
  readonly schema: JsonObject;
  readonly node: SchemaNode;
  /** Reports that a keyword cannot be enforced. Its check leaves the value open. */
  refuse(keyword: string, message: string): Check;
  /** Reads a part for a child of the value: a member or an element. */
  inner(schema: unknown, ...path: readonly (string | number)[]): SchemaNode;
  /** Reads a part for the value itself. */
  same(schema: unknown, ...path: readonly (string | number)[]): SchemaNode;
  reference(text: string): Reference;
  anchor(name: string): void;
  /** Whether a pattern that takes this many microseconds to compile may still be compiled. */
  spendCompiling(time: number): boolean;
}

/** Keywords that are interpreted together. */
export interface KeywordGroup {
  readonly keywords: readonly string[];
  /** The check of the group, called when a part has one of its keywords; null when there is nothing to check. */
  readonly read: (part: Part) => Check | null;
}

export const leaveOpen: Check = () => OPEN;
