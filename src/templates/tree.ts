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
