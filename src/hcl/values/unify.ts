import { canConvert } from './convertible.js';
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
  const closed = open ? different.filter(({ kind }) => kind !== 'dynamic') : different;
  const rule = RULES.find((candidate) => only(kinds, ...candidate.kinds));
  if (rule !== undefined) return rule.unify(closed, open);
  if (kinds.has('object') && kinds.has('tuple')) return undefined;
  return mostGeneral(different);
}

interface UnificationRule {
  readonly kinds: readonly HclType['kind'][];
  /** `open`: a bare null is among the types. */
  readonly unify: (types: readonly HclType[], open: boolean) => HclType | undefined;
}

/** Rules for types of exactly these kinds; the first matching rule applies. */
const RULES: readonly UnificationRule[] = [
  { kinds: ['map'], unify: (types, open) => unifyElements(types, open, mapOf) },
  { kinds: ['list'], unify: (types, open) => unifyElements(types, open, listOf) },
  { kinds: ['set'], unify: (types, open) => unifyElements(types, open, setOf) },
  { kinds: ['map', 'object'], unify: (types, open) => (open ? dynamicType : unifyElements(types, false, mapOf)) },
  { kinds: ['list', 'tuple'], unify: (types, open) => (open ? dynamicType : unifyElements(types, false, listOf)) },
  { kinds: ['object'], unify: (types, open) => (open ? dynamicType : unifyObjects(types)) },
  { kinds: ['tuple'], unify: (types, open) => (open ? dynamicType : unifyTuples(types)) },
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

function unifyElements(
  types: readonly HclType[],
  open: boolean,
  collection: (element: HclType) => HclType,
): HclType | undefined {
  const elements = types.flatMap(elementTypes);
  const element = elements.length === 0 ? dynamicType : unifyTypes(open ? [...elements, dynamicType] : elements);
  return element === undefined ? undefined : collection(element);
}

function unifyTuples(types: readonly HclType[]): HclType | undefined {
  const rows = types.map(elementTypes);
  const length = rows[0]?.length ?? 0;
  if (rows.some((row) => row.length !== length)) return unifyElements(types, false, listOf);
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
  if (!alike) return unifyElements(types, false, mapOf);
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

/** Lower is tried first: a string can hold any scalar, a list any tuple or set, a map any object; null is the last resort. */
function preference(type: HclType): number {
  switch (type.kind) {
    case 'string':
    case 'list':
    case 'map':
      return 0;
    case 'number':
    case 'bool':
    case 'tuple':
    case 'object':
      return 1;
    case 'set':
      return 2;
    case 'dynamic':
      return 3;
  }
}

function elementTypes(type: HclType): readonly HclType[] {
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
