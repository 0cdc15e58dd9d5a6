/* Keywords for arrays and objects. */

import { isRecord } from '../shared/values.js';
import {
  type Check,
  FITS,
  type JsonObject,
  type KeywordGroup,
  OPEN,
  type Part,
  type Place,
  pointed,
  type Run,
  type SchemaNode,
  UNFIT,
  type Verdict,
  worse,
} from './run.js';
import { canonicalText, countKeyword, isCount, readPattern, type Search, sizeOf } from './scalar-keywords.js';

function countElements(value: unknown): number | null {
  return Array.isArray(value) ? value.length : null;
}

/** The schemas of the first elements and of the rest: `prefixItems` and `items`, or, before 2020-12, `items` and `additionalItems`. */
function readItems(part: Part): Check {
  const { schema, refuse } = part;
  const old = Array.isArray(schema['items']);
  const firstName = old ? 'items' : 'prefixItems';
  const restName = old ? 'additionalItems' : 'items';
  if (old && schema['prefixItems'] !== undefined) return refuse('prefixItems', 'cannot be beside items as a list');
  if (!old && schema['additionalItems'] !== undefined) {
    return refuse('additionalItems', 'has an effect only beside items as a list');
  }
  const listed = schema[firstName] ?? [];
  if (!Array.isArray(listed)) return refuse(firstName, 'must be a list of schemas');
  const first = listed.map((each: unknown, at) => part.inner(each, firstName, at));
  const rest = schema[restName] === undefined ? null : part.inner(schema[restName], restName);
  return (value, run, place) => {
    if (!Array.isArray(value)) return FITS;
    const end = rest === null ? Math.min(first.length, value.length) : value.length;
    let verdict: Verdict = FITS;
    for (let at = 0; at < end && run.stopped === null; at += 1) {
      verdict = worse(verdict, run.check(first[at] ?? (rest as SchemaNode), value[at], { name: at, outer: place }));
      if (verdict === UNFIT && run.isSilent) break;
    }
    return verdict;
  };
}

function readContains(part: Part): Check {
  const { schema, refuse } = part;
  const { contains, minContains: least = 1, maxContains: most = Number.POSITIVE_INFINITY } = schema;
  for (const name of ['minContains', 'maxContains']) {
    if (schema[name] === undefined) continue;
    if (contains === undefined) return refuse(name, 'has an effect only beside contains');
    if (!isCount(schema[name])) return refuse(name, 'must be a whole number, 0 or more');
  }
  const node = part.inner(contains, 'contains');
  const counted = { least: least as number, most: most as number };
  return (value, run, place) => (Array.isArray(value) ? checkContains(node, counted, value, { run, place }) : FITS);
}

function checkContains(
  node: SchemaNode,
  { least, most }: { readonly least: number; readonly most: number },
  value: readonly unknown[],
  { run, place }: { readonly run: Run; readonly place: Place },
): Verdict {
  const found = { [UNFIT]: 0, [OPEN]: 0, [FITS]: 0 };
  for (const [at, element] of value.entries()) {
    if (!run.spend(20)) return OPEN;
    found[run.silently(() => run.check(node, element, { name: at, outer: place }))] += 1;
  }
  const possible = found[FITS] + found[OPEN];
  if (possible < least) return run.unfit(place, `must have at least ${least} elements that fit contains`);
  if (found[FITS] > most) return run.unfit(place, `must have at most ${most} elements that fit contains`);
  return found[FITS] >= least && possible <= most ? FITS : OPEN;
}

function readUnique({ schema, refuse }: Part): Check | null {
  const isUnique = schema['uniqueItems'];
  if (typeof isUnique !== 'boolean') return refuse('uniqueItems', 'must be true or false');
  if (!isUnique) return null;
  return (value, run, place) => {
    if (!Array.isArray(value)) return FITS;
    if (!run.spend(20 * sizeOf(value))) return OPEN;
    const seen = new Map<string, number>();
    for (const [at, element] of value.entries()) {
      const text = canonicalText(element);
      const earlier = seen.get(text);
      if (earlier !== undefined)
        return run.unfit({ name: at, outer: place }, `must not be equal to element ${earlier}`);
      seen.set(text, at);
    }
    return FITS;
  };
}

function countMembers(value: unknown): number | null {
  return isRecord(value) ? Object.keys(value).length : null;
}

function areNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

/** Whether the object has all of the names. */
function requireNames(names: readonly string[], why: string): Check {
  return (value, run, place) => {
    if (!isRecord(value)) return FITS;
    if (!run.spend(5 * names.length)) return OPEN;
    let verdict: Verdict = FITS;
    for (const name of names) {
      if (!Object.hasOwn(value, name)) verdict = run.unfit({ name, outer: place }, `is required${why}`);
    }
    return verdict;
  };
}

function readRequired({ schema, refuse }: Part): Check {
  const names = schema['required'];
  return areNames(names) ? requireNames(names, '') : refuse('required', 'must be a list of names');
}

