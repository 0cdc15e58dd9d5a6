import { err, ok } from 'neverthrow';
import { convert } from '../values/convert.js';
import { valueKey } from '../values/set-order.js';
import { unifyTypes } from '../values/unify.js';
import type { HclType, HclValue } from '../values/value.js';
import { dynamicType, itemsOf, listValue, setOf, setValue, tupleOf, tupleValue, typeOf } from '../values/value.js';
import { argumentAt, itemsAt } from './arguments.js';
import type { CallResult, EagerFunction, FunctionContext } from './function.js';
import { defineFunction, fail, failArgument, overBudget, parameter } from './function.js';

const anySet = (name: string) => parameter(name, setOf(dynamicType));

export const setFunctions: readonly EagerFunction[] = [
  defineFunction('setunion', [anySet('first')], (args) => combine(args, union), anySet('others')),
  defineFunction('setintersection', [anySet('first')], (args) => combine(args, intersection), anySet('others')),
  defineFunction('setproduct', [], product, parameter('sets', dynamicType)),
];

type Combination = (sets: readonly (readonly HclValue[])[]) => readonly HclValue[];

/** Converts all sets to one element type before combining them; an empty set of no type in particular has no say in it. */
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
  const elements: HclType[] = [];
  let total = 1;
  for (const [at, value] of args.entries()) {
    const items = itemsOf(value);
    if (items === undefined) return failArgument(at, 'a set or a list is required');
    const type = value.kind === 'tuple' ? unifiedElements(value.items) : 'element' in value ? value.element : undefined;
    if (type === undefined) return failArgument(at, 'all elements must have a common type');
    elements.push(type);
    total *= items.length;
  }
  if (!budget.chargeElements(total) || !budget.charge(total * args.length)) return overBudget('setproduct');
  const columns: (readonly HclValue[])[] = [];
  for (const [at, value] of args.entries()) {
    const column: HclValue[] = [];
    for (const item of itemsOf(value) ?? []) {
      const converted = convert(item, elements[at] ?? dynamicType);
      if (converted.isErr()) return err({ type: 'invalid_argument', message: converted.error.message, argument: at });
      column.push(converted.value);
    }
    columns.push(column);
  }
  let rows: (readonly HclValue[])[] = total === 0 ? [] : [[]];
  if (total > 0) for (const column of columns) rows = rows.flatMap((row) => column.map((item) => [...row, item]));
  const tuples = rows.map((row) => tupleValue(row));
  const row = tupleOf(elements);
  return ok(args.some(({ kind }) => kind === 'set') ? setValue(row, tuples) : listValue(row, tuples));
}

function unifiedElements(items: readonly HclValue[]): HclType | undefined {
  return items.length === 0 ? dynamicType : unifyTypes(items.map(typeOf));
}
