import type { Call, Expression, Reference, Span } from './tree.js';

/** A plain copy of the offsets of something. */
export function startSpan(span: Span): Span {
  return { start: span.start, end: span.end };
}

/**
 * Position of a problem with an expression's value: for a template its first part, for a call its name with the opening parenthesis, for
 * a collection its opening bracket, for an operator its left operand, and for all others the whole expression.
 */
export function leadingSpan(expression: Expression): Span {
  let current = expression;
  for (;;) {
    switch (current.kind) {
      case 'template': {
        if (current.passThrough) return current;
        const first = current.parts[0];
        if (first === undefined) return { start: current.end, end: current.end };
        if (first.kind !== 'interpolation') return first;
        current = first.value;
        break;
      }
      case 'call':
        return callHead(current);
      case 'tuple':
      case 'object':
      case 'for':
        return { start: current.start, end: current.start + 1 };
      case 'binary':
        current = current.left;
        break;
      case 'conditional':
        current = current.condition;
        break;
      case 'traversal':
        current = current.source;
        break;
      case 'parentheses':
        current = current.inner;
        break;
      case 'unary':
        return { start: current.start, end: current.start + 1 };
      case 'number':
      case 'keyword':
      case 'reference':
        return current;
    }
  }
}

/** The name of a call with the opening parenthesis. */
export function callHead({ nameSpan, openSpan }: Pick<Call, 'nameSpan' | 'openSpan'>): Span {
  return { start: nameSpan.start, end: openSpan.end };
}

/** The span of a reference's name, without its steps. */
export function nameSpan(reference: Reference): Span {
  return { start: reference.start, end: Math.min(reference.start + reference.name.length, reference.end) };
}
