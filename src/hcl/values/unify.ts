import { everyPair, typesEqual } from './equal.js';
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
  return unify(types, new Map());
}

/** Common types found within one call, by the keys of the types: each step may need those of the steps below several times. */
type Found = Map<string, HclType | undefined>;

function unify(types: readonly HclType[], found: Found): HclType | undefined {
  const { different, key } = distinctTypes(types);
  if (different.length < 2) return different[0];
  if (!found.has(key)) found.set(key, unifyDifferent(different, found));
  return found.get(key);
}

function unifyDifferent(different: readonly HclType[], found: Found): HclType | undefined {
  const kinds = new Set(different.map(({ kind }) => kind));
  const open = kinds.delete('dynamic');
  const rule = RULES.find((candidate) => only(kinds, ...candidate.kinds));
  if (rule?.kinds.length === 1) return open ? dynamicType : rule.unify(different, found);
  const unified = open ? undefined : rule?.unify(different, found);
  if (unified !== undefined) return unified;
  if (kinds.has('object') && kinds.has('tuple')) return undefined;
  return mostGeneral(different, found);
}

interface UnificationRule {
  readonly kinds: readonly HclType['kind'][];
  readonly unify: (types: readonly HclType[], found: Found) => HclType | undefined;
}

/**
 * Rules for types of exactly these kinds. Where a rule for two kinds gives nothing, one of the types may still be the most
 * general one.
 */
const RULES: readonly UnificationRule[] = [
  { kinds: ['map'], unify: (types, found) => unifyElements(types, mapOf, found) },
  { kinds: ['list'], unify: (types, found) => unifyElements(types, listOf, found) },
  { kinds: ['set'], unify: (types, found) => unifyElements(types, setOf, found) },
  { kinds: ['map', 'object'], unify: (types, found) => unifyWithCollections(types, 'object', found) },
  { kinds: ['list', 'tuple'], unify: (types, found) => unifyWithCollections(types, 'tuple', found) },
  { kinds: ['object'], unify: unifyObjects },
  { kinds: ['tuple'], unify: unifyTuples },
];

/** Each type once. Keys instead of pairwise comparison keep a list of a thousand different objects linear. */
function distinctTypes(types: readonly HclType[]): { readonly different: readonly HclType[]; readonly key: string } {
  const first = types[0];
  if (first === undefined || types.every((type) => type === first)) return { different: types.slice(0, 1), key: '' };
  const found = new Map<string, HclType>();
  for (const type of types) {
    const key = typeKey(type);
    if (!found.has(key)) found.set(key, type);
  }
  return { different: [...found.values()], key: [...found.keys()].join('|') };
}

function typeKey(type: HclType): string {
  if (type.kind !== 'tuple' && type.kind !== 'object')
    return 'element' in type ? `${type.kind}(${typeKey(type.element)})` : type.kind;
  const known = typeKeys.get(type);
  if (known !== undefined) return known;
  const key =
    type.kind === 'tuple'
      ? `[${type.elements.map(typeKey).join(',')}]`
      : `{${Array.from(type.attributes, ([name, item]) => `${JSON.stringify(name)}:${typeKey(item)}`).join(',')}}`;
  typeKeys.set(type, key);
  return key;
}

const typeKeys = new WeakMap<HclType, string>();

function only(kinds: ReadonlySet<HclType['kind']>, ...expected: readonly HclType['kind'][]): boolean {
  return kinds.size === expected.length && expected.every((kind) => kinds.has(kind));
}

/** The common type of the parts of one type. Types of values are shared by all values that contain them, so it is cached with the type. */
function commonOf(type: HclType, found: Found): HclType | undefined {
  const known = commonTypes.get(type);
  if (known !== undefined) return known.type;
  const common = unify(elementTypes(type), found);
  commonTypes.set(type, { type: common });
  return common;
}

const commonTypes = new WeakMap<HclType, { readonly type: HclType | undefined }>();

function unifyElements(
  types: readonly HclType[],
  collection: (element: HclType) => HclType,
  found: Found,
): HclType | undefined {
  const [only] = types;
  const element =
    only !== undefined && types.length === 1 ? commonOf(only, found) : unify(types.flatMap(elementTypes), found);
  if (element === undefined) return undefined;
  const unified = collection(element);
  return element.kind !== 'dynamic' || types.every((type) => converts(type, unified, found)) ? unified : undefined;
}

/** Tuples beside lists, or objects beside maps: all of the first kind become one collection, which is unified with the others. */
function unifyWithCollections(types: readonly HclType[], kind: 'tuple' | 'object', found: Found): HclType | undefined {
  const collection = kind === 'tuple' ? listOf : mapOf;
  const parted = types.filter((type) => type.kind === kind);
  const own = unifyElements(parted, collection, found);
  if (own === undefined) return undefined;
  const others = types.filter((type) => type.kind !== kind);
  return unifyElements([own, ...others], collection, found);
}

