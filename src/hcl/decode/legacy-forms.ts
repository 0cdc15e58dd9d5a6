import type { Expression } from '../syntax/tree.js';
import type { ContentAttribute, ContentBlock } from './content.js';
import { ruleFor } from './decode-value.js';
import type { BodySchema } from './schema.js';

/**
 * In version 1 sources `name = { … }` and `name { … }` are the same, and `name = [{ … }, { … }]` is two blocks. The reader of such
 * sources makes a block of every `{ }` after a name; where the schema expects an attribute, it is converted back here.
 */
export function attributeFromBlock(block: ContentBlock, schema: BodySchema): ContentAttribute | undefined {
  if (ruleFor(schema.blocks, block.type) !== undefined) return undefined;
  const wanted = ruleFor(schema.attributes, block.type) !== undefined;
  if (!wanted || block.labels.length > 0 || block.body.kind !== 'body') return undefined;
  const value = objectFromBody(block.body);
  return { kind: 'attribute', name: block.type, nameSpan: block.typeSpan, value, start: block.start, end: block.end };
}

/** The blocks for a list of objects where the schema expects blocks. */
export function blocksFromAttribute(item: ContentAttribute, schema: BodySchema): readonly ContentBlock[] | undefined {
  const rule = ruleFor(schema.blocks, item.name);
  if (rule === undefined || (rule.labels?.length ?? 0) > 0 || ruleFor(schema.attributes, item.name) !== undefined) {
    return undefined;
  }
  const { value } = item;
  const objects = value.kind === 'tuple' ? value.items : [value];
  if (!objects.every((object) => object.kind === 'object')) return undefined;
  return objects.map((object): ContentBlock => {
    const { start, end } = object;
    const items = object.kind === 'object' ? object.items : [];
    return {
      kind: 'block',
      type: item.name,
      typeSpan: item.nameSpan,
      labels: [],
      body: {
        kind: 'body',
        items: items.map(({ key, value: inner }) => ({
          kind: 'attribute',
          name: keyName(key),
          nameSpan: { start: key.start, end: key.end },
          value: inner,
          start: key.start,
          end: inner.end,
        })),
        start,
        end,
      },
      start: item.start,
      end: item.end,
    };
  });
}

function objectFromBody(body: ContentBlock['body'] & { kind: 'body' }): Expression {
  const items = body.items.map((item) => {
    const span = item.kind === 'attribute' ? item.nameSpan : item.typeSpan;
    const name = item.kind === 'attribute' ? item.name : item.type;
    const key: Expression = {
      kind: 'template',
      parts: [{ kind: 'text', text: name, ...span }],
      passThrough: false,
      ...span,
    };
    return { key, value: item.kind === 'attribute' ? item.value : objectFromBody(item.body) };
  });
  return { kind: 'object', items, start: body.start, end: body.end };
}

function keyName(key: Expression): string {
  if (key.kind === 'reference') return key.name;
  const [part] = key.kind === 'template' ? key.parts : [];
  return part?.kind === 'text' ? part.text : '';
}
