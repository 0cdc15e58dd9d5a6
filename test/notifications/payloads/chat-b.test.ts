import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderChatB } from '../../../src/notifications/payloads/chat-b.js';
import { runEvent, workspace } from '../samples.js';
import { anyContext, contextOf, eventWith, messages, stringsOf } from './message-samples.js';

const golden = (name: string) => `../../golden/notifications/chat-b-${name}.json`;
const pretty = (body: string) => `${JSON.stringify(JSON.parse(body), null, 2)}\n`;

describe('byte for byte', () => {
  test.each(messages)('%s', async (name, context) => {
    await expect(pretty(renderChatB(context))).toMatchFileSnapshot(golden(name));
  });
});

/** The elements that a card of version 1.4 may have, as far as ours use them: an unknown or empty member spoils a card. */
const text = { type: 'string', minLength: 1 };
const element = (type: string, properties: object, required: readonly string[]) => ({
  type: 'object',
  properties: { type: { const: type }, ...properties },
  required: ['type', ...required],
  additionalProperties: false,
});
const address = { type: 'string', pattern: '^https?://[!-~]+$', maxLength: 2048 };
const textBlock = element(
  'TextBlock',
  {
    text,
    wrap: { type: 'boolean' },
    size: { enum: ['Small', 'Default', 'Medium', 'Large', 'ExtraLarge'] },
    weight: { enum: ['Lighter', 'Default', 'Bolder'] },
    isSubtle: { type: 'boolean' },
  },
  ['text'],
);
const image = element(
  'Image',
  { url: address, altText: { type: 'string' }, size: { const: 'Small' }, style: { const: 'Person' } },
  ['url'],
);
const column = element(
  'Column',
  { width: { enum: ['auto', 'stretch'] }, items: { type: 'array', minItems: 1, items: { anyOf: [textBlock, image] } } },
  ['items'],
);
const fact = {
  type: 'object',
  properties: { title: text, value: { type: 'string' } },
  required: ['title', 'value'],
  additionalProperties: false,
};
const card = element(
  'AdaptiveCard',
  {
    $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
    version: { const: '1.4' },
    msteams: { const: { width: 'Full' } },
    body: {
      type: 'array',
      items: {
        anyOf: [
          textBlock,
          element('ColumnSet', { columns: { type: 'array', minItems: 1, items: column } }, ['columns']),
          element('FactSet', { facts: { type: 'array', minItems: 1, items: fact } }, ['facts']),
        ],
      },
    },
    actions: {
      type: 'array',
      minItems: 1,
      items: element('Action.OpenUrl', { title: text, url: address }, ['title', 'url']),
    },
  },
  ['$schema', 'version', 'body'],
);
const isEnvelope = new Ajv().compile(
  element(
    'message',
    {
      attachments: {
        type: 'array',
        minItems: 1,
        maxItems: 1,
        items: {
          type: 'object',
          properties: {
            contentType: { const: 'application/vnd.microsoft.card.adaptive' },
            contentUrl: { const: null },
            content: card,
          },
          required: ['contentType', 'contentUrl', 'content'],
          additionalProperties: false,
        },
      },
    },
    ['attachments'],
  ),
);

/** JSON as the wordiest writer on the way would print it. */
const inAscii = (body: string) =>
  body.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('any event', () => {
  test('is a valid card within the size that the service takes', () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const body = renderChatB(context);
        isEnvelope(JSON.parse(body));
        expect(isEnvelope.errors).toBeNull();
        expect(inAscii(body).length).toBeLessThan(28_000);
      }),
      { numRuns: 150 },
    );
  });
  test('yields no mention, no link but the message’s own, and no function', () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        for (const each of stringsOf(
          JSON.parse(renderChatB(context), (key, value) => (key === 'altText' ? '' : value)),
        )) {
          if (/^https?:/.test(each)) continue;
          // Our own link stands at the end of the heading; everything before it is a user's.
          const rest = each.replace(/^(\w+ )+\w+ \[((?:[^[\]\\]|\\.)*)\]\(https?:\/\/[^()\\\s]+\)$/su, '$2');
          expect(rest).not.toMatch(/\]\(|<\/?at|\{\{/i);
          expect(rest).not.toMatch(/(^|[^\p{L}\p{N}])@(here|channel|all)/u);
          // Every character of markup has its backslash.
          expect(rest.replace(/\\[\\`*_[\]<]/g, '')).not.toMatch(/[\\`*_[\]<]/);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['letters', 'x'],
  ['control characters', '\u0001\n'],
  ['quotes', '"\\'],
  ['markup', '*_[](<'],
  ['CJK', '漢'],
  ['emoji', '👩‍🚀'],
])('30 KB of %s everywhere stay below 28 KB, however the JSON is written', (_name, piece) => {
  const long = piece.repeat(30_000 / piece.length);
  const link = `https://tf.example.net/${'x'.repeat(2000)}`;
  const event = {
    ...runEvent,
    message: long,
    runId: long,
    runMessage: long,
    runCreatedBy: long,
    runUpdatedBy: long,
    runUrl: link,
    runCreatorAvatarUrl: link,
  };
  const body = renderChatB(contextOf(event, { name: long, organization: long, url: link }));
  isEnvelope(JSON.parse(body));
  expect(isEnvelope.errors).toBeNull();
  expect(inAscii(body).length).toBeLessThan(28_000);
});

test('without a picture there is no image, and without a person and a reason no column', () => {
  expect(renderChatB(contextOf(runEvent))).not.toContain('Image');
  expect(renderChatB(contextOf({ ...runEvent, runCreatedBy: null, runMessage: null }))).not.toContain('Column');
});

test('without the run’s page the button leads to the workspace', () => {
  const body = renderChatB(contextOf({ ...runEvent, runUrl: null }));
  expect(body).toContain(
    `"title":"View workspace","url":"https://tf.example.net/app/acme/workspaces/${workspace.name}"`,
  );
});

test('names of members are escaped and cut like their values', () => {
  const names = ['[a](https://evil.example)', '<at>all</at>', '\u3042'.repeat(50_000), '\u0000'];
  const body = renderChatB(contextOf(eventWith(Object.fromEntries(names.map((name) => [name, 'v'])))));
  const titles = [...body.matchAll(/"title":"((?:[^"\\]|\\.)*)","value":"v"/g)].map(([, title]) => title);
  expect(titles[0]).toBe('\\\\[a\\\\]\u2060(https://evil.example)');
  expect(titles[1]).toMatch(/^\\\\<\u2060at>all\\\\<\u2060\/at>$/);
  expect(titles[2]).toMatch(/^\u3042{20,40}…$/);
  expect(titles[3]).toBe('unnamed');
});

test('the longest names, values, reason and links together stay within the size that the service takes', () => {
  const long = '\u0001\u3042"'.repeat(20_000);
  const url = `https://tf.example.net/${'x'.repeat(2000)}`;
  const data = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`${n}${long}`, long]));
  const event = { ...eventWith({ ...data, id: long, url, reason: long }), message: long };
  const body = renderChatB(contextOf(event, { name: long, organization: long, url }));
  expect(inAscii(body).length).toBeLessThan(28_000);
});
