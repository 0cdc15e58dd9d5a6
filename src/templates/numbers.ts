import { parseFloat64, parseInt64Literal } from '../shared/values.js';

/** Parses a number literal; integers become `bigint`. Undefined if it is not a number or does not fit 64 bits. */
export function constantFrom(text: string): bigint | number | undefined {
  const isFloat = /^[+-]?0[xX]/.test(text) ? /[.pP]/.test(text) : /[.eE]/.test(text);
  return isFloat ? parseFloat64(text) : parseInt64Literal(text);
}

/** Whether the number fits a signed 64-bit integer. */
export function isWhole64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
