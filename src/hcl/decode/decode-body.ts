import { suggestName } from '../diagnostics/suggest.js';
import { outOfBudget } from '../evaluate/context.js';
import { leadingSpan } from '../syntax/spans.js';
import type { Label, Span } from '../syntax/tree.js';
import { type Content, type ContentAttribute, type ContentBlock, contentItems, labelCounts } from './content.js';
import { decodeValue } from './decode-value.js';
import { type Decoding, decodingProblem, openingOf, rangeOf, readerOf, ruleFor } from './decoding.js';
import { expandDynamic } from './dynamic.js';
import { freeFormData } from './free-form.js';
import { attributeFromBlock, blocksFromAttribute } from './legacy-forms.js';
import type {
  AttributeSchema,
  BlockSchema,
  BodySchema,
  DecodedAttribute,
  DecodedBlock,
  DecodedBody,
} from './schema.js';

/** A body as its schema describes it. Everything that does not fit is reported; what does fit is in the result. */
export function decodeBody(decoding: Decoding, content: Content, schema: BodySchema): DecodedBody {
  const attributes = new Map<string, DecodedAttribute>();
  const blocks = new Map<string, DecodedBlock[]>();
  const given = new Map<string, 'attribute' | 'block'>();
  const counts = labelCounts(schema);
  const labels = (type: string): number | undefined => (isDynamic(decoding, schema, type) ? 1 : counts(type));
  const isAttribute = (name: string): boolean => ruleFor(schema.attributes, name) !== undefined;

  const addAttribute = (item: ContentAttribute): void => {
    if (clashes(decoding, given, item.name, 'attribute', item.nameSpan)) return;
    const decoded = decodeAttribute(decoding, item, schema);
    if (decoded !== undefined) attributes.set(item.name, decoded);
  };
  const addBlock = (block: ContentBlock, inner: Decoding): void => {
    const rule = ruleFor(schema.blocks, block.type);
    if (rule === undefined) {
      unsupportedBlock(inner, block, schema);
      return;
    }
    if (clashes(inner, given, block.type, 'block', block.typeSpan)) return;
    const known = blocks.get(block.type);
    const first = known?.[0];
    if (rule.times === 'once' && first !== undefined) {
      reportDuplicate(inner, block, first);
      return;
    }
    const decoded = decodeBlock(inner, block, rule);
    if (decoded === undefined) return;
    if (known === undefined) blocks.set(block.type, [decoded]);
    else known.push(decoded);
  };

  for (const item of contentItems(readerOf(decoding), content, labels, isAttribute)) {
    if (!decoding.evaluation.budget.charge(1)) {
      outOfBudget(decoding.evaluation, item);
      break;
    }
    if (item.kind === 'attribute') {
      const converted = decoding.legacy ? blocksFromAttribute(item, schema) : undefined;
      if (converted === undefined) addAttribute(item);
      else for (const block of converted) addBlock(block, decoding);
    } else if (isDynamic(decoding, schema, item.type)) {
      expandDynamic(decoding, item, schema, addBlock);
    } else {
      const converted = decoding.legacy ? attributeFromBlock(item, schema) : undefined;
      if (converted === undefined) addBlock(item, decoding);
      else addAttribute(converted);
    }
  }
  reportMissing(decoding, content, schema, given);
  return { attributes, blocks, range: rangeOf(decoding, content) };
}

function isDynamic(decoding: Decoding, schema: BodySchema, type: string): boolean {
  return type === 'dynamic' && decoding.dynamicAllowed && ruleFor(schema.blocks, type) === undefined;
}

