import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { canConvert } from './convertible.js';
import { typesEqual } from './equal.js';
import { numberText, parseNumber } from './number.js';
import { typeText } from './type-text.js';
import { unifyTypes } from './unify.js';
import type { HclType, HclValue } from './value.js';
import {
  boolValue,
  dynamicType,
  listValue,
  mapValue,
  nullValue,
  numberValue,
  objectValue,
  setValue,
  stringValue,
  tupleValue,
  typeOf,
} from './value.js';

/** Why a value does not fit a type. `path` leads to the part that does not fit: indexes, keys and attribute names, outermost first. */
interface ConversionError {
  readonly type: 'cannot_convert';
  readonly path: readonly (string | number)[];
  /** Without the path: `a number is required`. */
  readonly reason: string;
  /** With the path: `element 1: a number is required`. */
  readonly message: string;
}

/**
 * The value as a value of the given type.
 *
 * Numbers and bools become strings; strings that spell a number or a bool (`true`, `false`, `1`, `0`) become one; tuples and sets
 * become lists or sets, objects become maps, maps and objects become objects (attributes that the type does not name are
 * dropped). `dynamic` as the type takes any value; as an element type it means the common type of the elements. A null
 * converts to a null of the type.
 */
export function convert(value: HclValue, type: HclType): Result<HclValue, ConversionError> {
  if (type.kind === 'dynamic' || value.kind === type.kind) {
    if (type.kind === 'dynamic' || isScalar(type)) return ok(value);
  }
  if (value.kind === 'null') {
    return canConvert(value.type, type) ? ok(nullValue(type)) : mismatch(type);
  }
  switch (type.kind) {
    case 'string':
      return toText(value);
    case 'number':
      return toNumber(value);
    case 'bool':
      return toBool(value);
    case 'list':
    case 'set':
      return toItems(value, type);
    case 'map':
      return toMap(value, type);
    case 'tuple':
      return toTuple(value, type);
    case 'object':
      return toObject(value, type);
  }
}

/** A conversion error about the part of a value that `path` leads to. */
function conversionError(reason: string, path: readonly (string | number)[] = []): ConversionError {
  const location = path
    .map((step) => (typeof step === 'number' ? `element ${step}` : `attribute "${step}"`))
    .join(', ');
  return { type: 'cannot_convert', path, reason, message: location === '' ? reason : `${location}: ${reason}` };
}

function isScalar(type: HclType): boolean {
  return type.kind === 'string' || type.kind === 'number' || type.kind === 'bool';
}

function toText(value: HclValue): Result<HclValue, ConversionError> {
  if (value.kind === 'number') return ok(stringValue(numberText(value.value)));
  if (value.kind === 'bool') return ok(stringValue(value.value ? 'true' : 'false'));
  return failed('a string is required');
}

function toNumber(value: HclValue): Result<HclValue, ConversionError> {
  const number = value.kind === 'string' ? parseNumber(value.value) : undefined;
  return number === undefined ? failed('a number is required') : ok(numberValue(number));
}

function toBool(value: HclValue): Result<HclValue, ConversionError> {
  const text = value.kind === 'string' ? value.value : '';
  if (text === 'true' || text === '1') return ok(boolValue(true));
  if (text === 'false' || text === '0') return ok(boolValue(false));
  const folded = text.toLowerCase();
  const hint = folded === 'true' || folded === 'false' ? `; write "${folded}" in lower case` : '';
  return failed(`a bool is required${hint}`);
}

function toItems(value: HclValue, type: HclType & { kind: 'list' | 'set' }): Result<HclValue, ConversionError> {
  if (value.kind !== 'list' && value.kind !== 'set' && value.kind !== 'tuple') return mismatch(type);
  const types = value.kind === 'tuple' ? value.items.map(typeOf) : [value.element];
  const element = elementType(type.element, types);
  if (element === undefined) return failed(`all elements of a ${type.kind} must have the same type`);
  const items =
    value.kind !== 'tuple' && typesEqual(value.element, element) ? ok(value.items) : convertAll(value.items, element);
  return items.map((converted) =>
    type.kind === 'list' ? listValue(element, converted) : setValue(element, converted),
  );
}

function toMap(value: HclValue, type: HclType & { kind: 'map' }): Result<HclValue, ConversionError> {
  if (value.kind !== 'map' && value.kind !== 'object') return mismatch(type);
  const types = value.kind === 'map' ? [value.element] : [...value.entries.values()].map(typeOf);
  const element = elementType(type.element, types);
  if (element === undefined) return failed('all elements of a map must have the same type');
  const entries: [string, HclValue][] = [];
  for (const [key, item] of value.entries) {
    const converted = convert(item, element);
    if (converted.isErr()) return err(within(key, converted.error));
    entries.push([key, converted.value]);
  }
  return ok(mapValue(element, entries));
}

