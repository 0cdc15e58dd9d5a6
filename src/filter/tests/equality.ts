import { parseBoolean, parseFloat64, parseInt64Literal, parseUint64Literal, quoted } from '../../shared/values.js';
import { fail } from '../evaluation.js';
import type { FilterType, ScalarType } from '../schema.js';
import { failing, type ValueTest } from './value-test.js';

/** Whether a value equals the given string, parsed as the value's type. */
export function equality(type: FilterType, text: string, where: string): ValueTest {
  if (!isComparable(type)) return failing(`${where}: a value of type ${type.kind} cannot be compared`);
  if (type.kind === 'any') return equalityByValue(text, where);
  const wanted = coerced(type.kind, text);
  if (wanted === undefined) return failing(`${where}: ${quoted(text)} is not a value of type ${type.kind}`);
  const zero = ZERO[type.kind];
  return (value, evaluation) => {
    if (value !== null && value !== undefined) return value === wanted;
    return type.nullable ? fail(evaluation, `${where}: nil cannot be compared`) : zero === wanted;
  };
}

/** Equality with elements of mixed types: scalar elements whose type does not accept the string are skipped. */
export function looseEquality(text: string, where: string): ValueTest {
  const [number, flag] = [parseFloat64(text), parseBoolean(text)];
  return (value, evaluation) => {
    if (typeof value === 'object' && value !== null) return fail(evaluation, `${where}: an element cannot be compared`);
    return value === text || (value !== undefined && (value === number || value === flag));
  };
}

export function isComparable(type: FilterType): type is ScalarType & { readonly kind: keyof typeof ZERO | 'any' } {
  return type.kind === 'any' || Object.hasOwn(ZERO, type.kind);
}

const ZERO = { text: '', boolean: false, integer: 0, unsigned: 0, float: 0 } as const;

/** The string as a value of the kind; undefined if it does not parse. Numbers are compared as doubles, as in JSON. */
export function coerced(kind: keyof typeof ZERO, text: string): string | number | boolean | undefined {
  switch (kind) {
    case 'text':
      return text;
    case 'boolean':
      return parseBoolean(text);
    case 'float':
      return parseFloat64(text);
    case 'integer':
      return numberOf(parseInt64Literal(text));
    case 'unsigned':
      return numberOf(parseUint64Literal(text));
  }
}

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
