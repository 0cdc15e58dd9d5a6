import { parseFloat64, parseInt64Literal } from '../shared/text-values.js';

/** A number as templates write it: whole ones as `bigint`. Undefined when it is none, or does not fit 64 bits. */
export function constantFrom(text: string): bigint | number | undefined {
  return parseInt64Literal(text) ?? (/^[+-]?0/.test(text) && !/[.eEpP]/.test(text) ? undefined : parseFloat64(text));
}

/** Fits 64 bits with a sign. */
export function isWhole64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
