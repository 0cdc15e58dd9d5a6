/**
 * The syntax tree. Every node carries two offsets into its source (UTF-16 units, end excluded); lines and columns are
 * computed only when a position is displayed (see `source.ts`).
 */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A body in source order: a whole file, or the content of a block. */
export interface Body extends Span {
  readonly kind: 'body';
  readonly items: readonly BodyItem[];
}

/** What a body consists of. */
export type BodyItem = Attribute | Block;

/** `name = value`. */
export interface Attribute extends Span {
  readonly kind: 'attribute';
  readonly name: string;
  readonly nameSpan: Span;
  readonly value: Expression;
}

/** `type "label" { … }`. */
export interface Block extends Span {
  readonly kind: 'block';
  readonly type: string;
  readonly typeSpan: Span;
  readonly labels: readonly Label[];
  readonly body: Body;
}

/** A label of a block, quoted or not. */
export interface Label extends Span {
  readonly text: string;
}

/** Every kind of expression. */
export type Expression =
  | NumberLiteral
  | KeywordLiteral
  | Template
  | Reference
  | Traversal
  | Unary
  | Binary
  | Conditional
  | Tuple
  | ObjectExpression
  | ForExpression
  | Call
  | Parentheses;

/** A number, as it is written. */
export interface NumberLiteral extends Span {
  readonly kind: 'number';
  readonly text: string;
}

/** One of the three literal keywords. */
export interface KeywordLiteral extends Span {
  readonly kind: 'keyword';
  readonly name: 'true' | 'false' | 'null';
}

/** A quoted template or a heredoc. Neighbouring literal parts are one part, and none is empty. */
export interface Template extends Span {
  readonly kind: 'template';
  readonly parts: readonly TemplatePart[];
  /** Whether the template is exactly one `${ }`, so that its value keeps its type. */
  readonly passThrough: boolean;
}

/** What a template consists of. */
export type TemplatePart = TextPart | Interpolation | IfDirective | ForDirective;

/** A literal part of a template. */
export interface TextPart extends Span {
  readonly kind: 'text';
  readonly text: string;
}

/** `${value}` in a template. */
export interface Interpolation extends Span {
  readonly kind: 'interpolation';
  readonly value: Expression;
}

/** `%{ if condition }…%{ else }…%{ endif }` in a template. */
export interface IfDirective extends Span {
  readonly kind: 'if';
  readonly condition: Expression;
  readonly whenTrue: readonly TemplatePart[];
  readonly whenFalse: readonly TemplatePart[] | undefined;
}

/** `%{ for key, value in collection }…%{ endfor }` in a template. */
export interface ForDirective extends Span {
  readonly kind: 'for-directive';
  readonly keyName: string | undefined;
  readonly valueName: string;
  readonly collection: Expression;
  readonly body: readonly TemplatePart[];
}

/** A name with the constant steps behind it: `a`, `a.b[0]["c"].1`. */
export interface Reference extends Span {
  readonly kind: 'reference';
  readonly name: string;
  readonly steps: readonly ConstantStep[];
  /** The value of the reference if its name is undefined: its own source text within `${` and `}`. */
  readonly placeholder: string;
}

/** An expression followed by steps into its value: `a.b[0]`. */
export interface Traversal extends Span {
  readonly kind: 'traversal';
  readonly source: Expression;
  readonly steps: readonly Step[];
}

/** `key` is a string for `.name` and `["name"]`; for the number forms it is the literal. */
export type ConstantStep = AttributeStep | IndexStep;
/** One step of a traversal. */
export type Step = AttributeStep | IndexStep | SplatStep;

/** `.name`. */
export interface AttributeStep extends Span {
  readonly kind: 'attribute-step';
  readonly name: string;
}

/** `[key]`, or `.0` when `legacy`. */
export interface IndexStep extends Span {
  readonly kind: 'index-step';
  readonly key: Expression;
  readonly legacy: boolean;
}

/** `[*]` with all steps behind it, or `.*` with the `.name` steps behind it. */
export interface SplatStep extends Span {
  readonly kind: 'splat-step';
  readonly full: boolean;
  readonly each: readonly Step[];
}

/** Operators before one operand. */
export type UnaryOperator = '-' | '!';
/** Operators between two operands. */
export type BinaryOperator = '||' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '+' | '-' | '*' | '/' | '%';

/** An operator and its operand. */
export interface Unary extends Span {
  readonly kind: 'unary';
  readonly operator: UnaryOperator;
  readonly operand: Expression;
}

/** An operator between its operands. */
export interface Binary extends Span {
  readonly kind: 'binary';
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

/** `condition ? whenTrue : whenFalse`. */
export interface Conditional extends Span {
  readonly kind: 'conditional';
  readonly condition: Expression;
  readonly whenTrue: Expression;
  readonly whenFalse: Expression;
}

/** `[a, b]`. */
export interface Tuple extends Span {
  readonly kind: 'tuple';
  readonly items: readonly Expression[];
}

/** `{ key = value }`. */
export interface ObjectExpression extends Span {
  readonly kind: 'object';
  readonly items: readonly ObjectItem[];
}

/** One entry of an object expression. */
export interface ObjectItem {
  readonly key: Expression;
  readonly value: Expression;
}

/** `[for …]`, or `{for …}` when `key` is there; `grouped` is the trailing `...`. */
export interface ForExpression extends Span {
  readonly kind: 'for';
  readonly keyName: string | undefined;
  readonly valueName: string;
  readonly collection: Expression;
  readonly key: Expression | undefined;
  readonly value: Expression;
  readonly grouped: boolean;
  readonly condition: Expression | undefined;
}

/** `name(arguments)`. */
export interface Call extends Span {
  readonly kind: 'call';
  readonly name: string;
  readonly nameSpan: Span;
  readonly openSpan: Span;
  readonly arguments: readonly Expression[];
  /** The last argument is followed by `...`. */
  readonly expandLast: boolean;
}

/** An expression in parentheses. */
export interface Parentheses extends Span {
  readonly kind: 'parentheses';
  readonly inner: Expression;
}