/** One name cannot be given as an attribute and as a block. */
function clashes(
  decoding: Decoding,
  given: Map<string, 'attribute' | 'block'>,
  name: string,
  form: 'attribute' | 'block',
  span: Span,
): boolean {
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
  if (value.kind === 'null' && acceptsNull(rule)) return undefined;
  const start = leadingSpan(item.value);
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

function acceptsNull(rule: AttributeSchema): boolean {
  return rule.nullable === true;
}

function decodeBlock(decoding: Decoding, block: ContentBlock, rule: BlockSchema): DecodedBlock | undefined {
  const wanted = rule.labels ?? [];
  if (!hasLabels(decoding, block, wanted)) return undefined;
  const range = rangeOf(decoding, block.typeSpan);
  const labels = block.labels.map((label: Label) => ({ text: label.text, range: rangeOf(decoding, label) }));
  const inner: Decoding = decoding.dynamicAllowed ? decoding : { ...decoding, dynamicAllowed: !decoding.legacy };
  if (rule.body === 'freeForm') {
    const data = freeFormData(inner, block.body);
    const body: DecodedBody = { attributes: new Map(), blocks: new Map(), range: rangeOf(decoding, block.body) };
    return { type: block.type, labels, body, data, range };
  }
  const schema = typeof rule.body === 'function' ? rule.body() : rule.body;
  return { type: block.type, labels, body: decodeBody(inner, block.body, schema), data: undefined, range };
}

function reportDuplicate(decoding: Decoding, block: ContentBlock, first: DecodedBlock): void {
  const { source, start } = first.range;
  // Counting lines takes time: not for the hundredth time.
  const counted = decoding.evaluation.problems.length < 100;
  decodingProblem(decoding, 'duplicate_block', block.typeSpan, `Only one "${block.type}" block is allowed here.`, {
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
    decodingProblem(decoding, 'extra_label', extra, `A "${type}" block takes ${count}.`, {
      detail: wanted.length === 0 ? undefined : `In order: ${wanted.join(', ')}.`,
    });
  } else if (missing !== undefined) {
    const { start } = block.body;
    decodingProblem(
      decoding,
      'missing_label',
      { start, end: start + 1 },
      `A "${type}" block needs a ${missing} label.`,
      {
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
  for (const name in schema.attributes) {
    if (schema.attributes[name]?.required !== true || given.has(name)) continue;
    decodingProblem(decoding, 'missing_required', openingOf(content), `The attribute "${name}" is required here.`);
  }
  for (const type in schema.blocks) {
    if (schema.blocks[type]?.required !== true || given.has(type)) continue;
    decodingProblem(decoding, 'missing_block', openingOf(content), `A "${type}" block is required here.`);
  }
}

function unsupportedAttribute(decoding: Decoding, item: ContentAttribute, schema: BodySchema): undefined {
  const { name } = item;
  const message = `There is no attribute "${shorten(name)}" here.`;
  if (ruleFor(schema.blocks, name) !== undefined) {
    const detail = `It is a block: write ${name} { … } without "=".`;
    return decodingProblem(decoding, 'unsupported_attribute', item.nameSpan, message, { detail });
  }
  const suggestion = (): string | undefined => suggestName(name, namesOf(schema));
  return decodingProblem(decoding, 'unsupported_attribute', item.nameSpan, message, { suggestion });
}

function unsupportedBlock(decoding: Decoding, block: ContentBlock, schema: BodySchema): undefined {
  const { type } = block;
  const message = `There is no block "${shorten(type)}" here.`;
  if (ruleFor(schema.attributes, type) !== undefined) {
    const detail = `It is an attribute: write ${type} = … instead.`;
    return decodingProblem(decoding, 'unsupported_block', block.typeSpan, message, { detail });
  }
  if (schema.otherAttributes !== undefined) {
    const detail = 'This block holds attributes only.';
    return decodingProblem(decoding, 'unsupported_block', block.typeSpan, message, { detail });
  }
  if (type === 'dynamic') {
    const detail = 'A dynamic block is possible within other blocks only.';
    return decodingProblem(decoding, 'unsupported_block', block.typeSpan, message, { detail });
  }
  const suggestion = (): string | undefined => suggestName(type, namesOf(schema));
  return decodingProblem(decoding, 'unsupported_block', block.typeSpan, message, { suggestion });
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
