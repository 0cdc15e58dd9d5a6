import { ok } from 'neverthrow';
import { convert } from '../../values/convert.js';
import { typesEqual } from '../../values/equal.js';
import { article, typeText } from '../../values/type-text.js';
import type { HclValue } from '../../values/value.js';
import {
  dynamicType,
  entriesOf,
  listOf,
  listValue,
  mapValue,
  objectValue,
  stringType,
  stringValue,
  tupleValue,
  typeOf,
} from '../../values/value.js';
import { itemKeysWork } from '../../values/work.js';
import { argumentAt, itemsAt, textAt } from '../arguments.js';
import type { CallResult, EagerFunction } from '../function.js';
import { defineFunction, fail, failArgument, nullableParameter, parameter, perElement } from '../function.js';
import { described } from './collections.js';

const any = (name: string) => parameter(name, dynamicType);

/** Functions of maps and objects. */
export const mapFunctions: readonly EagerFunction[] = [
  defineFunction('keys', [any('map')], keys, { cost: perElement(1) }),
  defineFunction('values', [any('map')], values),
  defineFunction('lookup', [any('map'), parameter('key', stringType), any('default')], lookup),
  defineFunction('merge', [], merge, {
    variadic: nullableParameter('maps', dynamicType),
    cost: (args) => 10 + perElement(4)(args),
  }),
  defineFunction('zipmap', [parameter('keys', listOf(stringType)), any('values')], zipmap, {
    cost: (args) => perElement(3)(args) + itemKeysWork(itemsAt(args, 0)),
  }),
];

function keys(args: readonly HclValue[]): CallResult {
  const map = argumentAt(args, 0);
  const entries = entriesOf(map);
  if (entries === undefined) return failArgument(0, `keys takes a map or an object, not ${described(map)}`);
  const names = [...entries.keys()].map(stringValue);
  return ok(map.kind === 'map' ? listValue(stringType, names) : tupleValue(names));
}

function values(args: readonly HclValue[]): CallResult {
  const map = argumentAt(args, 0);
  if (map.kind === 'map') return ok(listValue(map.element, [...map.entries.values()]));
  if (map.kind === 'object') return ok(tupleValue([...map.entries.values()]));
  return fail(`values takes a map or an object, not ${described(map)}`);
}

function lookup(args: readonly HclValue[]): CallResult {
  const map = argumentAt(args, 0);
  const fallback = argumentAt(args, 2);
  const entries = entriesOf(map);
  if (entries === undefined) return failArgument(0, `lookup takes a map or an object, not ${described(map)}`);
  const found = entries.get(textAt(args, 1));
  if (map.kind !== 'map') return ok(found ?? fallback);
  const converted = convert(fallback, map.element);
  if (converted.isErr()) {
    return failArgument(2, `the default must be ${article(typeText(map.element))}, as the elements are`);
  }
  return ok(found ?? converted.value);
}

/** Maps of one type stay a map; anything else becomes an object. Nulls add nothing. */
function merge(args: readonly HclValue[]): CallResult {
  const merged = new Map<string, HclValue>();
  const types = args.map(typeOf);
  for (const value of args) {
    const entries = entriesOf(value) ?? (isNullMap(value) ? NO_ENTRIES : undefined);
    if (entries === undefined) return fail(`merge takes maps and objects, not ${described(value)}`);
    for (const [key, item] of entries) merged.set(key, item);
  }
  const first = types[0];
  const alike = first !== undefined && types.every((type) => typesEqual(type, first));
  if (alike && first.kind === 'object' && merged.size < first.attributes.size) {
    return fail('all objects to merge are null');
  }
  return ok(alike && first.kind === 'map' ? mapValue(first.element, merged) : objectValue(merged));
}

const NO_ENTRIES: ReadonlyMap<string, HclValue> = new Map();

/** A null of no type, or of one that `merge` takes. */
function isNullMap(value: HclValue): boolean {
  return value.kind === 'null' && ['dynamic', 'map', 'object'].includes(value.type.kind);
}

function zipmap(args: readonly HclValue[]): CallResult {
  const names = itemsAt(args, 0);
  const list = argumentAt(args, 1);
  if (list.kind !== 'list' && list.kind !== 'tuple')
    return fail(`the values must be a list or a tuple, not ${described(list)}`);
  if (names.length !== list.items.length) {
    return fail(`there are ${names.length} keys but ${list.items.length} values`);
  }
  const entries: [string, HclValue][] = [];
  for (const [at, item] of list.items.entries()) {
    const name = names[at];
    if (name?.kind !== 'string') return fail(`key ${at} is null`);
    entries.push([name.value, item]);
  }
  return ok(list.kind === 'list' ? mapValue(list.element, entries) : objectValue(entries));
}
