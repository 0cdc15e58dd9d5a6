import type { Result } from 'neverthrow';
import type { Binary, Expression, Span, Unary } from '../syntax/tree.js';
import type { HclNumber, NumberError } from '../values/big-float.js';
import { convert } from '../values/convert.js';
import { valuesEqual } from '../values/equal.js';
import { compareNumbers } from '../values/number.js';
import {
  addNumbers,
  divideNumbers,
  multiplyNumbers,
  negateNumber,
  remainderNumbers,
  subtractNumbers,
} from '../values/number-arithmetic.js';
import { typeText } from '../values/render.js';
import { boolType, boolValue, type HclValue, numberType, numberValue } from '../values/value.js';
import { arithmeticWork, comparisonWork } from '../values/work.js';
import { type EvaluationContext, paidFor, problem } from './context.js';

export function evaluateUnary(context: EvaluationContext, unary: Unary): HclValue | undefined {
  const { operator, operand } = unary;
  const value = context.evaluate(context, operand);
  if (value === undefined) return undefined;
  if (value.kind === 'null') return nullOperand(context, unary, operator === '-' ? 'a number' : 'a bool');
  if (operator === '-') {
    const number = asNumber(context, value, operand, operator);
    return number === undefined ? undefined : numberValue(negateNumber(number));
  }
  const bool = asBool(context, value, operand, operator);
  return bool === undefined ? undefined : boolValue(!bool);
}

/** A chain of operators nests in the left operands. It is evaluated in a loop, so that a long chain needs no deep stack. */
export function evaluateBinary(context: EvaluationContext, expression: Binary): HclValue | undefined {
  const chain: Binary[] = [expression];
  let first: Expression = expression.left;
  while (first.kind === 'binary') {
    chain.push(first);
    first = first.left;
  }
  let value = context.evaluate(context, first);
  for (const binary of chain.reverse()) value = applyBinary(context, binary, value);
  return value;
}

function applyBinary(context: EvaluationContext, binary: Binary, left: HclValue | undefined): HclValue | undefined {
  const { operator } = binary;
  if (operator === '&&' || operator === '||') return applyLogic(context, binary, left);
  const right = context.evaluate(context, binary.right);
  if (left === undefined || right === undefined) return undefined;
  if (operator === '==' || operator === '!=') {
    if (!paidFor(context, binary, comparisonWork(left, right))) return undefined;
    return boolValue(valuesEqual(left, right) === (operator === '=='));
  }
  const numbers = operandNumbers(context, binary, left, right);
  if (numbers === undefined) return undefined;
  const [leftNumber, rightNumber] = numbers;
  if (!paidForNumbers(context, binary, leftNumber, rightNumber)) return undefined;
  if (operator in ORDERS) return boolValue(ORDERS[operator as Order](compareNumbers(leftNumber, rightNumber)));
  return computed(context, binary, CALCULATIONS[operator as Calculation](leftNumber, rightNumber));
}

function operandNumbers(
  context: EvaluationContext,
  binary: Binary,
  left: HclValue,
  right: HclValue,
): readonly [left: HclNumber, right: HclNumber] | undefined {
  const leftNumber = left.kind === 'null' ? null : asNumber(context, left, binary.left, binary.operator);
  const rightNumber = right.kind === 'null' ? null : asNumber(context, right, binary.right, binary.operator);
  if (leftNumber === undefined || rightNumber === undefined) return undefined;
  if (leftNumber === null || rightNumber === null) return nullOperand(context, binary, 'a number');
  return [leftNumber, rightNumber];
}

function paidForNumbers(context: EvaluationContext, binary: Binary, left: HclNumber, right: HclNumber): boolean {
  const division = binary.operator === '/' || binary.operator === '%';
  const work = arithmeticWork(left, right) + (division ? DIVISION : 0);
  return work === 0 || paidFor(context, binary, work);
}

type Order = '<' | '<=' | '>' | '>=';
type Calculation = Exclude<Binary['operator'], Order | '==' | '!=' | '&&' | '||'>;

