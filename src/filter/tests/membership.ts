import { isRecord, parseUint64Literal, quoted } from '../../shared/values.js';
import { type Evaluation, fail, spend } from '../evaluation.js';
import type { FilterType } from '../schema.js';
import { coerced, equality, isComparable, looseEquality } from './equality.js';
import { decodedBytes, failing, ofText, type ValueTest } from './value-test.js';

/** Whether the string is part of a string, an element of a list or a key of a map. */
export function membership(type: FilterType, text: string, where: string): ValueTest {
  switch (type.kind) {
    case 'text':
      return ofText(type, where, (value) => (value as string).includes(text));
    case 'map':
      return (value) => isRecord(value) && Object.hasOwn(value, text);
    case 'list':
      return elementTest(type.of, text, where);
    case 'bytes':
      return byteTest(text, where);
    case 'any':
      return membershipByValue(text, where);
    case 'boolean':
    case 'integer':
    case 'unsigned':
    case 'float':
    case 'time':
    case 'struct':
      return failing(`${where}: a value of type ${type.kind} has no elements`);
  }
}

function elementTest(of: FilterType, text: string, where: string): ValueTest {
  if (!isComparable(of)) return failing(`${where}: its elements, each of type ${of.kind}, cannot be compared`);
  const isElement: ValueTest = of.kind === 'any' ? looseEquality(text, where) : equality(of, text, where);
  // A string that does not parse as the elements' type is an error for an empty list, too.
  if (of.kind !== 'any' && coerced(of.kind, text) === undefined) return isElement;
  return (value, evaluation) => Array.isArray(value) && holdsElement(value, isElement, evaluation);
}

/** Ends at the first element that is equal or cannot be compared. */
function holdsElement(list: readonly unknown[], isElement: ValueTest, evaluation: Evaluation): boolean {
  if (!spend(evaluation, list.length)) return false;
  return list.some((element) => isElement(element, evaluation) || evaluation.error !== undefined);
}

function byteTest(text: string, where: string): ValueTest {
  const byte = parseUint64Literal(text);
  if (byte === undefined) return failing(`${where}: ${quoted(text)} is not a byte`);
  return (value) => decodedBytes(value).includes(Number(byte));
}

function membershipByValue(text: string, where: string): ValueTest {
  const isElement = looseEquality(text, where);
  return (value, evaluation) => {
    if (typeof value === 'string') return value.includes(text);
    if (Array.isArray(value)) return holdsElement(value, isElement, evaluation);
    return isRecord(value) ? Object.hasOwn(value, text) : fail(evaluation, `${where}: it has no elements`);
  };
}
