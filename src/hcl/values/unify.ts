import { typesEqual } from './equal.js';
import type { HclType } from './value.js';
import { dynamicType, listOf, mapOf, objectOf, setOf, tupleOf } from './value.js';

/**
 * The common type of all the given types, as the branches of a conditional need it:
 *
 * * equal types stay; a number or bool beside a string becomes a string; a number beside a bool has no common type;
 * * tuples of one length are unified position by position, of different lengths to a list; a tuple beside a list to a list;
 * * objects with the same attribute names are unified attribute by attribute, others to a map; an object beside a map to a map;
 * * `dynamic` (a bare null) gives way to scalars, and beside a collection leaves the type open (`dynamic`).
 *
 * @returns undefined if there is no such type, and for an empty list of types
 */
export function unifyTypes(types: readonly HclType[]): HclType | undefined {
  const different = distinctTypes(types);
  const first = different[0];
  if (first === undefined || different.length === 1) return first;
  const kinds = new Set(different.map(({ kind }) => kind));
  const open = kinds.delete('dynamic');
  const rule = RULES.find((candidate) => only(kinds, ...candidate.kinds));
  if (rule?.kinds.length === 1) return open ? dynamicType : rule.unify(different);
  const unified = open ? undefined : rule?.unify(different);
  if (unified !== undefined) return unified;
  if (kinds.has('object') && kinds.has('tuple')) return undefined;
  return mostGeneral(different);
}

interface UnificationRule {
  readonly kinds: readonly HclType['kind'][];
  readonly unify: (types: readonly HclType[]) => HclType | undefined;
}

/**
 * Rules for types of exactly these kinds. Where a rule for two kinds gives nothing, one of the types may still be the most
 * general one.
 */
const RULES: readonly UnificationRule[] = [
  { kinds: ['map'], unify: (types) => unifyElements(types, mapOf) },
  { kinds: ['list'], unify: (types) => unifyElements(types, listOf) },
  { kinds: ['set'], unify: (types) => unifyElements(types, setOf) },
  { kinds: ['map', 'object'], unify: (types) => unifyWithCollections(types, 'object', mapOf) },
  { kinds: ['list', 'tuple'], unify: (types) => unifyWithCollections(types, 'tuple', listOf) },
  { kinds: ['object'], unify: (types) => unifyObjects(types) },
  { kinds: ['tuple'], unify: (types) => unifyTuples(types) },
];

/** Each type once. Keys instead of pairwise comparison keep a list of a thousand different objects linear. */
function distinctTypes(types: readonly HclType[]): readonly HclType[] {
  const first = types[0];
  if (first === undefined || types.every((type) => type === first)) return types.slice(0, 1);
  const found = new Map<string, HclType>();
  for (const type of types) {
    const key = typeKey(type);
    if (!found.has(key)) found.set(key, type);
  }
  return [...found.values()];
}

function typeKey(type: HclType): string {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'bool':
    case 'dynamic':
      return type.kind;
    case 'list':
    case 'set':
    case 'map':
      return `${type.kind}(${typeKey(type.element)})`;
    case 'tuple':
      return `[${type.elements.map(typeKey).join(',')}]`;
    case 'object':
      return `{${Array.from(type.attributes, ([name, item]) => `${JSON.stringify(name)}:${typeKey(item)}`).join(',')}}`;
  }
}

function only(kinds: ReadonlySet<HclType['kind']>, ...expected: readonly HclType['kind'][]): boolean {
  return kinds.size === expected.length && expected.every((kind) => kinds.has(kind));
}

function unifyElements(types: readonly HclType[], collection: (element: HclType) => HclType): HclType | undefined {
  const element = unifyTypes(types.flatMap(elementTypes));
  if (element === undefined) return undefined;
  const unified = collection(element);
  return element.kind !== 'dynamic' || types.every((type) => canConvert(type, unified)) ? unified : undefined;
}

