import { canonicalText, sizeOf } from '../json.js';
import type { KeywordGroup, Part } from '../part.js';
import { type Check, FITS, OPEN, type Place, type Run, type SchemaNode, UNFIT, type Verdict, worse } from '../run.js';
import { countKeyword, isCount } from './counts.js';

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
      verdict = worse(verdict, run.judge(first[at] ?? (rest as SchemaNode), value[at], { name: at, outer: place }));
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
  return (value, run, place) => (Array.isArray(value) ? judgeContains(node, counted, value, { run, place }) : FITS);
}

function judgeContains(
  node: SchemaNode,
  { least, most }: { readonly least: number; readonly most: number },
  value: readonly unknown[],
  { run, place }: { readonly run: Run; readonly place: Place },
): Verdict {
  const found = { [UNFIT]: 0, [OPEN]: 0, [FITS]: 0 };
  for (const [at, element] of value.entries()) {
    if (!run.spend(20)) return OPEN;
    found[run.silently(() => run.judge(node, element, { name: at, outer: place }))] += 1;
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

export const arrayKeywords: readonly KeywordGroup[] = [
  countKeyword('minItems', 'elements', countElements),
  countKeyword('maxItems', 'elements', countElements),
  { keywords: ['prefixItems', 'items', 'additionalItems'], read: readItems },
  { keywords: ['contains', 'minContains', 'maxContains'], read: readContains },
  { keywords: ['uniqueItems'], read: readUnique },
];
