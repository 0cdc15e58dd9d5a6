import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { compareCodePoints } from '../../values/code-points.js';
import { convert } from '../../values/convert.js';
import { typesEqual, valuesEqual } from '../../values/equal.js';
import { countNumber, toSafeInteger } from '../../values/number.js';
import { typeText } from '../../values/type-text.js';
import { unifyTypes } from '../../values/unify.js';
import type { HclType, HclValue } from '../../values/value.js';
import {
  boolValue,
  dynamicNull,
  dynamicType,
  entriesOf,
  itemsOf,
  listOf,
  listValue,
  mapValue,
  nullValue,
  numberType,
  numberValue,
  objectValue,
  stringType,
  stringValue,
  tupleValue,
  typeOf,
} from '../../values/value.js';
import { itemKeysWork, unificationWork } from '../../values/work.js';
import { argumentAt, integerAt, itemsAt, textAt } from '../arguments.js';
import type { CallResult, EagerFunction, FunctionContext, FunctionError } from '../function.js';
import {
  defineFunction,
  fail,
  failArgument,
  nullableParameter,
  overBudget,
  parameter,
  perElement,
} from '../function.js';
import { distinctItems } from './distinct-items.js';

const any = (name: string) => parameter(name, dynamicType);
const anyList = (name: string) => parameter(name, listOf(dynamicType));

export const collectionFunctions: readonly EagerFunction[] = [
  defineFunction('length', [any('collection')], length),
  defineFunction('keys', [any('map')], keys, { cost: perElement(1) }),
  defineFunction('values', [any('map')], values),
  defineFunction('lookup', [any('map'), parameter('key', stringType), any('default')], lookup),
  defineFunction('element', [any('list'), parameter('index', numberType)], element),
  defineFunction('index', [any('collection'), any('key')], index),
  defineFunction('contains', [any('collection'), any('value')], contains),
  defineFunction('concat', [], concat, { variadic: any('lists'), cost: perElement(2) }),
  defineFunction('flatten', [any('list')], flatten),
  defineFunction('distinct', [anyList('list')], distinct, { cost: (args) => itemKeysWork(itemsAt(args, 0)) }),
  defineFunction('compact', [parameter('list', listOf(stringType))], compact),
  defineFunction('slice', [any('list'), parameter('start', numberType), parameter('end', numberType)], slice),
  defineFunction('chunklist', [anyList('list'), parameter('size', numberType)], chunklist, { cost: perElement(2) }),
  defineFunction('sort', [parameter('list', listOf(stringType))], sort),
  defineFunction('coalesce', [], coalesce, {
    variadic: nullableParameter('values', dynamicType),
    cost: (args) => unificationWork(...args) + perElement(2)(args),
  }),
  defineFunction('coalescelist', [], coalesceList, { variadic: nullableParameter('lists', dynamicType) }),
  defineFunction('merge', [], merge, {
    variadic: nullableParameter('maps', dynamicType),
    cost: (args) => 10 + perElement(4)(args),
  }),
  defineFunction('zipmap', [parameter('keys', listOf(stringType)), any('values')], zipmap, {
    cost: (args) => perElement(3)(args) + itemKeysWork(itemsAt(args, 0)),
  }),
];

function length(args: readonly HclValue[]): CallResult {
  const collection = argumentAt(args, 0);
  const count = collection.kind === 'map' ? collection.entries.size : itemsOf(collection)?.length;
  if (count === undefined) return fail(`length takes a list, tuple, set or map, not ${a(collection)}`);
  return ok(numberValue(countNumber(count)));
}

function keys(args: readonly HclValue[]): CallResult {
  const map = argumentAt(args, 0);
  const entries = entriesOf(map);
  if (entries === undefined) return failArgument(0, `keys takes a map or an object, not ${a(map)}`);
  const names = [...entries.keys()].map(stringValue);
  return ok(map.kind === 'map' ? listValue(stringType, names) : tupleValue(names));
}

function values(args: readonly HclValue[]): CallResult {
  const map = argumentAt(args, 0);
  if (map.kind === 'map') return ok(listValue(map.element, [...map.entries.values()]));
  if (map.kind === 'object') return ok(tupleValue([...map.entries.values()]));
  return fail(`values takes a map or an object, not ${a(map)}`);
}

function lookup(args: readonly HclValue[]): CallResult {
  const map = argumentAt(args, 0);
  const fallback = argumentAt(args, 2);
  const entries = entriesOf(map);
  if (entries === undefined) return failArgument(0, `lookup takes a map or an object, not ${a(map)}`);
  const found = entries.get(textAt(args, 1));
  if (map.kind !== 'map') return ok(found ?? fallback);
  const converted = convert(fallback, map.element);
  if (converted.isErr()) {
    return failArgument(2, `the default must be ${article(typeText(map.element))}, as the elements are`);
  }
  return ok(found ?? converted.value);
}

