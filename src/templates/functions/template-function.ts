import { MAX_OUTPUT } from '../tree.js';
import { kindOf, printed, textOf, type Value } from '../values.js';

/** The context of a function call. */
export interface Call {
  readonly inputs: TemplateInputs;
  readonly reads: ReadsOf;
  /** Charges characters that are read or produced; false if the template's budget is spent. */
  spend(characters: number): boolean;
  /** Stops the rendering. The message becomes an event of the task: it may quote only what is written in the template. */
  fail(message: string): undefined;
  /** Whether the value is a constant of the template. Other values come from variables and the environment, and may be secret. */
  isWritten(value: Value): boolean;
}

/** A template function. Its result is ignored after `fail`. */
export interface TemplateFunction {
  readonly least: number;
  /** Infinity for a variable number of arguments. */
  readonly most: number;
  readonly run: (args: readonly Value[], call: Call) => Value;
  /** Why a call is rejected before rendering. Gets the first argument (also if piped; undefined unless constant) and the number of arguments. */
  readonly refusal?: (first: Value, count: number) => string | undefined;
}

/** The inputs of a template: a consistent snapshot. */
export interface TemplateInputs {
  /**
   * The task's environment without the variables that templates add, and the properties of the node: `node.unique.name`,
   * `node.unique.id`, `node.datacenter`, `node.region`, `node.class`, `node.pool`, `attr.NAME` and `meta.NAME`.
   */
  readonly env: Readonly<Record<string, string>>;
  /** The meta of the task, merged with that of its group and job. */
  readonly meta: Readonly<Record<string, string>>;
  /** The items of a variable of the store; undefined if it does not exist or the task may not read it. */
  readonly variable: (path: string, namespace: string | undefined) => Readonly<Record<string, string>> | undefined;
  /** The readable variables whose path has this prefix, in path order. */
  readonly variables: (prefix: string, namespace: string | undefined) => readonly VariableName[];
}

/** A variable, by its namespace and path. */
export interface VariableName {
  readonly path: string;
  readonly namespace: string;
}

/** A variable that a template read, or a path prefix that it listed. */
export interface VariableRead {
  /** The whole path, or its prefix where a list was requested. */
  readonly path: string;
  /** Absent for the task's own namespace. */
  readonly namespace?: string;
}

/** Records a read. */
export interface ReadsOf {
  variable(read: VariableRead, exists: boolean, isNeeded: boolean): void;
  prefix(read: VariableRead): void;
}

/** A function with exactly this number of arguments. */
export function exactly(count: number, run: (args: readonly Value[], call: Call) => Value): TemplateFunction {
  return { least: count, most: count, run };
}

/** A function whose arguments are strings. */
export function ofTexts(count: number, run: (texts: readonly string[], call: Call) => Value): TemplateFunction {
  return exactly(count, (args, call) => {
    const texts = textsFrom(args, call);
    return texts && run(texts, call);
  });
}

/** The arguments as strings; their length is charged. */
export function textsFrom(args: readonly Value[], call: Call): readonly string[] | undefined {
  const texts: string[] = [];
  for (const value of args) {
    const text = textOf(value);
    if (text === undefined) return call.fail(`a string is needed here, not ${kindOf(value)}`);
    if (!call.spend(text.length)) return undefined;
    texts.push(text);
  }
  return texts;
}

/** A result string; its length is charged. */
export function made(text: string, call: Call): Value {
  return call.spend(text.length) ? text : undefined;
}

/** A value as it is printed; its length is charged. */
export function shown(value: Value, call: Call): string | undefined {
  const text = printed(value, MAX_OUTPUT);
  if (text === undefined) return call.fail('the value is too long to be printed');
  return call.spend(text.length) ? text : undefined;
}

/** A whole number that fits 32 bits, such as an index or a length. */
export function smallFrom(value: Value, call: Call): number | undefined {
  if (typeof value === 'bigint' && BigInt.asIntN(32, value) === value) return Number(value);
  return call.fail(`a whole number is needed here, not ${kindOf(value)}`);
}

/** The beginning of a string, quoted, for messages. */
export function quotedStart(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
