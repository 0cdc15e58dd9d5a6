import type { ScalarType, ValueType } from '../shared/schema.js';
import {
  isBase64,
  isRecord,
  parseBoolean,
  parseFloat64,
  parseInt64Literal,
  parseUint64Literal,
  quoted,
} from '../shared/values.js';

/** A test of a value of a known type. */
export type ValueTest = (value: unknown, evaluation: Evaluation) => boolean;

/** A test that fails for every value of the type. */
export function failing(message: string): ValueTest {
  return (_, evaluation) => fail(evaluation, message);
}

/** The test of a string or a list of bytes. A missing value is empty, unless the type is nullable. */
export function ofText(type: ValueType, where: string, test: ValueTest): ValueTest {
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

/** Whether a value equals the given string, parsed as the value's type. */
export function equality(type: ValueType, text: string, where: string): ValueTest {
  if (!isComparable(type)) return failing(`${where}: a value of type ${type.kind} cannot be compared`);
  if (type.kind === 'any') return equalityByValue(text, where);
  const wanted = coerced[type.kind](text);
  if (wanted === undefined) return failing(`${where}: ${quoted(text)} is not a value of type ${type.kind}`);
  const zero = ZERO[type.kind];
  return (value, evaluation) => {
    if (value !== null && value !== undefined) return value === wanted;
    return type.nullable ? fail(evaluation, `${where}: nil cannot be compared`) : zero === wanted;
  };
}

/** Equality with elements of mixed types: scalar elements whose type does not accept the string are skipped. */
function looseEquality(text: string, where: string): ValueTest {
  const [number, flag] = [parseFloat64(text), parseBoolean(text)];
  return (value, evaluation) => {
    if (typeof value === 'object' && value !== null) return fail(evaluation, `${where}: an element cannot be compared`);
    return value === text || (value !== undefined && (value === number || value === flag));
  };
}

function isComparable(type: ValueType): type is ScalarType & { readonly kind: keyof typeof ZERO | 'any' } {
  return type.kind === 'any' || Object.hasOwn(ZERO, type.kind);
}

const ZERO = { text: '', boolean: false, integer: 0, unsigned: 0, float: 0 } as const;

/** The string as a value of the kind; undefined if it does not parse. Numbers are compared as doubles, as in JSON. */
const coerced: Readonly<Record<keyof typeof ZERO, (text: string) => string | number | boolean | undefined>> = {
  text: (text) => text,
  boolean: parseBoolean,
  float: parseFloat64,
  integer: (text) => numberOf(parseInt64Literal(text)),
  unsigned: (text) => numberOf(parseUint64Literal(text)),
};

function numberOf(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** The type of the value determines how the string is parsed. */
function equalityByValue(text: string, where: string): ValueTest {
  const [number, flag] = [parseFloat64(text), parseBoolean(text)];
  return (value, evaluation) => {
    if (typeof value === 'string') return value === text;
    const wanted = typeof value === 'number' ? number : typeof value === 'boolean' ? flag : undefined;
    return wanted === undefined
      ? fail(evaluation, `${where}: it cannot be compared with ${quoted(text)}`)
      : value === wanted;
  };
}

/** Whether the string is part of a string, an element of a list or a key of a map. */
export function membership(type: ValueType, text: string, where: string): ValueTest {
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

function elementTest(of: ValueType, text: string, where: string): ValueTest {
  if (!isComparable(of)) return failing(`${where}: its elements, each of type ${of.kind}, cannot be compared`);
  const isElement: ValueTest = of.kind === 'any' ? looseEquality(text, where) : equality(of, text, where);
  // A string that does not parse as the elements' type is an error for an empty list, too.
  if (of.kind !== 'any' && coerced[of.kind](text) === undefined) return isElement;
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

/** Whether a string, list or map is empty. */
export function emptiness(type: ValueType, where: string): ValueTest {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return ofText(type, where, (value) => value === '');
    case 'list':
    case 'map':
      return (value) => isEmpty(value) ?? true;
    case 'any':
      return (value, evaluation) => isEmpty(value) ?? fail(evaluation, `${where}: it cannot be tested for being empty`);
    case 'boolean':
    case 'integer':
    case 'unsigned':
    case 'float':
    case 'time':
    case 'struct':
      return failing(`${where}: a value of type ${type.kind} cannot be tested for being empty`);
  }
}

/** Whether a nullable value is nil. */
export function nilness(type: ValueType, where: string): ValueTest {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'bytes':
      return isNil;
    case 'time':
    case 'struct':
      return type.nullable ? isNil : () => false;
    case 'any':
      return (value, evaluation) =>
        isNil(value) || (typeof value !== 'object' && fail(evaluation, `${where}: a plain value is never nil`));
    case 'text':
    case 'boolean':
    case 'integer':
    case 'unsigned':
    case 'float':
      return (value, evaluation) =>
        (type.nullable && isNil(value)) || fail(evaluation, `${where}: a value of type ${type.kind} is never nil`);
  }
}

function isNil(value: unknown): boolean {
  return value === null || value === undefined;
}

/** Undefined for anything but strings, lists and maps. */
function isEmpty(value: unknown): boolean | undefined {
  if (typeof value === 'string') return value === '';
  if (Array.isArray(value)) return value.length === 0;
  if (!isRecord(value)) return undefined;
  for (const name in value) if (Object.hasOwn(value, name)) return false;
  return true;
}

/** An error of evaluating an expression on a record. */
export interface FilterEvaluationError {
  readonly type: 'filter_evaluation';
  /** The problem, preceded by the position of the selector: `1:8: …`. */
  readonly message: string;
}

/** The state of one evaluation. It is reused for all records, to avoid an allocation per record. */
export interface Evaluation {
  record: unknown;
  /** The values of the names of quantified expressions, outermost first. */
  readonly names: unknown[];
  /** Steps left in the budget. */
  work: number;
  error: FilterEvaluationError | undefined;
}

/** Whether the record matches. Unspecified after an error. */
export type Predicate = (evaluation: Evaluation) => boolean;

/** Fails the evaluation. Only the first error is kept. */
export function fail(evaluation: Evaluation, message: string): false {
  evaluation.error ??= { type: 'filter_evaluation', message };
  return false;
}

/** Charges work that depends on the record; false if the budget is spent. */
export function spend(evaluation: Evaluation, steps: number): boolean {
  evaluation.work -= steps;
  return evaluation.work >= 0 || fail(evaluation, 'evaluating the filter on this record takes too much work');
}
