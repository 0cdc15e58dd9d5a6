import { isBase64 } from '../../shared/values.js';
import { type Evaluation, fail } from '../evaluation.js';
import type { FilterType } from '../schema.js';

/** A test of a value of a known type. */
export type ValueTest = (value: unknown, evaluation: Evaluation) => boolean;

/** A test that fails for every value of the type. */
export function failing(message: string): ValueTest {
  return (_, evaluation) => fail(evaluation, message);
}

/** The test of a string or a list of bytes. A missing value is empty, unless the type is nullable. */
export function ofText(type: FilterType, where: string, test: ValueTest): ValueTest {
  const isNullable = 'nullable' in type && type.nullable;
  return (value, evaluation) => {
    if (value !== null && value !== undefined) return test(value, evaluation);
    return isNullable ? fail(evaluation, `${where}: it is nil`) : test('', evaluation);
  };
}

/** The bytes of a base64 string; empty if it is invalid. */
export function decodedBytes(value: unknown): Uint8Array {
  if (typeof value !== 'string' || !isBase64(value)) return new Uint8Array();
  return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
}
