import type { Expression, Reference, Step, TemplatePart } from '../syntax/tree.js';

/** All free references of an expression: names that are not bound by its own loops. */
export function freeReferences(expression: Expression): Reference[] {
  const found: Reference[] = [];
  collect(expression, [], found);
  return found;
}

type Bound = readonly string[];

function collect(start: Expression, bound: Bound, found: Reference[]): void {
  let expression = start;
  // A chain of operators may be long, so its left operands are followed in a loop.
  while (expression.kind === 'binary') {
    collect(expression.right, bound, found);
    expression = expression.left;
  }
  switch (expression.kind) {
    case 'number':
    case 'keyword':
      return;
    case 'template':
      collectParts(expression.parts, bound, found);
      return;
    case 'reference':
      if (!bound.includes(expression.name)) found.push(expression);
      collectSteps(expression.steps, bound, found);
      return;
    case 'traversal':
      collect(expression.source, bound, found);
      collectSteps(expression.steps, bound, found);
      return;
    case 'unary':
      collect(expression.operand, bound, found);
      return;
    case 'conditional':
      collect(expression.condition, bound, found);
      collect(expression.whenTrue, bound, found);
      collect(expression.whenFalse, bound, found);
      return;
    case 'tuple':
      for (const item of expression.items) collect(item, bound, found);
      return;
    case 'object':
      for (const { key, value } of expression.items) {
        // A bare name is a literal key.
        if (key.kind !== 'reference') collect(key, bound, found);
        collect(value, bound, found);
      }
      return;
    case 'for': {
      collect(expression.collection, bound, found);
      const inner = bind(bound, expression);
      if (expression.key !== undefined) collect(expression.key, inner, found);
      collect(expression.value, inner, found);
      if (expression.condition !== undefined) collect(expression.condition, inner, found);
      return;
    }
    case 'call': {
      // The second argument of `convert` is a type; its words are not references.
      const given = expression.name === 'convert' ? expression.arguments.slice(0, 1) : expression.arguments;
      for (const argument of given) collect(argument, bound, found);
      return;
    }
    case 'parentheses':
      collect(expression.inner, bound, found);
  }
}

function collectParts(parts: readonly TemplatePart[], bound: Bound, found: Reference[]): void {
  for (const part of parts) {
    switch (part.kind) {
      case 'text':
        break;
      case 'interpolation':
        collect(part.value, bound, found);
        break;
      case 'if':
        collect(part.condition, bound, found);
        collectParts(part.whenTrue, bound, found);
        collectParts(part.whenFalse ?? [], bound, found);
        break;
      case 'for-directive':
        collect(part.collection, bound, found);
        collectParts(part.body, bind(bound, part), found);
        break;
    }
  }
}

function collectSteps(steps: readonly Step[], bound: Bound, found: Reference[]): void {
  for (const step of steps) {
    if (step.kind === 'index-step') collect(step.key, bound, found);
    else if (step.kind === 'splat-step') collectSteps(step.each, bound, found);
  }
}

function bind(bound: Bound, loop: { readonly keyName: string | undefined; readonly valueName: string }): Bound {
  return loop.keyName === undefined ? [...bound, loop.valueName] : [...bound, loop.keyName, loop.valueName];
}

/** The name behind a reference's root: `x` of `var.x` and `var["x"]`; undefined if there is none, or if it is a number. */
export function firstStepName(reference: Reference): string | undefined {
  const [step] = reference.steps;
  if (step?.kind === 'attribute-step') return step.name;
  if (step?.kind !== 'index-step' || step.key.kind !== 'template') return undefined;
  return step.key.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}
