import { suggestName } from '../diagnostics/suggest.js';
import { pairsOf } from '../evaluate/collections.js';
import { paidFor, withNames } from '../evaluate/context.js';
import type { Expression, Label, Span } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { typeText } from '../values/render.js';
import { type HclValue, objectValue, stringType } from '../values/value.js';
import { type ContentAttribute, type ContentBlock, contentItems } from './content.js';
import { type Decoding, decodingProblem, openingOf, readerOf, ruleFor, withEvaluation } from './decode-value.js';
import type { BlockSchema, BodySchema } from './schema.js';

/** Units of work for one element, in addition to its labels and its block. */
const ELEMENT = 15;

/** The label of a dynamic block, and the schema of the blocks of that type. */
interface MadeType {
  readonly label: Label;
  readonly rule: BlockSchema;
}

interface DynamicParts {
  readonly type: string;
  readonly forEach: Expression;
  readonly iterator: string;
  readonly labels: readonly Expression[];
  readonly content: ContentBlock;
}

/**
 * Replaces a `dynamic "TYPE" { for_each, labels, iterator, content }` block by one block per element, in place. Within `content`
 * and `labels` the iterator is in scope, with `key` and `value`. A block is expanded after the previous one has been decoded.
 */
export function* expandDynamic(
  decoding: Decoding,
  dynamic: ContentBlock,
  schema: BodySchema,
): Iterable<{ readonly block: ContentBlock; readonly inner: Decoding }> {
  const parts = readParts(decoding, dynamic, schema);
  if (parts === undefined) return;
  const { evaluation } = decoding;
  const collection = evaluation.evaluate(evaluation, parts.forEach);
  if (collection === undefined) return;
  const pairs = pairsOf(collection);
  if (pairs === undefined) {
    const given = collection.kind === 'null' ? 'null' : `a value of type ${typeText(collection)}`;
    const message = `"for_each" needs a list, set, map or object, not ${given}.`;
    decodingProblem(decoding, 'bad_dynamic', parts.forEach, message);
    return;
  }
  for (const [key, value] of pairs) {
    if (!paidFor(evaluation, parts.forEach, ELEMENT)) return;
    const problemsBefore = evaluation.problems.length;
    const iterator = objectValue([
      ['key', key],
      ['value', value],
    ]);
    const inner = withEvaluation(
      decoding,
      withNames(evaluation, new Map<string, HclValue>([[parts.iterator, iterator]])),
    );
    const labels = evaluateLabels(inner, parts.labels);
    if (labels !== undefined) {
      yield { block: { ...parts.content, type: parts.type, typeSpan: dynamic.typeSpan, labels }, inner };
    }
    // An error in one block would occur in all of them.
    if (evaluation.problems.length > problemsBefore) return;
  }
}

function readParts(decoding: Decoding, dynamic: ContentBlock, schema: BodySchema): DynamicParts | undefined {
  const made = readType(decoding, dynamic, schema);
  if (made === undefined) return undefined;
  const type = made.label.text;
  const given = readItems(decoding, dynamic);
  const iterator = iteratorName(decoding, given.get('iterator'), type);
  const labels = labelExpressions(decoding, given.get('labels'), dynamic, made.rule);
  const forEach = given.get('for_each');
  if (forEach === undefined) {
    decodingProblem(decoding, 'bad_dynamic', openingOf(dynamic.body), 'The attribute "for_each" is required here.');
  }
  const content = onlyContent(decoding, dynamic, given);
  if (!given.complete || iterator === undefined || labels === undefined) return undefined;
  if (forEach === undefined || content === undefined) return undefined;
  return { type, forEach: forEach.value, iterator, labels, content };
}

function readType(decoding: Decoding, dynamic: ContentBlock, schema: BodySchema): MadeType | undefined {
  const [label, extra] = dynamic.labels;
  if (label === undefined || extra !== undefined) {
    const span = extra ?? { start: dynamic.body.start, end: dynamic.body.start + 1 };
    const message = 'A "dynamic" block has one label: the type of the blocks that it makes.';
    return decodingProblem(decoding, 'bad_dynamic', span, message);
  }
  const rule = ruleFor(schema.blocks, label.text);
  if (rule !== undefined) return { label, rule };
  const message = `There is no block "${label.text.slice(0, 60)}" here.`;
  const suggestion = (): string | undefined => suggestName(label.text, Object.keys(schema.blocks ?? {}));
  return decodingProblem(decoding, 'unsupported_block', label, { message, suggestion });
}

