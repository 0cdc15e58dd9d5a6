/** An error in a rules source; line and column count from 1. */
export interface RulesFault {
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
}

/** Reads a rules source from left to right and stops at the first error. */
export interface RulesReader {
  readonly text: string;
  /** `:` instead of `=`, as in JSON. */
  readonly json: boolean;
  at: number;
  items: number;
  fault: { readonly message: string; readonly at: number } | undefined;
}

/** Records the first error. */
export function fail(reader: RulesReader, message: string, at = reader.at): undefined {
  reader.fault ??= { message, at };
  return undefined;
}

/** Line and column, from 1, of an offset in a string. */
export function positionOf(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}

/** A string truncated for a message. */
export function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