/** The result of each operator for the sign of a comparison. */
const ORDERS: Readonly<Record<Order, (sign: number) => boolean>> = {
  '<': (sign) => sign < 0,
  '<=': (sign) => sign <= 0,
  '>': (sign) => sign > 0,
  '>=': (sign) => sign >= 0,
};

const CALCULATIONS: Readonly<
  Record<Calculation, (left: HclNumber, right: HclNumber) => Result<HclNumber, NumberError>>
> = {
  '+': addNumbers,
  '-': subtractNumbers,
  '*': multiplyNumbers,
  '/': divideNumbers,
  '%': remainderNumbers,
};

/** Evaluates the right side only if the left side does not decide. */
function applyLogic(context: EvaluationContext, binary: Binary, left: HclValue | undefined): HclValue | undefined {
  const { operator } = binary;
  const first = left === undefined ? undefined : operandBool(context, left, binary.left, operator);
  if (first === (operator === '||')) return boolValue(first);
  const right = context.evaluate(context, binary.right);
  const second = right === undefined ? undefined : operandBool(context, right, binary.right, operator);
  if (first === undefined || second === undefined) return undefined;
  return first === null || second === null ? nullOperand(context, binary, 'a bool') : boolValue(second);
}

/** Null for null: whether that is a problem depends on the other operand. */
function operandBool(
  context: EvaluationContext,
  value: HclValue,
  operand: Expression,
  operator: string,
): boolean | null | undefined {
  return value.kind === 'null' ? null : asBool(context, value, operand, operator);
}

function computed(
  context: EvaluationContext,
  span: Span,
  result: Result<HclNumber, NumberError>,
): HclValue | undefined {
  if (result.isOk()) return numberValue(result.value);
  const text = 'The result of this calculation is not a number.';
  return problem(context, 'bad_operand', span, {
    message: text,
    detail: 'For example 0/0, or infinity minus infinity.',
  });
}

/** Units of work for a division: its quotient is usually a fraction. */
const DIVISION = 30;

function asNumber(
  context: EvaluationContext,
  value: HclValue,
  operand: Expression,
  operator: string,
): HclNumber | undefined {
  if (value.kind === 'number') return value.value;
  const number = value.kind === 'string' ? convert(value, numberType).unwrapOr(undefined) : undefined;
  if (number?.kind === 'number') return number.value;
  return badOperand(context, { value, operand, operator }, 'a number');
}

function asBool(
  context: EvaluationContext,
  value: HclValue,
  operand: Expression,
  operator: string,
): boolean | undefined {
  if (value.kind === 'bool') return value.value;
  const bool = value.kind === 'string' ? convert(value, boolType).unwrapOr(undefined) : undefined;
  if (bool?.kind === 'bool') return bool.value;
  return badOperand(context, { value, operand, operator }, 'a bool');
}

/** Without an operand of a wrong kind, the error refers to the whole operation. */
function nullOperand(context: EvaluationContext, operation: Unary | Binary, wanted: string): undefined {
  const where = operation.kind === 'unary' ? '' : ' on both sides';
  return problem(
    context,
    'bad_operand',
    operation,
    `The operator "${operation.operator}" needs ${wanted}${where}, not null.`,
  );
}

/** The value of an operand, and its expression. */
interface GivenOperand {
  readonly value: HclValue;
  readonly operand: Expression;
  readonly operator: string;
}

function badOperand(context: EvaluationContext, { value, operand, operator }: GivenOperand, wanted: string): undefined {
  const given = value.kind === 'null' ? 'null' : `a value of type ${typeText(value)}`;
  const detail =
    operator === '+' && (value.kind === 'string' || value.kind === 'list' || value.kind === 'tuple')
      ? 'To join strings, write one quoted template of them; to join lists, use concat().'
      : undefined;
  return problem(context, 'bad_operand', operand, {
    message: `The operator "${operator}" needs ${wanted} here, not ${given}.`,
    detail,
  });
}
