/* Keywords that combine schemas, refer to them and name them, annotations, and keywords that are not supported. */

import { isRecord, own } from '../shared/values.js';
import {
  type Check,
  FITS,
  type KeywordGroup,
  OPEN,
  type Part,
  type Run,
  type SchemaNode,
  UNFIT,
  type Verdict,
  worse,
} from './run.js';

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
    verdict = worse(verdict, run.check(node, value, place));
    if (run.stopped !== null || (verdict === UNFIT && run.isSilent)) break;
  }
  return verdict;
};

const anyOf: Combine = (nodes) => (value, run, place) => {
  let best: Verdict = UNFIT;
  for (const node of nodes) {
    const verdict = run.silently(() => run.check(node, value, place));
    if (verdict === FITS) return FITS;
    if (verdict > best) best = verdict;
  }
  return best === OPEN ? OPEN : run.unfit(place, 'must fit at least one of the schemas of anyOf');
};

const oneOf: Combine = (nodes) => (value, run, place) => {
  let fitting = 0;
  let open = 0;
  for (const node of nodes) {
    const verdict = run.silently(() => run.check(node, value, place));
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
    const verdict = run.silently(() => run.check(node, value, place));
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
    const check = (node: SchemaNode | null): Verdict => (node === null ? FITS : run.check(node, value, place));
    const met = run.silently(() => run.check(condition, value, place));
    return met === OPEN ? checkBoth(run, check, fitting, other) : check(met === FITS ? fitting : other);
  };
}

/** If the condition is unknown, a value is certainly valid only if it fits both ways, and certainly invalid only if it fails both. */
function checkBoth(
  run: Run,
  check: (node: SchemaNode | null) => Verdict,
  fitting: SchemaNode | null,
  other: SchemaNode | null,
): Verdict {
  const [one, two] = [run.silently(() => check(fitting)), run.silently(() => check(other))];
  if (one !== two) return OPEN;
  return one === UNFIT ? check(fitting) : one;
}

function readReference(part: Part): Check {
  const text = part.schema['$ref'];
  if (typeof text !== 'string') return part.refuse('$ref', 'must be a string such as #/$defs/name');
  const reference = part.reference(text);
  return (value, run, place) => (reference.target === null ? OPEN : run.check(reference.target, value, place));
}

export const compositionKeywords: readonly KeywordGroup[] = [
  { keywords: ['$ref'], read: readReference },
  listOfParts('allOf', allOf),
  listOfParts('anyOf', anyOf),
  listOfParts('oneOf', oneOf),
  { keywords: ['not'], read: readNot },
  { keywords: ['if', 'then', 'else'], read: readIf },
];

/** Versions of the specification, as `$schema` names them. In the older ones a reference overrides its sibling keywords. */
const versions = /^https?:\/\/json-schema\.org\/(?:draft\/(2020-12|2019-09)|draft-0([467]))\/schema#?$/;

function readVersion({ schema, node, refuse }: Part): Check | null {
  const version = schema['$schema'];
  if (node.pointer !== '') return refuse('$schema', 'is only possible in the outermost schema');
  if (typeof version === 'string' && versions.test(version)) return null;
  return refuse(
    '$schema',
    'must be https://json-schema.org/draft/2020-12/schema, or that of 2019-09 or of drafts 7, 6 and 4',
  );
}

/** Whether a reference overrides its sibling keywords. */
export function hidesBesideReference(version: unknown): boolean {
  return typeof version === 'string' && versions.exec(version)?.[2] !== undefined;
}

/** A nested identifier would give the references within it another base. */
function readIdentifier({ schema, node, refuse }: Part, keyword: string): Check | null {
  if (typeof schema[keyword] !== 'string') return refuse(keyword, 'must be a string');
  return node.pointer === '' ? null : refuse(keyword, 'is only possible in the outermost schema; use $anchor');
}

function readAnchor({ schema, refuse, anchor }: Part): Check | null {
  const name = schema['$anchor'];
  if (typeof name !== 'string' || !/^[A-Za-z_][-A-Za-z0-9._]*$/.test(name)) {
    return refuse('$anchor', 'must be a word that begins with a letter or _');
  }
  anchor(name);
  return null;
}

/** Parsed because references lead there; otherwise they check nothing. */
function readDefinitions({ schema, refuse, inner }: Part, keyword: string): Check | null {
  const definitions = schema[keyword];
  if (!isRecord(definitions)) {
    refuse(keyword, 'must be an object of schemas');
    return null;
  }
  for (const [name, each] of Object.entries(definitions)) inner(each, keyword, name);
  return null;
}

export const identificationKeywords: readonly KeywordGroup[] = [
  { keywords: ['$schema'], read: readVersion },
  { keywords: ['$id'], read: (part) => readIdentifier(part, '$id') },
  { keywords: ['id'], read: (part) => readIdentifier(part, 'id') },
  { keywords: ['$anchor'], read: readAnchor },
  { keywords: ['$defs'], read: (part) => readDefinitions(part, '$defs') },
  { keywords: ['definitions'], read: (part) => readDefinitions(part, 'definitions') },
];

/** For display and for editors of data; they validate nothing. */
const annotations = [
  'title',
  'description',
  'default',
  'example',
  'examples',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
  'contentSchema',
  'externalDocs',
];

export function isAnnotation(keyword: string): boolean {
  return annotations.includes(keyword) || keyword.startsWith('x-');
}

/** Well-known keywords that are not supported, with the alternative. */
const adviceOn: Readonly<Record<string, string>> = {
  nullable: 'is not supported: add null to type',
  discriminator: 'is not supported: use oneOf with const',
  unevaluatedProperties: 'is not supported: use additionalProperties',
  unevaluatedItems: 'is not supported: use items after prefixItems',
  $dynamicRef: 'is not supported: use $ref',
  $dynamicAnchor: 'is not supported: use $anchor',
  $recursiveRef: 'is not supported: use $ref',
  $recursiveAnchor: 'is not supported: use $anchor',
  $vocabulary: 'is not supported',
};

/** An unknown keyword. It was probably meant to validate, so ignoring it would accept more than the schema says. */
export function refuseUnknown(part: Part, keyword: string): Check | null {
  const advice = own(adviceOn, keyword);
  if (advice !== undefined) return part.refuse(keyword, advice);
  part.refuse(keyword, 'is not a keyword of JSON Schema; names of custom annotations begin with x-');
  // The specification ignores it, so a stored schema continues to work without it.
  return null;
}
