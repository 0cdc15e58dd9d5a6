import { suggestName } from '../diagnostics/suggest.js';
import { paidFor } from '../evaluate/context.js';
import { interruption, type Steps } from '../steps.js';
import { leadingSpan } from '../syntax/source.js';
import type { Label, Span } from '../syntax/tree.js';
import { sizeOf } from '../values/value.js';
import {
  type Content,
  type ContentAttribute,
  type ContentBlock,
  type ContentItem,
  contentItems,
  labelCounts,
} from './content.js';
import {
  type Decoding,
  decodeValue,
  decodingProblem,
  ITEM,
  openingOf,
  rangeOf,
  readerOf,
  ruleFor,
  toData,
} from './decode-value.js';
import { expandDynamic } from './dynamic.js';
import { attributeFromBlock, blocksFromAttribute } from './legacy-forms.js';
import type { BlockSchema, BodySchema, DecodedAttribute, DecodedBlock, DecodedBody, PlainValue } from './schema.js';

/** Decodes a body by its schema. Every mismatch is reported; the rest is in the result. */
export function* decodeBody(decoding: Decoding, content: Content, schema: BodySchema): Steps<DecodedBody> {
  const body: BodyDraft = { schema, attributes: new Map(), blocks: new Map(), given: new Map() };
  const { budget } = decoding.evaluation;
  for (const item of itemsOf(decoding, content, schema)) {
    if (budget.turnIsLong) yield* interruption(budget);
    if (!paidFor(decoding.evaluation, item, ITEM)) break;
    if (item.kind === 'attribute') {
      const converted = decoding.legacy ? blocksFromAttribute(item, schema) : undefined;
      if (converted === undefined) addAttribute(decoding, body, item);
      else for (const block of converted) yield* decodeBlock(decoding, body, block);
    } else if (isDynamic(decoding, schema, item.type)) {
      for (const made of expandDynamic(decoding, item, schema)) yield* decodeBlock(made.inner, body, made.block);
    } else {
      const converted = decoding.legacy ? attributeFromBlock(item, schema) : undefined;
      if (converted === undefined) yield* decodeBlock(decoding, body, item);
      else addAttribute(decoding, body, converted);
    }
  }
  reportMissing(decoding, content, schema, body.given);
  return { attributes: body.attributes, blocks: body.blocks, range: rangeOf(decoding, content) };
}

/** In the JSON form the schema decides what is a block. */
function itemsOf(decoding: Decoding, content: Content, schema: BodySchema): readonly ContentItem[] {
  if (content.kind === 'body') return content.items;
  const counts = labelCounts(schema);
  const labels = (type: string): number | undefined => (isDynamic(decoding, schema, type) ? 1 : counts(type));
  const isAttribute = (name: string): boolean => ruleFor(schema.attributes, name) !== undefined;
  return contentItems(readerOf(decoding), content, labels, isAttribute);
}

/** The part of a body that is already decoded. */
interface BodyDraft {
  readonly schema: BodySchema;
  readonly attributes: Map<string, DecodedAttribute>;
  readonly blocks: Map<string, DecodedBlock[]>;
  /** Whether each name was given as an attribute or as a block. */
  readonly given: Map<string, 'attribute' | 'block'>;
}

function addAttribute(decoding: Decoding, { schema, attributes, given }: BodyDraft, item: ContentAttribute): void {
  if (clashes(decoding, given, { name: item.name, form: 'attribute', span: item.nameSpan })) return;
  const decoded = decodeAttribute(decoding, item, schema);
  if (decoded !== undefined) attributes.set(item.name, decoded);
}

function* decodeBlock(decoding: Decoding, { schema, blocks, given }: BodyDraft, block: ContentBlock): Steps<void> {
  const rule = ruleFor(schema.blocks, block.type);
  if (rule === undefined) {
    unsupportedBlock(decoding, block, schema);
    return;
  }
  if (clashes(decoding, given, { name: block.type, form: 'block', span: block.typeSpan })) return;
  const known = blocks.get(block.type);
  const first = known?.[0];
  if (rule.times === 'once' && first !== undefined) {
    reportDuplicate(decoding, block, first);
    return;
  }
  if (!hasLabels(decoding, block, rule.labels ?? [])) return;
  const labels = block.labels.map((label: Label) => ({ text: label.text, range: rangeOf(decoding, label) }));
  const inner: Decoding = decoding.dynamicAllowed ? decoding : { ...decoding, dynamicAllowed: !decoding.legacy };
  const content = yield* decodeContent(inner, block.body, rule.body);
  const decoded: DecodedBlock = { type: block.type, labels, ...content, range: rangeOf(decoding, block.typeSpan) };
  if (known === undefined) blocks.set(block.type, [decoded]);
  else known.push(decoded);
}