/** Schemas by name, from a keyword that holds them. */
function namedParts(part: Part, keyword: string, read: Part['inner']): ReadonlyMap<string, SchemaNode> {
  const schemas = part.schema[keyword] ?? {};
  if (!isRecord(schemas)) {
    part.refuse(keyword, 'must be an object of schemas');
    return new Map();
  }
  return new Map(Object.entries(schemas).map(([name, schema]) => [name, read(schema, keyword, name)]));
}

interface Members {
  readonly named: ReadonlyMap<string, SchemaNode>;
  readonly patterns: readonly { readonly search: Search | null; readonly node: SchemaNode }[];
  readonly others: SchemaNode | null;
}

function readMembers(part: Part): Check {
  const others = part.schema['additionalProperties'];
  const members: Members = {
    named: namedParts(part, 'properties', part.inner),
    patterns: [...namedParts(part, 'patternProperties', part.inner)].map(([pattern, node]) => ({
      search: readPattern(part, pattern, `patternProperties/${pointed(pattern)}`),
      node,
    })),
    others: others === undefined ? null : part.inner(others, 'additionalProperties'),
  };
  const onlyNamed = members.patterns.length === 0 && members.others === null;
  return (value, run, place) => {
    if (!isRecord(value)) return FITS;
    const names = Object.keys(value);
    let verdict: Verdict = FITS;
    // In a large object with few named members the others need not be visited.
    const looked = onlyNamed && members.named.size < names.length ? namedIn(members.named, value) : names;
    for (const name of looked) {
      if (!run.spend(1)) return OPEN;
      verdict = worse(verdict, checkMember(members, value[name], run, { name, outer: place }));
      if (verdict === UNFIT && run.isSilent) break;
    }
    return verdict;
  };
}

function namedIn(named: ReadonlyMap<string, SchemaNode>, value: JsonObject): readonly string[] {
  return [...named.keys()].filter((name) => Object.hasOwn(value, name));
}

function checkMember({ named, patterns, others }: Members, value: unknown, run: Run, place: Place): Verdict {
  const node = named.get(place.name as string);
  let verdict: Verdict = node === undefined ? FITS : run.check(node, value, place);
  let isOther = node === undefined;
  for (const { search, node: patterned } of patterns) {
    const found = search?.(place.name as string, run);
    if (found === false) continue;
    isOther = false;
    const checked = found ? run.check(patterned, value, place) : OPEN;
    verdict = worse(verdict, checked);
  }
  return isOther && others !== null ? run.check(others, value, place) : verdict;
}

function readNames(part: Part): Check {
  const node = part.inner(part.schema['propertyNames'], 'propertyNames');
  return (value, run, place) => {
    if (!isRecord(value)) return FITS;
    let verdict: Verdict = FITS;
    for (const name of Object.keys(value)) {
      if (run.stopped !== null) return OPEN;
      const checked = run.silently(() => run.check(node, name, place));
      verdict = worse(verdict, checked === UNFIT ? misnamed(run, { name, outer: place }) : checked);
    }
    return verdict;
  };
}

function misnamed(run: Run, place: Place): Verdict {
  return run.unfit(place, 'has a name that does not fit propertyNames');
}

/** What the presence of a member requires: other members, or that the object fits a schema. `dependencies` is the older keyword for both. */
function readDependencies(part: Part, keyword: string): Check {
  const { schema, refuse } = part;
  const given = schema[keyword];
  if (!isRecord(given)) return refuse(keyword, 'must be an object');
  const checks: [string, Check][] = [];
  for (const [name, asked] of Object.entries(given)) {
    const isList = keyword !== 'dependentSchemas' && Array.isArray(asked);
    if (isList && areNames(asked)) checks.push([name, requireNames(asked, ` beside ${name}`)]);
    else if (isList || keyword === 'dependentRequired') return refuse(keyword, 'must have lists of names');
    else {
      const node = part.same(asked, keyword, name);
      checks.push([name, (value, run, place) => run.check(node, value, place)]);
    }
  }
  return (value, run, place) => {
    if (!isRecord(value)) return FITS;
    const asking = checks.filter(([name]) => run.spend(4) && Object.hasOwn(value, name));
    return asking.reduce<Verdict>((verdict, [, check]) => worse(verdict, check(value, run, place)), FITS);
  };
}

export const memberKeywords: readonly KeywordGroup[] = [
  countKeyword('minItems', 'elements', countElements),
  countKeyword('maxItems', 'elements', countElements),
  { keywords: ['prefixItems', 'items', 'additionalItems'], read: readItems },
  { keywords: ['contains', 'minContains', 'maxContains'], read: readContains },
  { keywords: ['uniqueItems'], read: readUnique },
  { keywords: ['required'], read: readRequired },
  countKeyword('minProperties', 'members', countMembers),
  countKeyword('maxProperties', 'members', countMembers),
  { keywords: ['dependentRequired'], read: (part) => readDependencies(part, 'dependentRequired') },
  { keywords: ['propertyNames'], read: readNames },
  { keywords: ['properties', 'patternProperties', 'additionalProperties'], read: readMembers },
  { keywords: ['dependentSchemas'], read: (part) => readDependencies(part, 'dependentSchemas') },
  { keywords: ['dependencies'], read: (part) => readDependencies(part, 'dependencies') },
];
