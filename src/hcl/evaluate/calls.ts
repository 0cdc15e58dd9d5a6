import type { DiagnosticCode } from '../diagnostics/codes.js';
import { suggestName } from '../diagnostics/suggest.js';
import type { EagerFunction, FunctionError, LazyFunction } from '../functions/function.js';
import { absentFunctionHints } from '../functions/unavailable.js';
import { callHead, leadingSpan } from '../syntax/source.js';
import type { Call, Span } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { typeText } from '../values/render.js';
import { boolValue, type HclValue, itemsOf } from '../values/value.js';
import { conversionWork } from '../values/work.js';
import { accepted, aside, type EvaluationContext, outOfBudget, paidFor, problem } from './context.js';
import { typeFromExpression } from './type-expression.js';

/** The result of a function. */
export function evaluateCall(context: EvaluationContext, call: Call): HclValue | undefined {
  const { functions } = context;
  if (functions === undefined) {
    return problem(context, 'function_not_allowed', call.nameSpan, {
      message: 'Functions cannot be called here.',
      detail: 'The value must be constant.',
    });
  }
  const known = functions.get(call.name);
  if (known === undefined) {
    const hint = absentFunctionHints.get(call.name);
    return problem(context, 'unknown_function', call.nameSpan, {
      message: `There is no function "${call.name.slice(0, 60)}".`,
      detail: hint === undefined ? undefined : `Instead ${hint}.`,
      suggestion: () => (hint === undefined ? suggestName(call.name, functions.keys()) : undefined),
    });
  }
  return known.kind === 'lazy' ? callLazy(context, call, known) : callEager(context, call, known);
}

function callEager(context: EvaluationContext, call: Call, known: EagerFunction): HclValue | undefined {
  const given = evaluateArguments(context, call);
  if (given === undefined) return undefined;
  const result = known.call(given, { ids: context.ids, budget: context.budget });
  if (result.isOk()) return accepted(context, result.value, call);
  return reportFailure(context, call, result.error);
}

function evaluateArguments(context: EvaluationContext, call: Call): readonly HclValue[] | undefined {
  const values: HclValue[] = [];
  for (const argument of call.arguments) {
    const value = context.evaluate(context, argument);
    if (value !== undefined) values.push(value);
  }
  if (values.length < call.arguments.length) return undefined;
  if (!call.expandLast) return values;
  const last = values.pop();
  const span = call.arguments.at(-1) ?? call;
  const items = last === undefined ? undefined : itemsOf(last);
  if (items === undefined) {
    const kind = last === undefined || last.kind === 'null' ? 'null' : `a value of type ${typeText(last)}`;
    return problem(context, 'bad_argument', span, `Only a list, set or tuple can be expanded with "...", not ${kind}.`);
  }
  if (!context.budget.chargeElements(items.length)) return outOfBudget(context, span);
  return values.concat(items);
}

const FAILURE_CODES: Readonly<Record<FunctionError['type'], DiagnosticCode>> = {
  too_few_arguments: 'argument_count',
  too_many_arguments: 'argument_count',
  null_argument: 'bad_argument',
  invalid_argument: 'bad_argument',
  function_failed: 'function_failed',
  budget_exceeded: 'too_much_work',
};

function reportFailure(context: EvaluationContext, call: Call, error: FunctionError): undefined {
  if (error.type === 'budget_exceeded') {
    // An exceeded budget is final: `try` must not continue with its next argument.
    context.budget.charge(Number.POSITIVE_INFINITY);
    return outOfBudget(context, call.nameSpan);
  }
  return problem(context, FAILURE_CODES[error.type], failureSpan(call, error), sentence(error.message));
}

function failureSpan(call: Call, { argument, type }: FunctionError): Span {
  if (type === 'too_few_arguments') return closingParenthesis(call);
  if (argument === undefined) return callHead(call);
  const last = call.arguments.length - 1;
  const expression = call.arguments[Math.min(argument, last)];
  if (expression === undefined) return callHead(call);
  // An argument that comes from an expanded list has the span of the whole list.
  return type === 'null_argument' || (call.expandLast && argument >= last) ? expression : leadingSpan(expression);
}

function closingParenthesis({ end }: Call): Span {
  return { start: end - 1, end };
}

function sentence(text: string): string {
  const first = text.charAt(0);
  return `${first.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Functions that receive their arguments as expressions. */
function callLazy(context: EvaluationContext, call: Call, known: LazyFunction): HclValue | undefined {
  const count = call.arguments.length;
  if (count < known.minimum || (known.maximum !== undefined && count > known.maximum)) {
    const wanted = known.maximum === known.minimum ? `${known.minimum}` : `at least ${known.minimum}`;
    const span = wrongCountSpan(call, known);
    const unit = known.minimum === 1 ? 'argument' : 'arguments';
    return problem(
      context,
      'argument_count',
      span,
      `The function "${call.name}" takes ${wanted} ${unit}, not ${count}.`,
    );
  }
  if (call.expandLast) {
    const span = call.arguments.at(-1) ?? call;
    return problem(context, 'bad_argument', span, `The arguments of "${call.name}" cannot be expanded with "...".`);
  }
  switch (known.name) {
    case 'try':
      return callTry(context, call);
    case 'can':
      return callCan(context, call);
    case 'convert':
      return callConvert(context, call);
  }
}

/** Where an argument is missing, or the first that is too many; the head of a call that takes any number of them, but not none. */
function wrongCountSpan(call: Call, { maximum }: LazyFunction): Span {
  if (maximum === undefined) return callHead(call);
  const extra = call.arguments[maximum];
  return extra === undefined ? closingParenthesis(call) : leadingSpan(extra);
}

/** The first argument that can be evaluated. A spent budget fails the whole call. */
function callTry(context: EvaluationContext, call: Call): HclValue | undefined {
  const reasons: string[] = [];
  for (const argument of call.arguments) {
    const inner = aside(context);
    const value = inner.evaluate(inner, argument);
    if (context.budget.exhausted) return outOfBudget(context, call);
    if (value !== undefined) return value;
    const [first] = inner.problems;
    if (first !== undefined && reasons.length < 5) reasons.push(first.message);
  }
  return problem(context, 'function_failed', callHead(call), {
    message: 'None of the values can be evaluated.',
    detail: reasons.join(' '),
  });
}

function callCan(context: EvaluationContext, call: Call): HclValue | undefined {
  const inner = aside(context);
  const [argument] = call.arguments;
  const value = argument === undefined ? undefined : inner.evaluate(inner, argument);
  return context.budget.exhausted ? outOfBudget(context, call) : boolValue(value !== undefined);
}

function callConvert(context: EvaluationContext, call: Call): HclValue | undefined {
  const [argument, typeArgument] = call.arguments;
  if (argument === undefined || typeArgument === undefined) return undefined;
  const value = context.evaluate(context, argument);
  const type = typeFromExpression(context, typeArgument, { anyAllowed: true });
  if (value === undefined || type === undefined) return undefined;
  if (!paidFor(context, call, conversionWork(value))) return undefined;
  const converted = convert(value, type);
  if (converted.isOk()) return accepted(context, converted.value, call);
  const message = sentence(`the value does not fit: ${converted.error.message}`);
  return problem(context, 'bad_argument', leadingSpan(argument), message);
}