/** The content of a block: free-form data, or a body that its schema describes. */
function* decodeContent(
  decoding: Decoding,
  content: Content,
  rule: BlockSchema['body'],
): Steps<Pick<DecodedBlock, 'body' | 'data'>> {
  if (rule !== 'freeForm') {
    return { body: yield* decodeBody(decoding, content, typeof rule === 'function' ? rule() : rule), data: undefined };
  }
  const data = yield* freeFormData(decoding, content);
  return { body: { attributes: new Map(), blocks: new Map(), range: rangeOf(decoding, content) }, data };
}

/** A name given in a body: of an attribute, or the type of a block. */
interface GivenName {
  readonly name: string;
  readonly form: 'attribute' | 'block';
  readonly span: Span;
}

function isDynamic(decoding: Decoding, schema: BodySchema, type: string): boolean {
  return type === 'dynamic' && decoding.dynamicAllowed && ruleFor(schema.blocks, type) === undefined;
}

/** One name cannot be given as an attribute and as a block. */
function clashes(decoding: Decoding, given: BodyDraft['given'], { name, form, span }: GivenName): boolean {
  const known = given.get(name);
  given.set(name, known ?? form);
  if (known === undefined || known === form) return false;
  decodingProblem(
    decoding,
    'duplicate_block',
    span,
    `"${name}" is already given as ${known === 'block' ? 'a block' : 'an attribute'}.`,
  );
  return true;
}

function decodeAttribute(decoding: Decoding, item: ContentAttribute, schema: BodySchema): DecodedAttribute | undefined {
  const rule = ruleFor(schema.attributes, item.name) ?? schema.otherAttributes;
  const { evaluation } = decoding;
  const value = evaluation.evaluate(evaluation, item.value);
  if (rule === undefined) return unsupportedAttribute(decoding, item, schema);
  if (value === undefined) return undefined;
  if (value.kind === 'null' && rule.nullable === true) return undefined;
  const start = leadingSpan(item.value);
  if (!paidFor(evaluation, item.value, 2 * sizeOf(value))) return undefined;
  const decoded = decodeValue(value, rule.is, decoding.legacy);
  if (decoded.isErr()) {
    const message = `"${shorten(item.name)}" is not set to a suitable value. ${decoded.error.message}`;
    return decodingProblem(decoding, decoded.error.code, start, message);
  }
  return {
    name: item.name,
    value: decoded.value,
    nameRange: rangeOf(decoding, item.nameSpan),
    valueRange: rangeOf(decoding, item.value),
    valueStart: rangeOf(decoding, start),
  };
}

function reportDuplicate(decoding: Decoding, block: ContentBlock, first: DecodedBlock): void {
  const { source, start } = first.range;
  // Counting lines is linear in the source, so only the first repetitions report the line.
  const counted = decoding.evaluation.problems.length < 100;
  decodingProblem(decoding, 'duplicate_block', block.typeSpan, {
    message: `Only one "${block.type}" block is allowed here.`,
    detail: counted ? `The first one is on line ${lineOf(source.text, start)}.` : undefined,
  });
}

/** Checks the number of labels. */
function hasLabels(decoding: Decoding, block: ContentBlock, wanted: readonly string[]): boolean {
  const extra = block.labels[wanted.length];
  const missing = wanted[block.labels.length];
  const { type } = block;
  if (extra !== undefined) {
    const count = wanted.length === 0 ? 'no label' : `only ${wanted.length} label${wanted.length === 1 ? '' : 's'}`;
    decodingProblem(decoding, 'extra_label', extra, {
      message: `A "${type}" block takes ${count}.`,
      detail: wanted.length === 0 ? undefined : `In order: ${wanted.join(', ')}.`,
    });
  } else if (missing !== undefined) {
    const { start } = block.body;
    decodingProblem(
      decoding,
      'missing_label',
      { start, end: start + 1 },
      {
        message: `A "${type}" block needs a ${missing} label.`,
        detail: `Its form is: ${type} ${wanted.map((label) => `"${label}"`).join(' ')} { … }`,
      },
    );
  }
  return extra === undefined && missing === undefined;
}

function reportMissing(
  decoding: Decoding,
  content: Content,
  schema: BodySchema,
  given: ReadonlyMap<string, 'attribute' | 'block'>,
): void {
  const { attributes, blocks } = requiredBy(schema);
  for (const name of attributes) {
    if (given.has(name)) continue;
    decodingProblem(decoding, 'missing_required', openingOf(content), `The attribute "${name}" is required here.`);
  }
  for (const type of blocks) {
    if (given.has(type)) continue;
    decodingProblem(decoding, 'missing_block', openingOf(content), `A "${type}" block is required here.`);
  }
}

