import { err, ok, type Result } from 'neverthrow';
import { convert } from '../../values/convert.js';
import { valueKey } from '../../values/set-order.js';
import { unifyTypes } from '../../values/unify.js';
import type { HclType, HclValue } from '../../values/value.js';
import { dynamicType, itemsOf, listValue, setOf, setValue, tupleOf, tupleValue, typeOf } from '../../values/value.js';
import { itemKeysWork, unificationWork } from '../../values/work.js';
import { argumentAt, itemsAt } from '../arguments.js';
import type { CallResult, EagerFunction, FunctionContext, FunctionError } from '../function.js';
import { defineFunction, fail, failArgument, overBudget, parameter, perElement } from '../function.js';

const anySet = (name: string) => parameter(name, setOf(dynamicType));

export const setFunctions: readonly EagerFunction[] = [
  defineFunction('setunion', [anySet('first')], (args) => combine(args, union), {
    variadic: anySet('others'),
    cost: combinationWork,
  }),
  defineFunction('setintersection', [anySet('first')], (args) => combine(args, intersection), {
    variadic: anySet('others'),
    cost: combinationWork,
  }),
  defineFunction('setproduct', [], product, {
    variadic: parameter('sets', dynamicType),
    cost: (args) => 4 + unificationWork(...args) + perElement(3)(args),
  }),
];

/** Each element is converted to the common type and inserted in the order of the set. */
function combinationWork(args: readonly HclValue[]): number {
  const keys = args.reduce((work, set) => work + itemKeysWork(itemsOf(set) ?? []), 0);
  return 8 + unificationWork(...args) + perElement(8)(args) + keys;
}

type Combination = (sets: readonly (readonly HclValue[])[]) => readonly HclValue[];

/** Converts all sets to one element type before combining them; an empty set of unknown type does not affect the type. */
function combine(args: readonly HclValue[], combination: Combination): CallResult {
  const types = args.flatMap((set) => (set.kind === 'set' && set.element.kind !== 'dynamic' ? [set.element] : []));
  const element = types.length === 0 ? dynamicType : unifyTypes(types);
  if (element === undefined) return fail('the sets must have elements of a common type');
  const sets: (readonly HclValue[])[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const converted = convert(argumentAt(args, at), setOf(element));
    if (converted.isErr()) return failArgument(at, converted.error.message);
    sets.push(itemsAt([converted.value], 0));
  }
  return ok(setValue(element, combination(sets)));
}

const union: Combination = (sets) => sets.flat();

const intersection: Combination = (sets) => {
  const [first = [], ...others] = sets;
  const known = others.map((items) => new Set(items.map(valueKey)));
  return first.filter((item) => known.every((keys) => keys.has(valueKey(item))));
};

/** All combinations of one element of each; a list of tuples when every argument is a list or tuple, else a set of them. */
function product(args: readonly HclValue[], { budget }: FunctionContext): CallResult {
  if (args.length < 2) return fail('setproduct needs at least two sets or lists');
  const elements = elementTypes(args);
  if (elements.isErr()) return err(elements.error);
  const total = args.reduce((count, value) => count * (itemsOf(value)?.length ?? 0), 1);
  if (!budget.chargeElements(total) || !budget.charge(total * (3 + 2 * args.length))) return overBudget('setproduct');
  const columns = convertedItems(args, elements.value);
  if (columns.isErr()) return err(columns.error);
  const tuples = total === 0 ? [] : combinations(columns.value).map((row) => tupleValue(row));
  const row = tupleOf(elements.value);
  return ok(args.some(({ kind }) => kind === 'set') ? setValue(row, tuples) : listValue(row, tuples));
}

/** The common element type of each argument. */
function elementTypes(args: readonly HclValue[]): Result<readonly HclType[], FunctionError> {
  const elements: HclType[] = [];
  for (const [at, value] of args.entries()) {
    if (itemsOf(value) === undefined) return failArgument(at, 'a set or a list is required');
    const type = value.kind === 'tuple' ? unifiedElements(value.items) : 'element' in value ? value.element : undefined;
    if (type === undefined) return failArgument(at, 'all elements must have a common type');
    elements.push(type);
  }
  return ok(elements);
}

type Column = readonly HclValue[];

function convertedItems(
  args: readonly HclValue[],
  elements: readonly HclType[],
): Result<readonly Column[], FunctionError> {
  const columns: Column[] = [];
  for (const [at, value] of args.entries()) {
    const column: HclValue[] = [];
    for (const item of itemsOf(value) ?? []) {
      const converted = convert(item, elements[at] ?? dynamicType);
      if (converted.isErr()) return failArgument(at, converted.error.message);
      column.push(converted.value);
    }
    columns.push(column);
  }
  return ok(columns);
}

/** All rows with one item of each column, the last column changing fastest. */
function combinations(columns: readonly Column[]): readonly Column[] {
  let rows: Column[] = [[]];
  for (const column of columns) rows = rows.flatMap((row) => column.map((item) => [...row, item]));
  return rows;
}

function unifiedElements(items: readonly HclValue[]): HclType | undefined {
  return items.length === 0 ? dynamicType : unifyTypes(items.map(typeOf));
}