function unifyTuples(types: readonly HclType[], found: Found): HclType | undefined {
  const rows = types.map(elementTypes);
  const length = rows[0]?.length ?? 0;
  if (rows.some((row) => row.length !== length)) return unifyElements(types, listOf, found);
  const elements: HclType[] = [];
  for (let at = 0; at < length; at += 1) {
    const element = unify(
      rows.flatMap((row) => row[at] ?? []),
      found,
    );
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return tupleOf(elements);
}

function unifyObjects(types: readonly HclType[], found: Found): HclType | undefined {
  const rows = types.flatMap((type) => (type.kind === 'object' ? [type.attributes] : []));
  const names = [...(rows[0]?.keys() ?? [])];
  const alike = rows.every((row) => row.size === names.length && names.every((name) => row.has(name)));
  if (!alike) return unifyElements(types, mapOf, found);
  const attributes: [string, HclType][] = [];
  for (const name of names) {
    const attribute = unify(
      rows.flatMap((row) => row.get(name) ?? []),
      found,
    );
    if (attribute === undefined) return undefined;
    attributes.push([name, attribute]);
  }
  return objectOf(attributes);
}

/** Candidates for the most general type that are tried; trying all of them would take quadratic time. */
const MAX_CANDIDATES = 64;

/** Among types of several kinds: the most general one that all others convert to. */
function mostGeneral(types: readonly HclType[], found: Found): HclType | undefined {
  const preferred = [...types].sort((left, right) => preference(left) - preference(right)).slice(0, MAX_CANDIDATES);
  return preferred.find((wanted) => types.every((type) => converts(type, wanted, found)));
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
 * True when some values of the type `from` convert to the type `to`. A particular value may still fail, as the string `"x"` does
 * when a number is wanted.
 */
export function canConvert(from: HclType, to: HclType): boolean {
  return converts(from, to, new Map());
}

function converts(from: HclType, to: HclType, found: Found): boolean {
  if (to.kind === 'dynamic' || from.kind === 'dynamic' || typesEqual(from, to)) return true;
  switch (to.kind) {
    case 'string':
      return from.kind === 'number' || from.kind === 'bool';
    case 'number':
    case 'bool':
      return from.kind === 'string';
    case 'list':
    case 'set':
      if (from.kind === 'list' || from.kind === 'set') return converts(from.element, to.element, found);
      return from.kind === 'tuple' && fitCollection(from, to, found);
    case 'map':
      if (from.kind === 'map') return converts(from.element, to.element, found);
      return from.kind === 'object' && fitCollection(from, to, found);
    case 'tuple':
      return from.kind === 'tuple' && fitsTuple(from.elements, to.elements, found);
    case 'object':
      return fitsObject(from, to, found);
  }
}

function fitCollection(from: HclType, to: CollectionType, found: Found): boolean {
  const element = openElement(to, from, found);
  return element !== undefined && elementTypes(from).every((type) => converts(type, element, found));
}

type CollectionType = HclType & { readonly kind: 'list' | 'set' | 'map' };

/**
 * The type that the parts of a tuple or object `from` are converted to for a collection. If it is left open, it is the common type of
 * the parts, and undefined if there is none. A bare null beside a collection leaves the common type open: a map takes that, lists
 * and sets do not.
 */
export function openElement(type: CollectionType, from: HclType, found: Found = new Map()): HclType | undefined {
  const parts = elementTypes(from);
  if (type.element.kind !== 'dynamic' || parts.length === 0) return type.element;
  const common = commonOf(from, found);
  if (common?.kind !== 'dynamic' || type.kind === 'map') return common;
  return parts.every(({ kind }) => kind === 'dynamic') ? common : undefined;
}

function fitsTuple(from: readonly HclType[], to: readonly HclType[], found: Found): boolean {
  return everyPair(from, to, (one, other) => converts(one, other, found));
}

/** An object may have more attributes than are wanted; a map is assumed to have them all. */
function fitsObject(from: HclType, to: Extract<HclType, { kind: 'object' }>, found: Found): boolean {
  if (from.kind === 'map') return every(to.attributes.values(), (type) => converts(from.element, type, found));
  if (from.kind !== 'object') return false;
  return every(to.attributes, ([name, type]) => {
    const given = from.attributes.get(name);
    return given !== undefined && converts(given, type, found);
  });
}

function every<Item>(items: Iterable<Item>, holds: (item: Item) => boolean): boolean {
  for (const item of items) if (!holds(item)) return false;
  return true;
}