interface Required {
  readonly attributes: readonly string[];
  readonly blocks: readonly string[];
}

/** Computed once per schema: few schemas require anything. */
function requiredBy(schema: BodySchema): Required {
  const known = required.get(schema);
  if (known !== undefined) return known;
  const made: Required = {
    attributes: Object.entries(schema.attributes ?? {}).flatMap(([name, rule]) =>
      rule.required === true ? [name] : [],
    ),
    blocks: Object.entries(schema.blocks ?? {}).flatMap(([type, rule]) => (rule.required === true ? [type] : [])),
  };
  required.set(schema, made);
  return made;
}

const required = new WeakMap<BodySchema, Required>();

function unsupportedAttribute(decoding: Decoding, item: ContentAttribute, schema: BodySchema): undefined {
  const { name } = item;
  const message = `There is no attribute "${shorten(name)}" here.`;
  if (ruleFor(schema.blocks, name) !== undefined) {
    const detail = `It is a block: write ${name} { … } without "=".`;
    return decodingProblem(decoding, 'unsupported_attribute', item.nameSpan, { message, detail });
  }
  const suggestion = (): string | undefined => suggestName(name, namesOf(schema));
  return decodingProblem(decoding, 'unsupported_attribute', item.nameSpan, { message, suggestion });
}

function unsupportedBlock(decoding: Decoding, block: ContentBlock, schema: BodySchema): undefined {
  const { type } = block;
  const message = `There is no block "${shorten(type)}" here.`;
  if (ruleFor(schema.attributes, type) !== undefined) {
    const detail = `It is an attribute: write ${type} = … instead.`;
    return decodingProblem(decoding, 'unsupported_block', block.typeSpan, { message, detail });
  }
  if (schema.otherAttributes !== undefined) {
    const detail = 'This block holds attributes only.';
    return decodingProblem(decoding, 'unsupported_block', block.typeSpan, { message, detail });
  }
  if (type === 'dynamic') {
    const detail = 'A dynamic block is possible within other blocks only.';
    return decodingProblem(decoding, 'unsupported_block', block.typeSpan, { message, detail });
  }
  const suggestion = (): string | undefined => suggestName(type, namesOf(schema));
  return decodingProblem(decoding, 'unsupported_block', block.typeSpan, { message, suggestion });
}

function namesOf(schema: BodySchema): string[] {
  return [...Object.keys(schema.attributes ?? {}), ...Object.keys(schema.blocks ?? {})];
}

function shorten(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

interface PlainObject {
  readonly [key: string]: PlainValue;
}

/**
 * Decodes a body without a schema to plain data. Consumers of such data treat an object as one of possibly several blocks, so:
 *
 * * blocks of one type become a list of objects, and each label adds a level;
 * * an object that is the value of an attribute becomes a list of one object;
 * * a block takes precedence over an attribute of the same name.
 */
function* freeFormData(decoding: Decoding, content: Content): Steps<PlainObject> {
  const { evaluation } = decoding;
  const attributes = new Map<string, PlainValue>();
  const blocks = new Map<string, PlainValue[]>();
  for (const item of contentItems(readerOf(decoding), content, () => undefined)) {
    if (evaluation.budget.turnIsLong) yield* interruption(evaluation.budget);
    if (!paidFor(evaluation, item, ITEM)) break;
    if (item.kind === 'block') {
      const known = blocks.get(item.type);
      const data = yield* blockData(decoding, item);
      if (known === undefined) blocks.set(item.type, [data]);
      else known.push(data);
      continue;
    }
    const value = evaluation.evaluate(evaluation, item.value);
    if (value === undefined || !paidFor(evaluation, item.value, 2 * sizeOf(value))) continue;
    const plain = toData(value);
    if (plain.isErr()) decodingProblem(decoding, plain.error.code, leadingSpan(item.value), plain.error.message);
    else {
      const wrapped = item.value.kind === 'object' && content.kind === 'body';
      attributes.set(item.name, wrapped ? [plain.value] : plain.value);
    }
  }
  return Object.fromEntries([...attributes, ...blocks]);
}

function* blockData(decoding: Decoding, block: ContentBlock): Steps<PlainObject> {
  let data = yield* freeFormData(decoding, block.body);
  for (const label of [...block.labels].reverse()) data = Object.fromEntries([[label.text, [data]]]);
  return data;
}
