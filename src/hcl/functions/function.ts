import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import type { Budget } from '../evaluate/budget.js';
import { convert } from '../values/convert.js';
import type { HclType, HclValue } from '../values/value.js';
import { depthOf, sizeOf } from '../values/value.js';
import { conversionWork, normalizationWork } from '../values/work.js';

/** The context of a call: new UUIDs for the random functions, and the remaining budget. */
export interface FunctionContext {
  readonly ids: { next(kind: 'uuid'): string };
  readonly budget: Budget;
}

/** A parameter of a function of the language. */
export interface HclParameter {
  readonly name: string;
  /** Arguments are converted to this type; `dynamic` accepts any value unchanged. */
  readonly type: HclType;
  /** Without it a null argument is an error. */
  readonly allowNull?: boolean;
}

/** Why a call failed. `argument` is the index of the argument at fault; without it the error refers to the whole call. */
export interface FunctionError {
  readonly type:
    | 'too_few_arguments'
    | 'too_many_arguments'
    | 'null_argument'
    | 'invalid_argument'
    | 'function_failed'
    /** The result or the work for it is larger than the budget; `try` and `can` do not catch it. */
    | 'budget_exceeded';
  readonly message: string;
  readonly argument?: number;
}

/** A function of values. `call` checks and converts the arguments, charges the budget and bounds the result. */
export interface EagerFunction {
  readonly kind: 'eager';
  readonly name: string;
  readonly parameters: readonly HclParameter[];
  readonly variadic?: HclParameter;
  call(args: readonly HclValue[], context: FunctionContext): Result<HclValue, FunctionError>;
}

/** A function that the evaluator runs itself, because it needs the argument expressions instead of their values. */
export interface LazyFunction {
  readonly kind: 'lazy';
  readonly name: 'try' | 'can' | 'convert';
  readonly minimum: number;
  /** Undefined when there is none. */
  readonly maximum: number | undefined;
}

/** A function of the language: of values, or of expressions that it evaluates itself. */
export type HclFunction = EagerFunction | LazyFunction;

export type CallResult = Result<HclValue, FunctionError>;

/** The body of a function. Its arguments have the types of the parameters, and none is null unless allowed. */
type FunctionBody = (args: readonly HclValue[], context: FunctionContext) => CallResult;

interface FunctionOptions {
  /** Any number of further arguments. */
  readonly variadic?: HclParameter;
  /** Units of work for one call, in addition to the call itself and one pass over its arguments. */
  readonly cost?: number | ((args: readonly HclValue[]) => number);
}

/** Units of work for an empty call. */
const CALL = 4;

/** Defines a function from its signature and body. */
export function defineFunction(
  name: string,
  parameters: readonly HclParameter[],
  body: FunctionBody,
  { variadic, cost = 0 }: FunctionOptions = {},
): EagerFunction {
  return {
    kind: 'eager',
    name,
    parameters,
    ...(variadic === undefined ? {} : { variadic }),
    call: (args, context) => {
      const { budget } = context;
      if (!budget.charge(CALL + weightOf(args))) return overBudget(name);
      const prepared = prepareArguments({ name, parameters, variadic }, args, budget);
      if (prepared.isErr()) return err(prepared.error);
      if (cost !== 0 && !budget.charge(typeof cost === 'number' ? cost : cost(prepared.value))) return overBudget(name);
      return body(prepared.value, context).andThen((value) => bounded(name, value, budget));
    },
  };
}

/** A cost per element or per piece of the strings of all arguments together. */
export function perElement(units: number): (args: readonly HclValue[]) => number {
  return (args) => units * weightOf(args);
}

/** A cost per character of the string argument at an index. */
export function perCharacter(units: number, index = 0): (args: readonly HclValue[]) => number {
  return (args) => {
    const value = args[index];
    return value?.kind === 'string' ? Math.ceil(units * value.value.length) : 0;
  };
}

export function parameter(name: string, type: HclType): HclParameter {
  return { name, type };
}

export function nullableParameter(name: string, type: HclType): HclParameter {
  return { name, type, allowNull: true };
}

