import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { convert } from '../../values/convert.js';
import { valueKey } from '../../values/set-order.js';
import { compareCodePoints } from '../../values/unicode.js';
import { unifyTypes } from '../../values/unify.js';
import type { HclType, HclValue } from '../../values/value.js';
import {
  dynamicType,
  itemsOf,
  listOf,
  listValue,
  numberType,
  stringType,
  stringValue,
  tupleValue,
  typeOf,
} from '../../values/value.js';
import { itemKeysWork } from '../../values/work.js';
import { argumentAt, integerAt, itemsAt } from '../arguments.js';
import type { CallResult, EagerFunction, FunctionContext, FunctionError } from '../function.js';
import { defineFunction, fail, failArgument, overBudget, parameter, perElement } from '../function.js';
import { described } from './collections.js';

const any = (name: string) => parameter(name, dynamicType);
const anyList = (name: string) => parameter(name, listOf(dynamicType));

/** Functions that build lists and tuples from others. */
export const listFunctions: readonly EagerFunction[] = [
  defineFunction('concat', [], concat, { variadic: any('lists'), cost: perElement(2) }),
  defineFunction('flatten', [any('list')], flatten),
  defineFunction('distinct', [anyList('list')], distinct, { cost: (args) => itemKeysWork(itemsAt(args, 0)) }),
  defineFunction('compact', [parameter('list', listOf(stringType))], compact),
  defineFunction('slice', [any('list'), parameter('start', numberType), parameter('end', numberType)], slice),
  defineFunction('chunklist', [anyList('list'), parameter('size', numberType)], chunklist, { cost: perElement(2) }),
  defineFunction('sort', [parameter('list', listOf(stringType))], sort),
];

/** Lists whose elements have a common type give a list; if any argument is a tuple, the result is a tuple. */
function concat(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  if (args.length === 0) return fail('concat needs at least one list');
  const items: HclValue[] = [];
  for (const [at, value] of args.entries()) {
    if (value.kind !== 'list' && value.kind !== 'tuple') {
      return failArgument(at, `concat takes lists and tuples, not ${described(value)}`);
    }
    if (!budget.chargeElements(value.items.length + items.length)) return overBudget('concat');
    for (const item of value.items) items.push(item);
  }
  const elements = args.flatMap((value) => (value.kind === 'list' ? value.element : []));
  const common = elements.length < args.length ? undefined : unifyTypes(elements);
  if (common === undefined) return ok(tupleValue(items));
  return convertItems(items, common).map((converted) => listValue(common, converted));
}

function flatten(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  const outer = itemsOf(argumentAt(args, 0));
  if (outer === undefined) return fail(`flatten takes a list, set or tuple, not ${described(argumentAt(args, 0))}`);
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
    return failArgument(0, `slice takes a list or a tuple, not ${described(list)}`);
  const start = boundAt(args, 1, 'start', list.items.length);
  if (start.isErr()) return err(start.error);
  const end = boundAt(args, 2, 'end', list.items.length);
  if (end.isErr()) return err(end.error);
  if (start.value > end.value) return failArgument(1, 'the start must not be greater than the end');
  const kept = list.items.slice(start.value, end.value);
  return ok(list.kind === 'list' ? listValue(list.element, kept) : tupleValue(kept));
}

/** A size of 0 means one chunk with everything. */
function chunklist(args: readonly HclValue[]): CallResult {
  const list = argumentAt(args, 0);
  const type = typeOf(list);
  const items = itemsAt(args, 0);
  const size = integerAt(args, 1, 'the size');
  if (size.isErr()) return err(size.error);
  if (size.value < 0) return fail('the size of a chunk must not be negative');
  if (items.length === 0) return ok(listValue(type, []));
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

function boundAt(args: readonly HclValue[], at: number, name: string, size: number): Result<number, FunctionError> {
  return integerAt(args, at, `the ${name}`, true).andThen((bound) => {
    if (bound < 0) return failArgument(at, `the ${name} must not be negative`);
    if (bound > size) return failArgument(at, `the ${name} must not be greater than the length of the list, ${size}`);
    return ok(bound);
  });
}

/** Comparisons needed to sort this number of elements. */
function comparisonsOf(count: number): number {
  return Math.ceil(count * Math.log2(count + 1));
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

/** The items without duplicates, each at its first position. All items have one type. */
function distinctItems(items: readonly HclValue[]): readonly HclValue[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = valueKey(item);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