function onlyContent(decoding: Decoding, dynamic: ContentBlock, given: GivenItems): ContentBlock | undefined {
  const [content, second] = given.content;
  if (content === undefined) {
    return decodingProblem(decoding, 'bad_dynamic', openingOf(dynamic.body), 'A "content" block is required here.');
  }
  if (second === undefined) return content;
  return decodingProblem(decoding, 'bad_dynamic', second.typeSpan, 'Only one "content" block is allowed here.');
}

interface GivenItems {
  get(name: 'for_each' | 'labels' | 'iterator'): ContentAttribute | undefined;
  readonly content: readonly ContentBlock[];
  readonly complete: boolean;
}

function readItems(decoding: Decoding, dynamic: ContentBlock): GivenItems {
  const attributes = new Map<string, ContentAttribute>();
  const content: ContentBlock[] = [];
  let complete = true;
  const isBlock = (type: string): number | undefined => (type === 'content' ? 0 : undefined);
  for (const item of contentItems(readerOf(decoding), dynamic.body, isBlock)) {
    if (item.kind === 'attribute' && ['for_each', 'labels', 'iterator'].includes(item.name)) {
      attributes.set(item.name, item);
    } else if (item.kind === 'block' && item.type === 'content') {
      content.push(item);
      const [label] = item.labels;
      if (label !== undefined) {
        complete = false;
        decodingProblem(decoding, 'extra_label', label, {
          message: 'A "content" block takes no label.',
          detail: 'The labels of the blocks are made by the attribute "labels".',
        });
      }
    } else {
      complete = false;
      const span: Span = item.kind === 'attribute' ? item.nameSpan : item.typeSpan;
      const message = `There is no ${item.kind} "${(item.kind === 'attribute' ? item.name : item.type).slice(0, 60)}" in a dynamic block.`;
      const detail = 'It has for_each, labels, iterator and a content block.';
      decodingProblem(decoding, 'bad_dynamic', span, { message, detail });
    }
  }
  return { get: (name) => attributes.get(name), content, complete };
}

function iteratorName(decoding: Decoding, item: ContentAttribute | undefined, type: string): string | undefined {
  if (item === undefined) return type;
  const { value, json } = item;
  if (json?.kind === 'json-string' && json.text !== '') return json.text;
  if (value.kind === 'reference' && value.steps.length === 0) return value.name;
  return decodingProblem(decoding, 'bad_dynamic', value, 'The iterator must be a plain name, without quotes.');
}

function labelExpressions(
  decoding: Decoding,
  item: ContentAttribute | undefined,
  dynamic: ContentBlock,
  { labels: wanted = [] }: BlockSchema,
): readonly Expression[] | undefined {
  const count = `${wanted.length} label${wanted.length === 1 ? '' : 's'}`;
  if (item === undefined) {
    if (wanted.length === 0) return [];
    const message = `The attribute "labels" is required here: these blocks have ${count}.`;
    return decodingProblem(decoding, 'bad_dynamic', openingOf(dynamic.body), message);
  }
  if (item.value.kind !== 'tuple') {
    return decodingProblem(decoding, 'bad_dynamic', item.value, '"labels" must be a list written in brackets.');
  }
  const { items } = item.value;
  const extra = items[wanted.length];
  if (items.length === wanted.length) return items;
  const span = extra ?? item.value;
  return decodingProblem(decoding, 'bad_dynamic', span, `These blocks have ${count}, not ${items.length}.`);
}

function evaluateLabels(decoding: Decoding, expressions: readonly Expression[]): readonly Label[] | undefined {
  const labels: Label[] = [];
  const { evaluation } = decoding;
  for (const expression of expressions) {
    const value = evaluation.evaluate(evaluation, expression);
    if (value === undefined) continue;
    const text = value.kind === 'null' ? undefined : convert(value, stringType).unwrapOr(undefined);
    if (text?.kind === 'string') labels.push({ text: text.value, start: expression.start, end: expression.end });
    else {
      const given = value.kind === 'null' ? 'null' : `a value of type ${typeText(value)}`;
      decodingProblem(decoding, 'bad_dynamic', expression, `A label must be a string, not ${given}.`);
    }
  }
  return labels.length < expressions.length ? undefined : labels;
}
