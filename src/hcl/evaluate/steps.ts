import { suggestName } from '../diagnostics/suggest.js';
import type { AttributeStep, IndexStep, SplatStep, Step } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { typesEqual } from '../values/equal.js';
import { toSafeInteger } from '../values/number.js';
import { typeText } from '../values/render.js';
import {
  dynamicType,
  entriesOf,
  type HclValue,
  itemsOf,
  listValue,
  numberType,
  stringType,
  tupleValue,
  typeOf,
} from '../values/value.js';
import { accepted, type EvaluationContext, outOfBudget, problem } from './context.js';

/** Applies `.name`, `[key]` and splats to a value. */
export function applySteps(context: EvaluationContext, source: HclValue, steps: readonly Step[]): HclValue | undefined {
  let value: HclValue | undefined = source;
  for (const step of steps) {
    if (!context.budget.charge(1)) return outOfBudget(context, step);
    switch (step.kind) {
      case 'attribute-step':
        value = attributeOf(context, value, step);
        break;
      case 'index-step':
        value = elementOf(context, value, step);
        break;
      case 'splat-step':
        value = applySplat(context, value, step);
        break;
    }
    if (value === undefined) return undefined;
  }
  return value;
}

function attributeOf(context: EvaluationContext, value: HclValue, step: AttributeStep): HclValue | undefined {
  const entries = entriesOf(value);
  const { name } = step;
  if (entries === undefined) {
    const given = describe(value);
    const detail =
      itemsOf(value) === undefined ? undefined : `Use an index such as [0], or [*].${name} for all of its elements.`;
    return problem(context, 'missing_attribute', step, {
      message: `There is no attribute "${name}" in ${given}.`,
      detail,
    });
  }
  const found = entries.get(name);
  if (found !== undefined) return found;
  return problem(context, 'missing_attribute', step, {
    message: `There is no attribute "${name}" in this ${value.kind}.`,
    detail: () => keysDetail(entries),
    suggestion: () => suggestName(name, entries.keys()),
  });
}

function elementOf(context: EvaluationContext, value: HclValue, step: IndexStep): HclValue | undefined {
  const key = context.evaluate(context, step.key);
  if (key === undefined) return undefined;
  if (key.kind === 'null') return problem(context, 'bad_index', step, 'null cannot be an index.');
  if (value.kind === 'list' || value.kind === 'tuple') return itemAt(context, value.items, key, step);
  const entries = entriesOf(value);
  if (entries === undefined) {
    const why = value.kind === 'set' ? 'The elements of a set have no index.' : undefined;
    return problem(context, 'bad_index', step, {
      message: `There is nothing to index in ${describe(value)}.`,
      detail: why,
    });
  }
  const name = convert(key, stringType).unwrapOr(undefined);
  if (name?.kind !== 'string') return problem(context, 'bad_index', step, 'The key must be a string.');
  const found = entries.get(name.value);
  if (found !== undefined) return found;
  const shown = JSON.stringify(name.value.length > 40 ? `${name.value.slice(0, 40)}…` : name.value);
  return problem(context, 'missing_attribute', step, {
    message: `There is no element ${shown} in this ${value.kind}.`,
    detail: () => keysDetail(entries),
    suggestion: () => suggestName(name.value, entries.keys()),
  });
}

function itemAt(
  context: EvaluationContext,
  items: readonly HclValue[],
  key: HclValue,
  step: IndexStep,
): HclValue | undefined {
  const number = convert(key, numberType).unwrapOr(undefined);
  if (number?.kind !== 'number') return problem(context, 'bad_index', step, 'The index must be a number.');
  const index = toSafeInteger(number.value);
  const found = index === undefined ? undefined : items[index];
  if (found !== undefined) return found;
  const detail =
    items.length === 0
      ? 'There are no elements.'
      : `The ${items.length} elements have the indexes 0 to ${items.length - 1}.`;
  return problem(context, 'bad_index', step, { message: 'There is no element with this index.', detail });
}

function applySplat(context: EvaluationContext, value: HclValue, step: SplatStep): HclValue | undefined {
  const items = splatItems(value);
  if (items === undefined) {
    return problem(context, 'not_iterable', step, {
      message: `A splat cannot take the elements of a null of type ${typeText(value)}.`,
      detail: 'Give it an empty collection, for example with coalesce().',
    });
  }
  if (!context.budget.chargeElements(items.length)) return outOfBudget(context, step);
  const results: HclValue[] = [];
  for (const item of items) {
    const result = applySteps(context, item, step.each);
    if (result === undefined) return undefined;
    results.push(result);
  }
  if (value.kind !== 'list' && value.kind !== 'set') return accepted(context, tupleValue(results), step);
  const [first] = results;
  if (first === undefined) return listValue(step.each.length === 0 ? value.element : dynamicType, []);
  const type = typeOf(first);
  const uniform = results.every((result) => typesEqual(typeOf(result), type));
  return accepted(context, uniform ? listValue(type, results) : tupleValue(results), step);
}

/**
 * A value that is not a list, set or tuple counts as a collection of one element, and a null of such a type as an empty one;
 * undefined for a null that should have been a list, set or tuple.
 */
function splatItems(value: HclValue): readonly HclValue[] | undefined {
  if (value.kind !== 'null') return itemsOf(value) ?? [value];
  return ['list', 'set', 'tuple'].includes(value.type.kind) ? undefined : [];
}

function describe(value: HclValue): string {
  return value.kind === 'null' ? 'null' : `a value of type ${typeText(value)}`;
}

function keysDetail(entries: ReadonlyMap<string, HclValue>): string {
  if (entries.size === 0) return 'It is empty.';
  const names: string[] = [];
  for (const name of entries.keys()) {
    if (names.length === 10) break;
    names.push(JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name));
  }
  const rest = entries.size - names.length;
  return `It has ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
}