/** Tuples beside lists, or objects beside maps: all of the first kind become one collection, which is unified with the others. */
function unifyWithCollections(
  types: readonly HclType[],
  kind: 'tuple' | 'object',
  collection: (element: HclType) => HclType,
): HclType | undefined {
  const own = unifyElements(
    types.filter((type) => type.kind === kind),
    collection,
  );
  if (own === undefined) return undefined;
  const others = types.filter((type) => type.kind !== kind);
  return unifyElements([own, ...others], collection);
}

function unifyTuples(types: readonly HclType[]): HclType | undefined {
  const rows = types.map(elementTypes);
  const length = rows[0]?.length ?? 0;
  if (rows.some((row) => row.length !== length)) return unifyElements(types, listOf);
  const elements: HclType[] = [];
  for (let at = 0; at < length; at += 1) {
    const element = unifyTypes(rows.map((row) => row[at] as HclType));
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return tupleOf(elements);
}

function unifyObjects(types: readonly HclType[]): HclType | undefined {
  const rows = types.flatMap((type) => (type.kind === 'object' ? [type.attributes] : []));
  const names = [...(rows[0]?.keys() ?? [])];
  const alike = rows.every((row) => row.size === names.length && names.every((name) => row.has(name)));
  if (!alike) return unifyElements(types, mapOf);
  const attributes: [string, HclType][] = [];
  for (const name of names) {
    const attribute = unifyTypes(rows.map((row) => row.get(name) as HclType));
    if (attribute === undefined) return undefined;
    attributes.push([name, attribute]);
  }
  return objectOf(attributes);
}

/** Candidates for the most general type that are tried; trying all of them would take quadratic time. */
const MAX_CANDIDATES = 64;

/** Among types of several kinds: the most general one that all others convert to. */
function mostGeneral(types: readonly HclType[]): HclType | undefined {
  const preferred = [...types].sort((left, right) => preference(left) - preference(right)).slice(0, MAX_CANDIDATES);
  return preferred.find((wanted) => types.every((type) => canConvert(type, wanted)));
}

/**
 * Lower is tried first: a string can hold any scalar, a list any tuple or set, a map any object; null is the last resort. Of two
 * collections of one kind the elements decide.
 */
function preference(type: HclType): number {
  switch (type.kind) {
    case 'string':
      return 0;
    case 'list':
    case 'map':
      return preference(type.element) / 8;
    case 'number':
    case 'bool':
    case 'tuple':
    case 'object':
      return 1;
    case 'set':
      return 2 + preference(type.element) / 8;
    case 'dynamic':
      return 3;
  }
}

/** The types of the parts that a type has. */
export function elementTypes(type: HclType): readonly HclType[] {
  switch (type.kind) {
    case 'string':
    case 'number':
    case 'bool':
    case 'dynamic':
      return [];
    case 'list':
    case 'set':
    case 'map':
      return [type.element];
    case 'tuple':
      return type.elements;
    case 'object':
      return [...type.attributes.values()];
  }
}

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
      return from.kind === 'tuple' && fitCollection(from.elements, to);
    case 'map':
      if (from.kind === 'map') return canConvert(from.element, to.element);
      return from.kind === 'object' && fitCollection([...from.attributes.values()], to);
    case 'tuple':
      return from.kind === 'tuple' && fitsTuple(from.elements, to.elements);
    case 'object':
      return fitsObject(from, to);
  }
}

function fitCollection(parts: readonly HclType[], to: CollectionType): boolean {
  const element = openElement(to, parts);
  return element !== undefined && parts.every((type) => canConvert(type, element));
}

type CollectionType = HclType & { readonly kind: 'list' | 'set' | 'map' };

/**
 * The type that the parts of a tuple or object are converted to for a collection. If it is left open, it is the common type of
 * the parts, and undefined if there is none. A bare null beside a collection leaves the common type open: a map takes that, lists
 * and sets do not.
 */
export function openElement(type: CollectionType, parts: readonly HclType[]): HclType | undefined {
  if (type.element.kind !== 'dynamic' || parts.length === 0) return type.element;
  const common = unifyTypes(parts);
  if (common?.kind !== 'dynamic' || type.kind === 'map') return common;
  return parts.every(({ kind }) => kind === 'dynamic') ? common : undefined;
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
