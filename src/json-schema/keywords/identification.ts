import { isRecord } from '../../shared/values.js';
import type { KeywordGroup, Part } from '../part.js';
import type { Check } from '../run.js';

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
  if (Object.hasOwn(adviceOn, keyword)) return part.refuse(keyword, adviceOn[keyword] as string);
  part.refuse(keyword, 'is not a keyword of JSON Schema; names of custom annotations begin with x-');
  // The specification ignores it, so a stored schema continues to work without it.
  return null;
}
