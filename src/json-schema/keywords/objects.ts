import { isRecord } from '../../shared/values.js';
import type { JsonObject } from '../json.js';
import type { KeywordGroup, Part } from '../part.js';
import { type Check, FITS, OPEN, type Place, type Run, type SchemaNode, UNFIT, type Verdict, worse } from '../run.js';
import { countKeyword } from './counts.js';
import { readPattern, type Search } from './texts.js';

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
      search: readPattern(part, pattern, `patternProperties/${pattern.replaceAll('~', '~0').replaceAll('/', '~1')}`),
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
      verdict = worse(verdict, judgeMember(members, value[name], run, { name, outer: place }));
      if (verdict === UNFIT && run.isSilent) break;
    }
    return verdict;
  };
}

function namedIn(named: ReadonlyMap<string, SchemaNode>, value: JsonObject): readonly string[] {
  return [...named.keys()].filter((name) => Object.hasOwn(value, name));
}

function judgeMember({ named, patterns, others }: Members, value: unknown, run: Run, place: Place): Verdict {
  const node = named.get(place.name as string);
  let verdict: Verdict = node === undefined ? FITS : run.judge(node, value, place);
  let isOther = node === undefined;
  for (const { search, node: patterned } of patterns) {
    const found = search?.(place.name as string, run);
    if (found === false) continue;
    isOther = false;
    const judged = found ? run.judge(patterned, value, place) : OPEN;
    verdict = worse(verdict, judged);
  }
  return isOther && others !== null ? run.judge(others, value, place) : verdict;
}

function readNames(part: Part): Check {
  const node = part.inner(part.schema['propertyNames'], 'propertyNames');
  return (value, run, place) => {
    if (!isRecord(value)) return FITS;
    let verdict: Verdict = FITS;
    for (const name of Object.keys(value)) {
      if (run.stopped !== null) return OPEN;
      const judged = run.silently(() => run.judge(node, name, place));
      verdict = worse(verdict, judged === UNFIT ? misnamed(run, { name, outer: place }) : judged);
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
      checks.push([name, (value, run, place) => run.judge(node, value, place)]);
    }
  }
  return (value, run, place) => {
    if (!isRecord(value)) return FITS;
    const asking = checks.filter(([name]) => run.spend(4) && Object.hasOwn(value, name));
    return asking.reduce<Verdict>((verdict, [, check]) => worse(verdict, check(value, run, place)), FITS);
  };
}

export const objectKeywords: readonly KeywordGroup[] = [
  { keywords: ['required'], read: readRequired },
  countKeyword('minProperties', 'members', countMembers),
  countKeyword('maxProperties', 'members', countMembers),
  { keywords: ['dependentRequired'], read: (part) => readDependencies(part, 'dependentRequired') },
  { keywords: ['propertyNames'], read: readNames },
  { keywords: ['properties', 'patternProperties', 'additionalProperties'], read: readMembers },
  { keywords: ['dependentSchemas'], read: (part) => readDependencies(part, 'dependentSchemas') },
  { keywords: ['dependencies'], read: (part) => readDependencies(part, 'dependencies') },
];
