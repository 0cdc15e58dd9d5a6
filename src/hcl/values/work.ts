import type { HclNumber } from './big-float.js';
import { depthOf, entriesOf, type HclValue, itemsOf, sizeOf } from './value.js';

/*
 * Costs of operations on values, in units of the budget (about 0.1 µs each). Callers charge the cost before the
 * operation.
 */

/** Normalising a string; characters below U+0300 are already normalised. */
export function normalizationWork(text: string): number {
  return WIDE.test(text) ? text.length >>> 2 : 0;
}

const WIDE = /[\u0300-\uffff]/;

/** Converting a value to a type: each part is visited, and an open element type is the common type of the elements. */
export function conversionWork(value: HclValue): number {
  return 2 + 3 * sizeOf(value) + unificationWork(value);
}

/** Finding the common type of the elements of values: each collection among them is compared with every type found so far. */
export function unificationWork(...values: readonly HclValue[]): number {
  let nested = 0;
  for (const value of values) {
    for (const item of itemsOf(value) ?? entriesOf(value)?.values() ?? []) if (depthOf(item) > 0) nested += 1;
  }
  return (nested * nested) / 256;
}

/**
 * Using a string as a map key. The platform hashes longer strings only by length and then compares them one by one, so their cost
 * is high enough to keep their number small.
 */
export function keyWork(length: number): number {
  return length > LONGEST_HASHED ? 2 * length : length >>> 5;
}

const LONGEST_HASHED = 16_383;

/** Using the identity strings of values as map keys. */
export function itemKeysWork(values: readonly HclValue[]): number {
  let work = 0;
  for (const value of values) work += 4 * sizeOf(value) + keyWork(64 * (sizeOf(value) - 1));
  return work;
}

/** Comparing two values for equality. */
export function comparisonWork(left: HclValue, right: HclValue): number {
  if (left.kind === 'number' && right.kind === 'number') return arithmeticWork(left.value, right.value);
  // Values of different sizes differ early, but their types are compared before.
  return sizeOf(left) + sizeOf(right) - 2;
}

/** Writing a value as a string: JSON and its like. */
export function textWork(value: HclValue): number {
  return 2 * sizeOf(value);
}

/** Reading a number written in decimal: powers of ten and long digits take exact arithmetic. */
export function literalWork(text: string): number {
  if (text.length <= 15 && !FRACTION_OR_EXPONENT.test(text)) return 0;
  const exponent = Number(EXPONENT.exec(text)?.[1] ?? 0);
  // A number that is out of range costs nothing.
  return 30 + text.length + (Math.min(Math.abs(exponent), 65_536) >>> 2);
}

const FRACTION_OR_EXPONENT = /[.eE]/;
const EXPONENT = /[eE]([+-]?\d+)$/;

/** Arithmetic on two numbers, or comparing them. Numbers that are small and whole cost nothing beyond the expression. */
export function arithmeticWork(left: HclNumber, right: HclNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return 0;
  const leftExponent = typeof left === 'number' ? 0 : left.exponent;
  const rightExponent = typeof right === 'number' ? 0 : right.exponent;
  return 20 + (Math.abs(leftExponent - rightExponent) >>> 6);
}
