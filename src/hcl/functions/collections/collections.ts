import { err, ok } from 'neverthrow';
import { convert } from '../../values/convert.js';
import { valuesEqual } from '../../values/equal.js';
import { countNumber, toSafeInteger } from '../../values/number.js';
import { article, typeText } from '../../values/type-text.js';
import { unifyTypes } from '../../values/unify.js';
import { boolValue, dynamicType, type HclValue, itemsOf, numberType, numberValue, typeOf } from '../../values/value.js';
import { unificationWork } from '../../values/work.js';
import { argumentAt, integerAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  fail,
  nullableParameter,
  parameter,
  perElement,
} from '../function.js';

const any = (name: string) => parameter(name, dynamicType);

/** Functions that query collections of any kind, or choose from them. */
export const collectionFunctions: readonly EagerFunction[] = [
  defineFunction('length', [any('collection')], length),
  defineFunction('element', [any('list'), parameter('index', numberType)], element),
  defineFunction('index', [any('collection'), any('key')], index),
  defineFunction('contains', [any('collection'), any('value')], contains),
  defineFunction('coalesce', [], coalesce, {
    variadic: nullableParameter('values', dynamicType),
    cost: (args) => unificationWork(...args) + perElement(2)(args),
  }),
  defineFunction('coalescelist', [], coalesceList, { variadic: nullableParameter('lists', dynamicType) }),
];

function length(args: readonly HclValue[]): CallResult {
  const collection = argumentAt(args, 0);
  const count = collection.kind === 'map' ? collection.entries.size : itemsOf(collection)?.length;
  if (count === undefined) return fail(`length takes a list, tuple, set or map, not ${described(collection)}`);
  return ok(numberValue(countNumber(count)));
}

function element(args: readonly HclValue[]): CallResult {
  const list = argumentAt(args, 0);
  if (list.kind !== 'list' && list.kind !== 'tuple')
    return fail(`element takes a list or a tuple, not ${described(list)}`);
  const position = integerAt(args, 1, 'the index');
  if (position.isErr()) return err(position.error);
  const item = list.items.at(position.value % list.items.length);
  return item === undefined ? fail('element cannot pick from an empty list') : ok(item);
}

function index(args: readonly HclValue[]): CallResult {
  const collection = argumentAt(args, 0);
  const key = argumentAt(args, 1);
  if (collection.kind === 'map') {
    if (key.kind !== 'string') return fail('the key of a map must be a string');
    return present(collection.entries.get(key.value), `the map has no element ${JSON.stringify(key.value)}`);
  }
  if (collection.kind !== 'list' && collection.kind !== 'tuple') {
    return fail(`index takes a list, a tuple or a map, not ${described(collection)}`);
  }
  const position = key.kind === 'number' ? toSafeInteger(key.value) : undefined;
  if (position === undefined) return fail(`the key of a ${collection.kind} must be a whole number`);
  return present(collection.items[position], `the ${collection.kind} has no element ${position}`);
}

function contains(args: readonly HclValue[]): CallResult {
  const collection = argumentAt(args, 0);
  const items = itemsOf(collection);
  if (items === undefined) return fail(`contains takes a list, tuple or set, not ${described(collection)}`);
  return ok(boolValue(items.some((item) => valuesEqual(item, argumentAt(args, 1)))));
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
      return fail(`coalescelist takes lists and tuples, not ${described(value)}`);
  }
  const found = args.find((value) => (itemsOf(value)?.length ?? 0) > 0);
  return found === undefined ? fail('all lists are empty or null') : ok(found);
}

function present(value: HclValue | undefined, message: string): CallResult {
  return value === undefined ? fail(message) : ok(value);
}

/** The kind of a value in a message, with its article: `a string`, `an object`, `null`. */
export function described(value: HclValue): string {
  return value.kind === 'null' ? 'null' : article(typeText(value));
}
