import type { Problem } from '../diagnostics/diagnostic.js';
import type { Budget } from '../evaluate/budget.js';
import { parseTemplate } from '../syntax/parse.js';
import type { JsonObject, JsonValue } from '../syntax/parse-json.js';
import type { ParseLimits } from '../syntax/parser.js';
import { relocate } from '../syntax/relocate.js';
import type { SourceText } from '../syntax/source.js';
import type { Body, Expression, Label, Span } from '../syntax/tree.js';
import { normalizeText } from '../values/unicode.js';
import type { BodySchema } from './schema.js';

/** A body in any of its source forms: native, JSON or version 1. */
export type Content = Body | JsonContent;

/** One body of the JSON form: the members of one or several objects. */
interface JsonContent extends Span {
  readonly kind: 'json-body';
  readonly objects: readonly JsonObject[];
}

export type ContentItem = ContentAttribute | ContentBlock;

export interface ContentAttribute extends Span {
  readonly kind: 'attribute';
  readonly name: string;
  readonly nameSpan: Span;
  readonly value: Expression;
  /** The type of the value in the JSON form. */
  readonly json?: JsonValue;
}

export interface ContentBlock extends Span {
  readonly kind: 'block';
  readonly type: string;
  readonly typeSpan: Span;
  readonly labels: readonly Label[];
  readonly body: Content;
}

export interface ContentReader {
  readonly source: SourceText;
  readonly limits: ParseLimits;
  readonly budget: Budget;
  readonly problems: Problem[];
  /** Whether strings of the JSON form are taken literally instead of as templates. */
  readonly plainStrings: boolean;
}

/** The items of a body. In the JSON form the schema decides what is a block; everything else is an attribute. */
export function contentItems(
  reader: ContentReader,
  content: Content,
  blockLabels: (type: string) => number | undefined,
  isAttribute: (name: string) => boolean = () => false,
): readonly ContentItem[] {
  if (content.kind === 'body') return content.items;
  const items: ContentItem[] = [];
  const attributes = new Set<string>();
  for (const { members } of content.objects) {
    for (const { name, nameSpan, value } of members) {
      if (name === '//') continue;
      const labels = blockLabels(name);
      if (labels !== undefined && !(isAttribute(name) && !holdsObjects(value))) {
        addBlocks(reader, items, { type: name, typeSpan: nameSpan, labels: [], labelsLeft: labels }, value);
        continue;
      }
      if (attributes.has(name)) problem(reader, 'duplicate_attribute', nameSpan, `"${name}" is already set here.`);
      attributes.add(name);
      const span = { start: nameSpan.start, end: value.end };
      items.push({ kind: 'attribute', name, nameSpan, value: jsonExpression(reader, value), json: value, ...span });
    }
  }
  return items;
}

/** A schema as it applies to the JSON form. */
export function labelCounts(schema: BodySchema): (type: string) => number | undefined {
  return (type) => {
    const { blocks } = schema;
    const rule = blocks !== undefined && Object.hasOwn(blocks, type) ? blocks[type] : undefined;
    return rule === undefined ? undefined : (rule.labels?.length ?? 0);
  };
}

/** A value of the JSON form as an expression; its strings are templates. */
function jsonExpression(reader: ContentReader, value: JsonValue): Expression {
  const { start, end } = value;
  switch (value.kind) {
    case 'json-number':
      return value.text.startsWith('-')
        ? {
            kind: 'unary',
            operator: '-',
            operand: { kind: 'number', text: value.text.slice(1), start: start + 1, end },
            start,
            end,
          }
        : { kind: 'number', text: value.text, start, end };
    case 'json-keyword':
      return { kind: 'keyword', name: value.name, start, end };
    case 'json-string':
      return textExpression(reader, value.text, value.verbatim, value);
    case 'json-array':
      return { kind: 'tuple', items: value.items.map((item) => jsonExpression(reader, item)), start, end };
    case 'json-object': {
      reportRepeatedKeys(reader, value);
      const items = value.members.map((member) => ({
        key: textExpression(reader, member.name, false, member.nameSpan),
        value: jsonExpression(reader, member.value),
      }));
      return { kind: 'object', items, start, end };
    }
  }
}

/** Keys of one JSON object must be unique; computed keys are not compared. */
function reportRepeatedKeys(reader: ContentReader, { members }: JsonObject): void {
  const known = new Set<string>();
  for (const { name, nameSpan } of members) {
    const key = normalizeText(name);
    const constant = reader.plainStrings || !SEQUENCE.test(name);
    if (constant && known.has(key))
      problem(reader, 'duplicate_key', nameSpan, `"${name}" is already set in this object.`);
    known.add(key);
  }
}

const SEQUENCE = /[$%]\{/;

/** Units of work for parsing a string of the JSON form as a template, in addition to its length. */
const TEMPLATE = 20;

function textExpression(reader: ContentReader, text: string, verbatim: boolean, span: Span): Expression {
  const { start, end } = span;
  const plain: Expression = {
    kind: 'template',
    parts: text === '' ? [] : [{ kind: 'text', text, start: start + 1, end: end - 1 }],
    passThrough: false,
    start,
    end,
  };
  if (reader.plainStrings || !SEQUENCE.test(text)) return plain;
  // Too little budget is reported where the value would be evaluated.
  if (!reader.budget.charge(TEMPLATE + (text.length >>> 1))) return plain;
  // Offsets match the source only in a string without escapes; in any other, an error is reported for the whole string.
  const move = (inner: Span): Span =>
    verbatim ? { start: start + 1 + inner.start, end: start + 1 + inner.end } : { start, end };
  const problems: Problem[] = [];
  const template = parseTemplate({ name: reader.source.name, text }, reader.limits, problems);
  for (const found of problems) reader.problems.push({ ...found, source: reader.source, span: move(found.span) });
  if (template === undefined) return plain;
  return { ...relocate(template, move), start, end };
}

/** Position of a block of the JSON form within the nested objects that form its labels. */
interface BlockPath {
  readonly type: string;
  readonly typeSpan: Span;
  readonly labels: readonly Label[];
  /** Number of labels that remain before the block's body. */
  readonly labelsLeft: number;
}

function addBlocks(reader: ContentReader, items: ContentItem[], path: BlockPath, value: JsonValue): void {
  const { type, typeSpan, labels, labelsLeft } = path;
  if (value.kind === 'json-array') {
    for (const item of value.items) addBlocks(reader, items, path, item);
  } else if (value.kind === 'json-object') {
    if (labelsLeft > 0) {
      for (const member of value.members) {
        const label = { text: member.name, ...member.nameSpan };
        const inner = { type, typeSpan, labels: [...labels, label], labelsLeft: labelsLeft - 1 };
        addBlocks(reader, items, inner, member.value);
      }
      return;
    }
    const body: JsonContent = { kind: 'json-body', objects: [value], start: value.start, end: value.end };
    items.push({ kind: 'block', type, typeSpan, labels, body, start: typeSpan.start, end: value.end });
  } else if (value.kind !== 'json-keyword' || value.name !== 'null') {
    problem(reader, 'bad_json', value, `A block "${type}" is an object or an array of objects.`);
  }
}

function holdsObjects(value: JsonValue): boolean {
  if (value.kind === 'json-array') return value.items.length > 0 && value.items.every(holdsObjects);
  return value.kind === 'json-object';
}

function problem(
  reader: ContentReader,
  code: 'bad_json' | 'duplicate_attribute' | 'duplicate_key',
  span: Span,
  message: string,
): void {
  const { source } = reader;
  reader.problems.push({ code, severity: 'error', message, source, span: { start: span.start, end: span.end } });
}
