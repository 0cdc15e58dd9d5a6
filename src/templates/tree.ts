/** Every node has its start offset. */
interface Node {
  readonly offset: number;
}

export type Statement =
  | (Node & { readonly kind: 'text'; readonly text: string })
  /** Its value is printed, unless it is assigned to a variable. */
  | (Node & { readonly kind: 'action'; readonly pipeline: Pipeline })
  | (Node & {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipeline: Pipeline;
      readonly body: Block;
      readonly otherwise: Block;
    })
  | (Node & { readonly kind: 'break' | 'continue' });

export type Block = readonly Statement[];

export interface Pipeline extends Node {
  /** `$a :=` and `$a =`; two for `range $i, $v :=`. */
  readonly variables: readonly string[];
  readonly declares: boolean;
  /** Each receives the value of the previous one as its last argument. */
  readonly commands: readonly Command[];
}

export type Command =
  | (Node & { readonly kind: 'call'; readonly name: string; readonly args: readonly Operand[] })
  | (Node & { readonly kind: 'value'; readonly operand: Operand });

export type Operand = Node & {
  readonly base: Base;
  /** Members to access, starting from the base. */
  readonly path: readonly string[];
};

export type Base =
  | { readonly kind: 'dot' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: bigint | number | string | boolean | null }
  | { readonly kind: 'call'; readonly name: string }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline };

/** Why a template is invalid or cannot be rendered. */
export interface TemplateFault {
  readonly type: 'template_fault';
  readonly message: string;
  /** Both from 1; columns count characters. */
  readonly line: number;
  readonly column: number;
}

/** A fault with its offset in the template, before line and column are computed. */
export interface FaultAt {
  readonly offset: number;
  readonly message: string;
}

/*
 * Limits on the cost of a template. Work is counted in steps of less than a microsecond: one for each node that is rendered, and one for every
 * 64 characters that a function reads or produces.
 */

/** Characters of a template. */
export const MAX_TEMPLATE_LENGTH = 262_144;

/** Characters of one string or number in an action. Literal parts outside actions may be longer. */
export const MAX_LITERAL = 65_536;

/** Variables that are in scope at once. */
export const MAX_VARIABLES = 1_000;

/** Nesting of blocks, parentheses and data. */
export const MAX_DEPTH = 100;

/** Steps of one rendering: a fraction of a second. */
export const MAX_WORK = 500_000;

/** Characters of the output, and of any intermediate string. */
export const MAX_OUTPUT = 4_194_304;

/** Characters of a string that cost one step. */
export const CHARACTERS_PER_STEP = 64;
