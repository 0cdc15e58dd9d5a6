import type { Expression, ObjectItem, Span, Step, TemplatePart } from './tree.js';

/** A copy of an expression with shifted offsets, for one that was parsed from a part of the source. */
export function relocate(expression: Expression, move: (span: Span) => Span): Expression {
  const again = (inner: Expression): Expression => relocate(inner, move);
  const at = move(expression);
  switch (expression.kind) {
    case 'number':
    case 'keyword':
      return { ...expression, ...at };
    case 'template':
      return { ...expression, ...at, parts: relocateParts(expression.parts, move) };
    case 'reference':
      return { ...expression, ...at, steps: relocateSteps(expression.steps, move) };
    case 'traversal':
      return { ...expression, ...at, source: again(expression.source), steps: relocateSteps(expression.steps, move) };
    case 'unary':
      return { ...expression, ...at, operand: again(expression.operand) };
    case 'binary':
      return relocateChain(expression, move);
    case 'conditional':
      return {
        ...expression,
        ...at,
        condition: again(expression.condition),
        whenTrue: again(expression.whenTrue),
        whenFalse: again(expression.whenFalse),
      };
    case 'tuple':
      return { ...expression, ...at, items: expression.items.map(again) };
    case 'object':
      return {
        ...expression,
        ...at,
        items: expression.items.map(({ key, value }): ObjectItem => ({ key: again(key), value: again(value) })),
      };
    case 'for':
      return {
        ...expression,
        ...at,
        collection: again(expression.collection),
        key: expression.key === undefined ? undefined : again(expression.key),
        value: again(expression.value),
        condition: expression.condition === undefined ? undefined : again(expression.condition),
      };
    case 'call':
      return {
        ...expression,
        ...at,
        nameSpan: move(expression.nameSpan),
        openSpan: move(expression.openSpan),
        arguments: expression.arguments.map(again),
      };
    case 'parentheses':
      return { ...expression, ...at, inner: again(expression.inner) };
  }
}

/** A chain of operators may be long: its left operands are followed in a loop. */
function relocateChain(expression: Expression & { kind: 'binary' }, move: (span: Span) => Span): Expression {
  const chain = [expression];
  let first: Expression = expression.left;
  while (first.kind === 'binary') {
    chain.push(first);
    first = first.left;
  }
  let left = relocate(first, move);
  for (const binary of chain.reverse())
    left = { ...binary, ...move(binary), left, right: relocate(binary.right, move) };
  return left;
}

function relocateParts(parts: readonly TemplatePart[], move: (span: Span) => Span): TemplatePart[] {
  return parts.map((part) => relocatePart(part, move));
}

function relocatePart(part: TemplatePart, move: (span: Span) => Span): TemplatePart {
  const at = move(part);
  switch (part.kind) {
    case 'text':
      return { ...part, ...at };
    case 'interpolation':
      return { ...part, ...at, value: relocate(part.value, move) };
    case 'if':
      return {
        ...part,
        ...at,
        condition: relocate(part.condition, move),
        whenTrue: relocateParts(part.whenTrue, move),
        whenFalse: part.whenFalse === undefined ? undefined : relocateParts(part.whenFalse, move),
      };
    case 'for-directive':
      return { ...part, ...at, collection: relocate(part.collection, move), body: relocateParts(part.body, move) };
  }
}

function relocateSteps<Kind extends Step>(steps: readonly Kind[], move: (span: Span) => Span): Kind[] {
  return steps.map((step) => relocateStep(step, move));
}

function relocateStep<Kind extends Step>(step: Kind, move: (span: Span) => Span): Kind {
  const at = move(step);
  switch (step.kind) {
    case 'attribute-step':
      return { ...step, ...at };
    case 'index-step':
      return { ...step, ...at, key: relocate(step.key, move) };
    case 'splat-step':
      return { ...step, ...at, each: relocateSteps(step.each, move) };
  }
}
