import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderChatA } from '../../../src/notifications/payloads/chat-a.js';
import { runEvent } from '../samples.js';
import { anyContext, contextOf, eventWith, messages, stringsOf } from './message-samples.js';

const golden = (name: string) => `../../golden/notifications/chat-a-${name}.json`;
const pretty = (body: string) => `${JSON.stringify(JSON.parse(body), null, 2)}\n`;

describe('byte for byte', () => {
  test.each(messages)('%s', async (name, context) => {
    await expect(pretty(renderChatA(context))).toMatchFileSnapshot(golden(name));
  });
});

interface Text {
  readonly type: string;
  readonly text: string;
}
interface Message {
  readonly text: string;
  readonly attachments: readonly {
    readonly color: string;
    readonly fallback: string;
    readonly blocks: readonly {
      readonly type: string;
      readonly text?: Text;
      readonly fields?: readonly Text[];
      readonly elements?: readonly object[];
    }[];
  }[];
}

const messageOf = (context: Parameters<typeof renderChatA>[0]) => JSON.parse(renderChatA(context)) as Message;

describe('any event', () => {
  test('keeps the limits of the service', () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const body = renderChatA(context);
        expect(body.length).toBeLessThan(40_000);
        for (const { blocks } of (JSON.parse(body) as Message).attachments) {
          expect(blocks.length).toBeLessThanOrEqual(50);
          for (const { text, fields = [], elements = [] } of blocks) {
            if (text !== undefined) expect(text.text.length).toBeLessThanOrEqual(3000);
            if (text !== undefined) expect(text.text).not.toBe('');
            expect(fields.length).toBeLessThanOrEqual(10);
            expect(elements.length).toBeLessThanOrEqual(10);
            for (const field of fields) expect(field.text.length).toBeLessThanOrEqual(2000);
          }
        }
      }),
      { numRuns: 150 },
    );
  });
  test('yields no mention and no link but the message’s own', () => {
    fc.assert(
      fc.property(anyContext, (context) => {
        const found: string[] = [];
        for (const text of stringsOf(messageOf(context))) {
          for (const [markup = ''] of text.matchAll(/<[^>]*>?/g)) found.push(markup);
          expect(text).not.toMatch(/(^|[^\p{L}\p{N}])@(here|channel|everyone|all)/u);
          if (!text.startsWith('http')) expect(text).not.toContain('](');
        }
        for (const markup of found) {
          expect(markup).toMatch(/^<(https?:\/\/[^<>|]+\|[^<>]*|!date\^\d+\^[^^|<>]+\|[^<>]*)>$/);
          if (markup.startsWith('<http')) expect(markup).not.toMatch(/^<https?:\/\/evil/);
        }
      }),
      { numRuns: 300 },
    );
  });
});

test('a long message is cut within its block and says so', () => {
  const { blocks } = messageOf(contextOf({ ...runEvent, runMessage: '&é'.repeat(15_000) })).attachments[0]!;
  const text = blocks[1]?.text?.text ?? '';
  expect(text.length).toBeGreaterThan(2890);
  expect(text).toMatch(/^(&amp;é)+(&amp;)?…$/);
});

test('what users wrote is never formatted', () => {
  const { blocks } = messageOf(contextOf({ ...runEvent, runMessage: '*bold* :smile:' })).attachments[0]!;
  expect(blocks[1]?.text).toEqual({ type: 'plain_text', text: '*bold* :smile:', emoji: false });
});

test('names of members are escaped and cut like their values', () => {
  const names = ['<!channel>', '<https://evil.example|acme>', `n${'&'.repeat(50_000)}`, '\u0000\u202e'];
  const { blocks } = messageOf(contextOf(eventWith(Object.fromEntries(names.map((name) => [name, 'v'])))))
    .attachments[0]!;
  const fields = blocks.flatMap((block) => block.fields ?? []).map((field) => field.text);
  expect(fields).toHaveLength(6);
  expect(fields[2]).toBe('*&lt;!channel&gt;*\nv'.replace('!', '\u2060!'));
  expect(fields[3]).toBe('*&lt;https://evil.example|acme&gt;*\nv');
  expect(fields[4]).toMatch(/^\*n(&amp;){30,40}…\*\nv$/);
  expect(fields[5]).toBe('*unnamed*\nv');
});
