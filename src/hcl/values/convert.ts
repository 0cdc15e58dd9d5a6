import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { typesEqual } from './equal.js';
import { numberText, parseNumber } from './number.js';
import { article, typeText } from './type-text.js';
import { canConvert, elementTypes, openElement, unifyTypes } from './unify.js';
import type { HclType, HclValue } from './value.js';
import {
  boolValue,
  dynamicNull,
  dynamicType,
  listValue,
  mapValue,
  nullValue,
  numberValue,
  objectOf,
  objectValue,
  setValue,
  stringValue,
  tupleOf,
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
 * Numbers and bools become strings; strings that represent a number or a bool (`true`, `false`, `1`, `0`) become one; tuples and sets
 * become lists or sets, objects become maps, maps and objects become objects (attributes that the type does not name are
 * dropped). `dynamic` as the type takes any value; as an element type it means the common type of the elements. A null
 * converts to a null of the type.
 */
export function convert(value: HclValue, type: HclType): Result<HclValue, ConversionError> {
  if (type.kind === 'dynamic' || value.kind === type.kind) {
    if (type.kind === 'dynamic' || isScalar(type)) return ok(value);
  }
  if (value.kind === 'null') {
    return canConvert(value.type, type) ? ok(nullValue(filledType(type, value.type))) : mismatch(type);
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

function toItems(value: HclValue, type: ItemsType): Result<HclValue, ConversionError> {
  if (value.kind !== 'list' && value.kind !== 'set' && value.kind !== 'tuple') return mismatch(type);
  if (value.kind !== 'tuple' && (value.items.length === 0 || fits(value.element, type.element))) {
    const element = value.items.length === 0 ? elementOfEmpty(value.element, type.element) : value.element;
    return element === undefined ? mismatch(type) : ok(itemsValue(type, element, value.items));
  }
  const element = value.kind === 'tuple' ? openElement(type, typeOf(value)) : type.element;
  if (element === undefined) return differing(type);
  const unified = value.kind === 'tuple' && type.kind === 'list';
  return convertAll(value.items, element)
    .andThen((items) => alike(items, { type, element, unified }))
    .map(({ items, common }) => itemsValue(type, common, items));
}

function itemsValue(type: ItemsType, element: HclType, items: readonly HclValue[]): HclValue {
  return type.kind === 'list' ? listValue(element, items) : setValue(element, items);
}

function toMap(value: HclValue, type: HclType & { kind: 'map' }): Result<HclValue, ConversionError> {
  if (value.kind !== 'map' && value.kind !== 'object') return mismatch(type);
  if (value.kind === 'map' && value.entries.size === 0) {
    const element = elementOfEmpty(value.element, type.element);
    return element === undefined ? mismatch(type) : ok(mapValue(element, []));
  }
  const element = value.kind === 'object' ? openElement(type, typeOf(value)) : type.element;
  if (element === undefined) return differing(type);
  const names = [...value.entries.keys()];
  const converted: HclValue[] = [];
  for (const [key, item] of value.entries) {
    const one = convert(item, element);
    if (one.isErr()) return err(within(key, one.error));
    converted.push(one.value);
  }
  return alike(converted, { type, element, unified: element.kind !== 'dynamic' && element.kind !== 'tuple' }).map(
    ({ items, common }) => {
      const entries = items.map((item, at) => [names[at] as string, item] as const);
      return mapValue(common, entries);
    },
  );
}

type ItemsType = HclType & { readonly kind: 'list' | 'set' };

/** Whether elements of the first collection type need no conversion to the second. */
function fits(element: HclType, wanted: HclType): boolean {
  return wanted.kind === 'dynamic' || typesEqual(element, wanted);
}

/** The element type of an empty collection after a conversion; undefined if its elements could not be converted. */
function elementOfEmpty(element: HclType, wanted: HclType): HclType | undefined {
  if (!canConvert(element, wanted)) return undefined;
  return wanted.kind === 'dynamic' ? element : wanted;
}

/** How converted elements become those of one collection: `unified` ones may be converted once more, to their common type. */
interface Alike {
  readonly type: ItemsType | (HclType & { readonly kind: 'map' });
  readonly element: HclType;
  readonly unified: boolean;
}

/** Elements converted to a type with open parts may still differ in these; a bare null takes the type of the others. */
function alike(
  items: readonly HclValue[],
  { type, element, unified }: Alike,
): Result<{ readonly items: readonly HclValue[]; readonly common: HclType }, ConversionError> {
  if (!holdsDynamic(element)) return ok({ items, common: element });
  const wanted = unified ? unifyTypes(items.map(typeOf)) : dynamicType;
  if (wanted === undefined && items.length > 0) return differing(type);
  return convertAll(items, wanted ?? dynamicType).andThen((converted) => {
    const types = converted.map(typeOf).filter(({ kind }) => kind !== 'dynamic');
    const common = types[0] ?? element;
    if (!types.every((each) => typesEqual(each, common))) return differing(type);
    return ok({ items: converted.map((item) => (item === dynamicNull ? nullValue(common) : item)), common });
  });
}

function differing(type: HclType): Result<never, ConversionError> {
  return failed(`all elements of a ${type.kind} must have the same type`);
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

/** The wanted type with its open parts taken from the type of a null. */
function filledType(wanted: HclType, given: HclType): HclType {
  if (given.kind === 'dynamic') return wanted;
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
      const inner = unifyTypes(elementTypes(given));
      return inner === undefined ? wanted : { kind: wanted.kind, element: filledType(wanted.element, inner) };
    }
    case 'tuple':
      if (given.kind !== 'tuple') return wanted;
      return tupleOf(wanted.elements.map((type, at) => filledType(type, given.elements[at] ?? type)));
    case 'object': {
      const attribute = (name: string, type: HclType) =>
        given.kind === 'object' ? (given.attributes.get(name) ?? type) : given.kind === 'map' ? given.element : type;
      return objectOf(
        Array.from(wanted.attributes, ([name, type]) => [name, filledType(type, attribute(name, type))] as const),
      );
    }
  }
}

function holdsDynamic(type: HclType): boolean {
  return type.kind === 'dynamic' || elementTypes(type).some(holdsDynamic);
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
