import type { KeywordGroup, Part } from '../part.js';
import { type Check, FITS, OPEN, type Run, type SchemaNode, UNFIT, type Verdict, worse } from '../run.js';

type Combine = (nodes: readonly SchemaNode[]) => Check;

function listOfParts(keyword: string, combine: Combine): KeywordGroup {
  return {
    keywords: [keyword],
    read: (part) => {
      const schemas = part.schema[keyword];
      if (!Array.isArray(schemas) || schemas.length === 0) {
        return part.refuse(keyword, 'must be a list of one or more schemas');
      }
      return combine(schemas.map((schema: unknown, at) => part.same(schema, keyword, at)));
    },
  };
}

const allOf: Combine = (nodes) => (value, run, place) => {
  let verdict: Verdict = FITS;
  for (const node of nodes) {
    verdict = worse(verdict, run.judge(node, value, place));
    if (run.stopped !== null || (verdict === UNFIT && run.isSilent)) break;
  }
  return verdict;
};

const anyOf: Combine = (nodes) => (value, run, place) => {
  let best: Verdict = UNFIT;
  for (const node of nodes) {
    const verdict = run.silently(() => run.judge(node, value, place));
    if (verdict === FITS) return FITS;
    if (verdict > best) best = verdict;
  }
  return best === OPEN ? OPEN : run.unfit(place, 'must fit at least one of the schemas of anyOf');
};

const oneOf: Combine = (nodes) => (value, run, place) => {
  let fitting = 0;
  let open = 0;
  for (const node of nodes) {
    const verdict = run.silently(() => run.judge(node, value, place));
    if (verdict === FITS) fitting += 1;
    if (verdict === OPEN) open += 1;
    if (fitting > 1) return run.unfit(place, 'must fit exactly one of the schemas of oneOf, not several');
  }
  if (fitting + open === 0) return run.unfit(place, 'must fit exactly one of the schemas of oneOf');
  return open === 0 ? FITS : OPEN;
};

function readNot(part: Part): Check {
  const node = part.same(part.schema['not'], 'not');
  return (value, run, place) => {
    const verdict = run.silently(() => run.judge(node, value, place));
    if (verdict === OPEN) return OPEN;
    return verdict === UNFIT ? FITS : run.unfit(place, 'must not fit the schema of not');
  };
}

function readIf(part: Part): Check | null {
  const { schema, refuse } = part;
  for (const name of ['then', 'else']) {
    if (schema[name] !== undefined && schema['if'] === undefined) {
      return refuse(name, 'has an effect only beside if');
    }
  }
  const condition = part.same(schema['if'], 'if');
  const branch = (name: string): SchemaNode | null =>
    schema[name] === undefined ? null : part.same(schema[name], name);
  const fitting = branch('then');
  const other = branch('else');
  return (value, run, place) => {
    const judge = (node: SchemaNode | null): Verdict => (node === null ? FITS : run.judge(node, value, place));
    const met = run.silently(() => run.judge(condition, value, place));
    return met === OPEN ? judgeBoth(run, judge, fitting, other) : judge(met === FITS ? fitting : other);
  };
}

/** If the condition is unknown, a value is certainly valid only if it fits both ways, and certainly invalid only if it fails both. */
function judgeBoth(
  run: Run,
  judge: (node: SchemaNode | null) => Verdict,
  fitting: SchemaNode | null,
  other: SchemaNode | null,
): Verdict {
  const [one, two] = [run.silently(() => judge(fitting)), run.silently(() => judge(other))];
  if (one !== two) return OPEN;
  return one === UNFIT ? judge(fitting) : one;
}

function readReference(part: Part): Check {
  const text = part.schema['$ref'];
  if (typeof text !== 'string') return part.refuse('$ref', 'must be a string such as #/$defs/name');
  const reference = part.reference(text);
  return (value, run, place) => (reference.target === null ? OPEN : run.judge(reference.target, value, place));
}

export const compositionKeywords: readonly KeywordGroup[] = [
  { keywords: ['$ref'], read: readReference },
  listOfParts('allOf', allOf),
  listOfParts('anyOf', anyOf),
  listOfParts('oneOf', oneOf),
  { keywords: ['not'], read: readNot },
  { keywords: ['if', 'then', 'else'], read: readIf },
];