function toTuple(value: HclValue, type: HclType & { kind: 'tuple' }): Result<HclValue, ConversionError> {
  if (value.kind !== 'tuple') return mismatch(type);
  if (value.items.length !== type.elements.length) {
    return failed(`a tuple of ${type.elements.length} elements is required, not of ${value.items.length}`);
  }
  const items: HclValue[] = [];
  for (const [at, item] of value.items.entries()) {
    const converted = convert(item, type.elements[at] as HclType);
    if (converted.isErr()) return err(within(at, converted.error));
    items.push(converted.value);
  }
  return ok(tupleValue(items));
}

function toObject(value: HclValue, type: HclType & { kind: 'object' }): Result<HclValue, ConversionError> {
  if (value.kind !== 'map' && value.kind !== 'object') return mismatch(type);
  const attributes: [string, HclValue][] = [];
  for (const [name, wanted] of type.attributes) {
    const given = value.entries.get(name);
    if (given === undefined) return failed(`attribute "${name}" is required`);
    const converted = convert(given, wanted);
    if (converted.isErr()) return err(within(name, converted.error));
    attributes.push([name, converted.value]);
  }
  return ok(objectValue(attributes));
}

/**
 * The element type to convert to: the requested one, or the common type of the elements if it is open. A null among
 * collections leaves their common type open too; it is then given the type of the others.
 */
function elementType(wanted: HclType, types: readonly HclType[]): HclType | undefined {
  if (wanted.kind !== 'dynamic') return holdsDynamic(wanted) ? commonType(wanted, types) : wanted;
  if (types.length === 0) return dynamicType;
  const common = unifyTypes(types);
  if (common?.kind !== 'dynamic') return common;
  const closed = types.filter(({ kind }) => kind !== 'dynamic');
  return closed.length === 0 ? dynamicType : unifyTypes(closed);
}

/** With an open part inside the wanted type, each element's conversion decides that part; the results must agree. */
function commonType(wanted: HclType, types: readonly HclType[]): HclType | undefined {
  const closed = types.filter(({ kind }) => kind !== 'dynamic');
  if (closed.length === 0) return wanted;
  return unifyTypes(closed.map((type) => filledType(wanted, type)));
}

/** The wanted type with its open parts taken from the type of the value; parts of another shape are left as they are. */
function filledType(wanted: HclType, given: HclType): HclType {
  switch (wanted.kind) {
    case 'dynamic':
      return given;
    case 'string':
    case 'number':
    case 'bool':
      return wanted;
    case 'list':
    case 'set':
    case 'map': {
      const inner = innerTypes(given);
      const element = inner.length === 0 ? wanted.element : elementType(wanted.element, inner);
      return element === undefined ? wanted : { kind: wanted.kind, element };
    }
    case 'tuple':
      if (given.kind !== 'tuple') return wanted;
      return {
        kind: 'tuple',
        elements: wanted.elements.map((type, at) => filledType(type, given.elements[at] ?? type)),
      };
    case 'object': {
      if (given.kind !== 'object') return wanted;
      const attributes = [...wanted.attributes].map(
        ([name, type]) => [name, filledType(type, given.attributes.get(name) ?? type)] as const,
      );
      return { kind: 'object', attributes: new Map(attributes) };
    }
  }
}

function innerTypes(type: HclType): readonly HclType[] {
  if (type.kind === 'list' || type.kind === 'set' || type.kind === 'map') return [type.element];
  if (type.kind === 'tuple') return type.elements;
  return type.kind === 'object' ? [...type.attributes.values()] : [];
}

function holdsDynamic(type: HclType): boolean {
  return type.kind === 'dynamic' || innerTypes(type).some(holdsDynamic);
}

function convertAll(items: readonly HclValue[], element: HclType): Result<readonly HclValue[], ConversionError> {
  const converted: HclValue[] = [];
  for (const [at, item] of items.entries()) {
    const one = convert(item, element);
    if (one.isErr()) return err(within(at, one.error));
    converted.push(one.value);
  }
  return ok(converted);
}

function within(step: string | number, { path, reason }: ConversionError): ConversionError {
  return conversionError(reason, [step, ...path]);
}

function failed(reason: string): Result<never, ConversionError> {
  return err(conversionError(reason));
}

function mismatch(type: HclType): Result<never, ConversionError> {
  return failed(`${article(typeText(type))} is required`);
}

function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
