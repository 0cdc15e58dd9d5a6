import { paidFor } from '../evaluate/context.js';
import { interruption, type Steps } from '../steps.js';
import { leadingSpan } from '../syntax/spans.js';
import { sizeOf } from '../values/value.js';
import { type Content, type ContentBlock, contentItems } from './content.js';
import { toData } from './decode-value.js';
import { type Decoding, decodingProblem, ITEM, readerOf } from './decoding.js';
import type { PlainValue } from './schema.js';

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
export function* freeFormData(decoding: Decoding, content: Content): Steps<PlainObject> {
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