function element(args: readonly HclValue[]): CallResult {
  const list = argumentAt(args, 0);
  if (list.kind !== 'list' && list.kind !== 'tuple') return fail(`element takes a list or a tuple, not ${a(list)}`);
  const position = integerAt(args, 1, 'the index');
  if (position.isErr()) return err(position.error);
  const size = list.items.length;
  if (size === 0) return fail('element cannot pick from an empty list');
  return ok(list.items[((position.value % size) + size) % size] as HclValue);
}

function index(args: readonly HclValue[]): CallResult {
  const collection = argumentAt(args, 0);
  const key = argumentAt(args, 1);
  if (collection.kind === 'map') {
    if (key.kind !== 'string') return fail('the key of a map must be a string');
    return present(collection.entries.get(key.value), `the map has no element ${JSON.stringify(key.value)}`);
  }
  if (collection.kind !== 'list' && collection.kind !== 'tuple') {
    return fail(`index takes a list, a tuple or a map, not ${a(collection)}`);
  }
  const position = key.kind === 'number' ? toSafeInteger(key.value) : undefined;
  if (position === undefined) return fail(`the key of a ${collection.kind} must be a whole number`);
  return present(collection.items[position], `the ${collection.kind} has no element ${position}`);
}

function present(value: HclValue | undefined, message: string): CallResult {
  return value === undefined ? fail(message) : ok(value);
}

function contains(args: readonly HclValue[]): CallResult {
  const collection = argumentAt(args, 0);
  const items = itemsOf(collection);
  if (items === undefined) return fail(`contains takes a list, tuple or set, not ${a(collection)}`);
  return ok(boolValue(items.some((item) => valuesEqual(item, argumentAt(args, 1)))));
}

/** Lists whose elements have a common type give a list; if any argument is a tuple, the result is a tuple. */
function concat(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  if (args.length === 0) return fail('concat needs at least one list');
  const items: HclValue[] = [];
  for (const [at, value] of args.entries()) {
    if (value.kind !== 'list' && value.kind !== 'tuple') {
      return failArgument(at, `concat takes lists and tuples, not ${a(value)}`);
    }
    if (!budget.chargeElements(value.items.length + items.length)) return overBudget('concat');
    for (const item of value.items) items.push(item);
  }
  const elements = args.map((value) => (value.kind === 'list' ? value.element : undefined));
  const common = elements.includes(undefined) ? undefined : unifyTypes(elements as readonly HclType[]);
  if (common === undefined) return ok(tupleValue(items));
  return convertItems(items, common).map((converted) => listValue(common, converted));
}

function flatten(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const outer = itemsOf(argumentAt(args, 0));
  if (outer === undefined) return fail(`flatten takes a list, set or tuple, not ${a(argumentAt(args, 0))}`);
  const flat: HclValue[] = [];
  const collect = (items: readonly HclValue[]): boolean => {
    if (!budget.charge(items.length)) return false;
    for (const item of items) {
      const inner = itemsOf(item);
      if (inner === undefined) flat.push(item);
      else if (!collect(inner)) return false;
    }
    return true;
  };
  return collect(outer) ? ok(tupleValue(flat)) : overBudget('flatten');
}

function distinct(args: readonly HclValue[]): CallResult {
  const list = argumentAt(args, 0);
  return ok(listValue(elementOf(list), distinctItems(itemsAt(args, 0))));
}

function compact(args: readonly HclValue[]): CallResult {
  const kept = itemsAt(args, 0).filter((item) => item.kind === 'string' && item.value !== '');
  return ok(listValue(stringType, kept));
}

function slice(args: readonly HclValue[]): CallResult {
  const list = argumentAt(args, 0);
  if (list.kind !== 'list' && list.kind !== 'tuple')
    return failArgument(0, `slice takes a list or a tuple, not ${a(list)}`);
  const start = boundAt(args, 1, 'start', list.items.length);
  if (start.isErr()) return err(start.error);
  const end = boundAt(args, 2, 'end', list.items.length);
  if (end.isErr()) return err(end.error);
  if (start.value > end.value) return failArgument(1, 'the start must not be greater than the end');
  const kept = list.items.slice(start.value, end.value);
  return ok(list.kind === 'list' ? listValue(list.element, kept) : tupleValue(kept));
}

function boundAt(args: readonly HclValue[], at: number, name: string, size: number): Result<number, FunctionError> {
  return integerAt(args, at, `the ${name}`, true).andThen((bound) => {
    if (bound < 0) return failArgument(at, `the ${name} must not be negative`);
    if (bound > size) return failArgument(at, `the ${name} must not be greater than the length of the list, ${size}`);
    return ok(bound);
  });
}

