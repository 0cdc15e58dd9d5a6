import { typesEqual } from './equal.js';
import type { HclType } from './value.js';

/**
 * True when some values of the type `from` convert to the type `to`. A particular value may still fail, as the text `"x"` does
 * when a number is wanted.
 */
export function canConvert(from: HclType, to: HclType): boolean {
  if (to.kind === 'dynamic' || from.kind === 'dynamic' || typesEqual(from, to)) return true;
  switch (to.kind) {
    case 'string':
      return from.kind === 'number' || from.kind === 'bool';
    case 'number':
    case 'bool':
      return from.kind === 'string';
    case 'list':
    case 'set':
      if (from.kind === 'list' || from.kind === 'set') return canConvert(from.element, to.element);
      return from.kind === 'tuple' && from.elements.every((element) => canConvert(element, to.element));
    case 'map':
      if (from.kind === 'map') return canConvert(from.element, to.element);
      return from.kind === 'object' && every(from.attributes.values(), (type) => canConvert(type, to.element));
    case 'tuple':
      return from.kind === 'tuple' && fitsTuple(from.elements, to.elements);
    case 'object':
      return fitsObject(from, to);
  }
}

function fitsTuple(from: readonly HclType[], to: readonly HclType[]): boolean {
  return from.length === to.length && from.every((element, at) => canConvert(element, to[at] as HclType));
}

/** An object may have more attributes than are wanted; a map is taken to have them all. */
function fitsObject(from: HclType, to: Extract<HclType, { kind: 'object' }>): boolean {
  if (from.kind === 'map') return every(to.attributes.values(), (type) => canConvert(from.element, type));
  if (from.kind !== 'object') return false;
  return every(to.attributes, ([name, type]) => {
    const given = from.attributes.get(name);
    return given !== undefined && canConvert(given, type);
  });
}

function every<Item>(items: Iterable<Item>, holds: (item: Item) => boolean): boolean {
  for (const item of items) if (!holds(item)) return false;
  return true;
}