/** The call as a whole failed. */
export function fail(message: string): Result<never, FunctionError> {
  return err({ type: 'function_failed', message });
}

/** One argument is at fault. */
export function failArgument(argument: number, message: string): Result<never, FunctionError> {
  return err({ type: 'invalid_argument', message, argument });
}

export function overBudget(name: string): Result<never, FunctionError> {
  return err(overBudgetOf(name));
}

function overBudgetOf(name: string): FunctionError {
  return { type: 'budget_exceeded', message: `${name}: the result, or the work to make it, is too large` };
}

interface Signature {
  readonly name: string;
  readonly parameters: readonly HclParameter[];
  readonly variadic: HclParameter | undefined;
}

function prepareArguments(
  signature: Signature,
  args: readonly HclValue[],
  budget: Budget,
): Result<readonly HclValue[], FunctionError> {
  const { name, parameters, variadic } = signature;
  const missing = parameters[args.length];
  if (missing !== undefined) {
    return err({ type: 'too_few_arguments', message: `${name} needs a value for its parameter "${missing.name}"` });
  }
  if (variadic === undefined && args.length > parameters.length) {
    const message = `${name} takes ${parameters.length} ${parameters.length === 1 ? 'argument' : 'arguments'}, not ${args.length}`;
    return err({ type: 'too_many_arguments', message, argument: parameters.length });
  }
  const prepared: HclValue[] = [];
  for (const [index, value] of args.entries()) {
    const expected = parameters[index] ?? (variadic as HclParameter);
    const argument = prepareArgument(value, expected, budget);
    if (argument.isErr()) return err(blamed(argument.error, name, expected, index));
    prepared.push(argument.value);
  }
  return ok(prepared);
}

type Unfit = { readonly type: 'null' | 'budget' } | { readonly type: 'conversion'; readonly message: string };

function prepareArgument(value: HclValue, { type, allowNull }: HclParameter, budget: Budget): Result<HclValue, Unfit> {
  if (value.kind === 'null' && allowNull !== true) return err({ type: 'null' });
  const isCollection = type.kind === 'list' || type.kind === 'set' || type.kind === 'map';
  if (type.kind === 'dynamic' || (type.kind === value.kind && !isCollection)) return ok(value);
  if (!budget.charge(conversionWork(value))) return err({ type: 'budget' });
  return convert(value, type).mapErr(({ message }) => ({ type: 'conversion', message }));
}

function blamed(unfit: Unfit, name: string, expected: HclParameter, argument: number): FunctionError {
  switch (unfit.type) {
    case 'null': {
      const message = `the argument "${expected.name}" of ${name} must not be null`;
      return { type: 'null_argument', message, argument };
    }
    case 'budget':
      return overBudgetOf(name);
    case 'conversion': {
      const message = `the argument "${expected.name}" of ${name} does not fit: ${unfit.message}`;
      return { type: 'invalid_argument', message, argument };
    }
  }
}

/** Cost of one pass over the arguments. */
function weightOf(args: readonly HclValue[]): number {
  let weight = 0;
  for (const value of args) weight += sizeOf(value);
  return weight;
}

function bounded(name: string, value: HclValue, budget: Budget): CallResult {
  if (!fitsBudget(value, budget)) return overBudget(name);
  return ok(value);
}

/** Charges a result; false if it is larger, longer or deeper than allowed, or the budget is spent. */
function fitsBudget(value: HclValue, budget: Budget): boolean {
  switch (value.kind) {
    case 'null':
    case 'bool':
    case 'number':
      return true;
    case 'string':
      return budget.chargeText(value.value.length) && budget.charge(normalizationWork(value.value));
    case 'list':
    case 'set':
    case 'tuple':
    case 'map':
    case 'object': {
      const count = 'items' in value ? value.items.length : value.entries.size;
      return (
        budget.chargeElements(count) &&
        sizeOf(value) <= budget.limits.valueSize &&
        depthOf(value) <= budget.limits.depth
      );
    }
  }
}
