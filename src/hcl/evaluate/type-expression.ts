import type { Call, Expression, ObjectItem, Span } from '../syntax/tree.js';
import { boolType, dynamicType, type HclType, numberType, objectOf, stringType } from '../values/value.js';
import { type EvaluationContext, problem } from './context.js';

const FORMS = 'Types are string, number, bool, list(T), set(T), map(T), object({ name = T }) and tuple([T, T]).';

/**
 * Reads a type from `type = …` or from the second argument of `convert`; the expression is not evaluated. Undefined
 * after its problems were reported.
 */
export function typeFromExpression(
  context: EvaluationContext,
  expression: Expression,
  options: { readonly anyAllowed: boolean },
): HclType | undefined {
  if (expression.kind === 'reference' && expression.steps.length === 0) {
    return namedType(context, expression, expression.name, options.anyAllowed);
  }
  if (expression.kind === 'call') return constructedType(context, expression, options);
  const quoted = expression.kind === 'template' ? 'A type is written without quotes.' : 'This is not a type.';
  return badType(context, expression, quoted);
}

function badType(context: EvaluationContext, at: Span, message: string, detail = FORMS): undefined {
  return problem(context, 'bad_type', at, { message, detail });
}

function namedType(
  context: EvaluationContext,
  expression: Expression,
  name: string,
  anyAllowed: boolean,
): HclType | undefined {
  switch (name) {
    case 'string':
      return stringType;
    case 'number':
      return numberType;
    case 'bool':
      return boolType;
    case 'any':
      if (anyAllowed) return dynamicType;
      return badType(context, expression, 'The type must be exact: "any" is not allowed here.');
    case 'list':
    case 'set':
    case 'map':
      return badType(
        context,
        expression,
        `The type of the elements is missing.`,
        `Write it in parentheses, for example ${name}(string).`,
      );
    case 'object':
    case 'tuple':
      return badType(
        context,
        expression,
        `The types of the members are missing.`,
        name === 'object' ? 'Write for example object({ name = string }).' : 'Write for example tuple([string]).',
      );
    default:
      return badType(context, expression, `There is no type "${name.slice(0, 60)}".`);
  }
}

function constructedType(
  context: EvaluationContext,
  call: Call,
  options: { readonly anyAllowed: boolean },
): HclType | undefined {
  const { name } = call;
  const [argument] = call.arguments;
  switch (name) {
    case 'list':
    case 'set':
    case 'map': {
      const element = elementType(context, call, options);
      return element === undefined ? undefined : { kind: name, element };
    }
    case 'object':
      if (argument?.kind !== 'object' || call.arguments.length > 1) return wrongArguments(context, call);
      return objectType(context, argument.items, options);
    case 'tuple': {
      if (argument?.kind !== 'tuple' || call.arguments.length > 1) return wrongArguments(context, call);
      const elements = argument.items.map((item) => typeFromExpression(context, item, options));
      return elements.every((element) => element !== undefined) ? { kind: 'tuple', elements } : undefined;
    }
    case 'optional':
      return problem(context, 'bad_type', call.nameSpan, 'Attributes of a type cannot be optional here.');
    default:
      return badType(context, call, `There is no type "${name.slice(0, 60)}".`);
  }
}

/** The type of the elements of a list, set or map. */
function elementType(
  context: EvaluationContext,
  call: Call,
  options: { readonly anyAllowed: boolean },
): HclType | undefined {
  const [argument] = call.arguments;
  if (argument === undefined || call.arguments.length > 1 || call.expandLast) return wrongArguments(context, call);
  return typeFromExpression(context, argument, options);
}

function objectType(
  context: EvaluationContext,
  items: readonly ObjectItem[],
  options: { readonly anyAllowed: boolean },
): HclType | undefined {
  const attributes: [string, HclType][] = [];
  for (const { key, value } of items) {
    const name = key.kind === 'reference' && key.steps.length === 0 ? key.name : undefined;
    if (name === undefined) {
      badType(context, key, 'The attributes of an object type are plain names.');
      continue;
    }
    const type = typeFromExpression(context, value, options);
    if (type !== undefined) attributes.push([name, type]);
  }
  return attributes.length < items.length ? undefined : objectOf(attributes);
}

function wrongArguments(context: EvaluationContext, call: Call): undefined {
  const [first, second] = call.arguments;
  const nothing = { start: call.openSpan.start, end: call.end };
  const surplus =
    second === undefined ? undefined : { start: second.start, end: call.arguments.at(-1)?.end ?? call.end };
  return badType(context, surplus ?? first ?? nothing, `The type "${call.name}" is not complete.`);
}
