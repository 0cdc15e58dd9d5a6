import { canonicalText, quoted, sizeOf } from '../json.js';
import type { KeywordGroup, Part } from '../part.js';
import { type Check, FITS, OPEN } from '../run.js';

const typeNames = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type TypeName = (typeof typeNames)[number];

function isTypeName(value: unknown): value is TypeName {
  return (typeNames as readonly unknown[]).includes(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isOfType(value: unknown, type: TypeName): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type;
}

function readType({ schema, refuse }: Part): Check {
  const given = schema['type'];
  const types: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (types.length === 0 || !types.every(isTypeName)) {
    return refuse('type', `must be one or several of ${typeNames.join(', ')}`);
  }
  const message = `must be of type ${types.join(' or ')}`;
  return (value, run, place) =>
    types.some((type) => isOfType(value, type)) ? FITS : run.unfit(place, `${message}, not ${typeOf(value)}`);
}

/** Whether a value is one of others, compared as JSON. */
function among(allowed: readonly unknown[], message: string): Check {
  const isComposed = (value: unknown): boolean => typeof value === 'object' && value !== null;
  const plain = new Set(allowed.filter((each) => !isComposed(each)));
  const texts = new Set(allowed.filter(isComposed).map(canonicalText));
  return (value, run, place) => {
    if (!isComposed(value)) return plain.has(value) ? FITS : run.unfit(place, message);
    if (texts.size === 0) return run.unfit(place, message);
    // Builds a canonical string of the value, with its members in order.
    if (!run.spend(20 * sizeOf(value))) return OPEN;
    return texts.has(canonicalText(value)) ? FITS : run.unfit(place, message);
  };
}

function readEnum({ schema, refuse }: Part): Check {
  const values = schema['enum'];
  if (!Array.isArray(values) || values.length === 0) return refuse('enum', 'must be a list of one or more values');
  const shown = values.slice(0, 10).map(quoted).join(', ');
  return among(values, `must be one of ${shown}${values.length > 10 ? ', …' : ''}`);
}

export const valueKeywords: readonly KeywordGroup[] = [
  { keywords: ['type'], read: readType },
  { keywords: ['const'], read: ({ schema }) => among([schema['const']], `must be ${quoted(schema['const'])}`) },
  { keywords: ['enum'], read: readEnum },
];