/** A size of 0 means one chunk with everything. */
function chunklist(args: readonly HclValue[]): CallResult {
  const list = argumentAt(args, 0);
  const type = typeOf(list);
  const items = itemsAt(args, 0);
  if (items.length === 0) return ok(listValue(type, []));
  const size = integerAt(args, 1, 'the size');
  if (size.isErr()) return err(size.error);
  if (size.value < 0) return fail('the size of a chunk must not be negative');
  const step = size.value === 0 ? items.length : size.value;
  const chunks: HclValue[] = [];
  for (let at = 0; at < items.length; at += step) chunks.push(listValue(elementOf(list), items.slice(at, at + step)));
  return ok(listValue(type, chunks));
}

function sort(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const items = itemsAt(args, 0);
  const texts: string[] = [];
  for (const [at, item] of items.entries()) {
    if (item.kind !== 'string') return fail(`element ${at} is null and cannot be sorted`);
    texts.push(item.value);
  }
  if (!budget.charge(comparisonsOf(texts.length) * 2)) return overBudget('sort');
  return ok(listValue(stringType, texts.sort(compareCodePoints).map(stringValue)));
}

/** Comparisons needed to sort this number of elements. */
function comparisonsOf(count: number): number {
  return Math.ceil(count * Math.log2(count + 1));
}

/** The first argument that is not null, converted to the common type of all. The empty string is a value. */
function coalesce(args: readonly HclValue[]): CallResult {
  const common = unifyTypes(args.map(typeOf));
  if (common === undefined) {
    return fail(args.length === 0 ? 'coalesce needs at least one value' : 'all values must have a common type');
  }
  const found = args.find(({ kind }) => kind !== 'null');
  if (found === undefined) return fail('all values are null');
  const converted = convert(found, common);
  return converted.isErr() ? fail(converted.error.message) : ok(converted.value);
}

function coalesceList(args: readonly HclValue[]): CallResult {
  if (args.length === 0) return fail('coalescelist needs at least one list');
  for (const value of args) {
    const type = typeOf(value);
    if (type.kind !== 'list' && type.kind !== 'tuple')
      return fail(`coalescelist takes lists and tuples, not ${a(value)}`);
  }
  const found = args.find((value) => (itemsOf(value)?.length ?? 0) > 0);
  return found === undefined ? fail('all lists are empty or null') : ok(found);
}

/** Maps of one type stay a map; anything else becomes an object. Nulls add nothing. */
function merge(args: readonly HclValue[]): CallResult {
  const merged = new Map<string, HclValue>();
  const types = args.map(typeOf);
  let allNull = args.length > 0;
  for (const value of args) {
    if (value.kind === 'null') continue;
    const entries = entriesOf(value);
    if (entries === undefined) return fail(`merge takes maps and objects, not ${a(value)}`);
    allNull = false;
    for (const [key, item] of entries) merged.set(key, item);
  }
  const first = types[0];
  const alike = first !== undefined && types.every((type) => typesEqual(type, first));
  if (allNull) return ok(alike ? nullValue(first) : dynamicNull);
  return ok(alike && first.kind === 'map' ? mapValue(first.element, merged) : objectValue(merged));
}

function zipmap(args: readonly HclValue[]): CallResult {
  const names = itemsAt(args, 0);
  const list = argumentAt(args, 1);
  if (list.kind !== 'list' && list.kind !== 'tuple')
    return failArgument(1, `the values must be a list or a tuple, not ${a(list)}`);
  if (names.length !== list.items.length) {
    return fail(`there are ${names.length} keys but ${list.items.length} values`);
  }
  const entries: [string, HclValue][] = [];
  for (const [at, name] of names.entries()) {
    if (name.kind !== 'string') return fail(`key ${at} is null`);
    entries.push([name.value, list.items[at] as HclValue]);
  }
  return ok(list.kind === 'list' ? mapValue(list.element, entries) : objectValue(entries));
}

function convertItems(items: readonly HclValue[], type: HclType): Result<readonly HclValue[], FunctionError> {
  const converted: HclValue[] = [];
  for (const item of items) {
    const one = convert(item, type);
    if (one.isErr()) return fail(one.error.message);
    converted.push(one.value);
  }
  return ok(converted);
}

function elementOf(value: HclValue): HclType {
  return value.kind === 'list' || value.kind === 'set' ? value.element : dynamicType;
}

function a(value: HclValue): string {
  return value.kind === 'null' ? 'null' : article(typeText(value));
}

function article(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}
