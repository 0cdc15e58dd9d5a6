import type { LazyFunction } from './function.js';

/** `try(expression, …)`, `can(expression)` and `convert(value, type)`: the evaluator runs them on unevaluated arguments. */
export const lazyFunctions: readonly LazyFunction[] = [
  { kind: 'lazy', name: 'try', minimum: 1, maximum: undefined },
  { kind: 'lazy', name: 'can', minimum: 1, maximum: 1 },
  { kind: 'lazy', name: 'convert', minimum: 2, maximum: 2 },
];
