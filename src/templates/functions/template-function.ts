import type { Value } from '../values.js';

/** What a function gets beside its arguments. */
export interface Call {
  readonly inputs: TemplateInputs;
  readonly reads: ReadsOf;
  /** Pays for characters that are read or made; false when the template has used up what it may. */
  spend(characters: number): boolean;
  /** Ends the rendering. */
  fail(message: string): undefined;
}

/** A function of templates. After `fail` its value means nothing. */
export interface TemplateFunction {
  readonly least: number;
  /** Infinite where any number is taken. */
  readonly most: number;
  readonly run: (args: readonly Value[], call: Call) => Value;
}

/** What a template may look at. All of it is of one moment. */
export interface TemplateInputs {
  /** The environment of the task, without what templates add to it. */
  readonly env: Readonly<Record<string, string>>;
  /** The meta of the task, with what its group and job have. */
  readonly meta: Readonly<Record<string, string>>;
  /** The items of a variable of the store; undefined when there is none that the task may read. */
  readonly variable: (path: string, namespace: string | undefined) => Readonly<Record<string, string>> | undefined;
  /** The variables that the task may read whose path begins with this, in their order. */
  readonly variables: (prefix: string, namespace: string | undefined) => readonly VariableName[];
}

export interface VariableName {
  readonly path: string;
  readonly namespace: string;
}

/** A variable that a template looked at, or a beginning of paths that it listed. */
export interface VariableRead {
  readonly path: string;
  /** Absent where the task's own is meant. */
  readonly namespace?: string;
}

/** Records what is read. */
export interface ReadsOf {
  variable(read: VariableRead, exists: boolean, isNeeded: boolean): void;
  prefix(read: VariableRead): void;
}

/** A function of exactly that many arguments. */
export function exactly(count: number, run: (args: readonly Value[], call: Call) => Value): TemplateFunction {
  return { least: count, most: count, run };
}
