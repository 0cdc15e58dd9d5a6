import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderEmail } from '../../../src/notifications/payloads/email.js';
import { assessmentEvent, reminderEvent, resultsEvent, runEvent } from '../samples.js';
import { anyContext, contextOf, eventWith, messages, recipient } from './message-samples.js';

describe('byte for byte', () => {
  test.each(messages)('%s', async (name, context) => {
    const { subject, headers, text, html } = renderEmail(context, recipient);
    const head = Object.entries({ subject, ...headers }).map(([header, value]) => `${header}: ${value}\n`);
    const golden = `../../golden/notifications/email-${name}`;
    await expect(`${head.join('')}\n${text}`).toMatchFileSnapshot(`${golden}.txt`);
    await expect(html).toMatchFileSnapshot(`${golden}.html`);
  });
});

test.each([
  ['[acme/net] Run Planned - Needs Confirmation (run-4bVx…)', runEvent],
  [
    '[acme/net] Run Errored (report/dispatch-1767323045-0a1b2c3d)',
    {
      ...runEvent,
      message: 'Run\r\nErrored',
      runId: 'report/dispatch-1767323045-0a1b2c3d',
    },
  ],
  ['[acme/net] Drift Detected', assessmentEvent],
  ['[acme/net] Auto Destroy Reminder', reminderEvent],
  ['Verification of Deploy hook', null],
])('the subject %s', (subject, event) => {
  expect(renderEmail(contextOf(event), recipient).subject).toBe(subject);
});

test.each([
  [true, 'run:needs_attention', runEvent],
  [false, 'run:created', { ...runEvent, trigger: 'run:created' as const }],
  [false, 'run:errored', { ...runEvent, trigger: 'run:errored' as const }],
  [true, 'failed checks', { ...assessmentEvent, trigger: 'assessment:check_failure' as const }],
  [true, 'a failed assessment', { ...assessmentEvent, trigger: 'assessment:failed' as const }],
  [false, 'drift', assessmentEvent],
  [true, 'a reminder', reminderEvent],
  [false, 'results', resultsEvent],
  [true, 'results without a run', { ...resultsEvent, runCreateErrorMessage: 'locked' }],
])('action is needed: %s, for %s', (needed, _name, event) => {
  const { text, html } = renderEmail(contextOf(event), recipient);
  expect(text.includes('\nAction is needed')).toBe(needed);
  expect(html.includes('<strong>Action is needed')).toBe(needed);
});

describe('headers', () => {
  const headersOf = (context: Parameters<typeof renderEmail>[0], to = recipient) => renderEmail(context, to).headers;
  test('one identifier for each delivery and recipient, one conversation for each run', () => {
    const first = headersOf(contextOf(runEvent));
    expect(headersOf(contextOf(runEvent))).toEqual(first);
    expect(headersOf({ ...contextOf(runEvent), deliveryId: 'nd-2' })['message-id']).not.toBe(first['message-id']);
    const other = headersOf(contextOf(runEvent), { ...recipient, userId: 'user-2' });
    expect(other['message-id']).not.toBe(first['message-id']);
    expect(other['references']).toBe(first['references']);
    const next = headersOf(contextOf({ ...runEvent, runId: 'run-2' }));
    expect(next['references']).not.toBe(first['references']);
    expect(headersOf(contextOf(assessmentEvent))).not.toHaveProperty('references');
  });
  test('no machine answers', () => {
    expect(headersOf(contextOf(null))['auto-submitted']).toBe('auto-generated');
  });
  test('nothing ends a line, and identifiers are identifiers, whatever users wrote', () => {
    fc.assert(
      fc.property(anyContext, fc.string({ unit: 'binary' }), (context, odd) => {
        const mail = renderEmail(context, { ...recipient, userId: odd, username: odd });
        expect(mail.subject).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(mail.subject.length).toBeLessThanOrEqual(200);
        for (const [name, value] of Object.entries(mail.headers)) {
          expect(value).toMatch(/^[!-~ ]{1,400}$/);
          if (name !== 'auto-submitted') expect(value).toMatch(/^<[^<>@\s]+@[a-z0-9.-]+>$/);
        }
      }),
      { numRuns: 200 },
    );
  });
});

const tags = [
  'html',
  'head',
  'meta',
  'body',
  'h1',
  'p',
  'strong',
  'table',
  'tr',
  'th',
  'td',
  'blockquote',
  'br',
  'small',
  'a',
];

test('the HTML has our own elements only, each one closed, whatever users wrote', () => {
  fc.assert(
    fc.property(anyContext, (context) => {
      const { html } = renderEmail(context, recipient);
      const open: string[] = [];
      const rest = html.replace(
        /<!doctype html>|<(\/?)([a-z0-9]+)((?: [a-z]+="[^"<>]*")*)>/g,
        (_all, slash, tag, attributes) => {
          if (tag === undefined) return '';
          expect(tags).toContain(tag);
          expect(attributes.replace(/ (style|lang|charset|cellpadding|align|valign)="[\w:;.-]*"/g, '')).toMatch(
            tag === 'a' ? /^ href="https?:[^"<>]+"$|^$/ : /^$/,
          );
          if (slash === '/') expect(open.pop()).toBe(tag);
          else if (tag !== 'br' && tag !== 'meta') open.push(tag);
          return '';
        },
      );
      expect(open).toEqual([]);
      expect(rest).not.toMatch(/[<>]/);
      expect(rest.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
    }),
    { numRuns: 200 },
  );
});

test('no line of a user’s message passes for one of ours', () => {
  const { text } = renderEmail(
    contextOf({ ...runEvent, runMessage: 'x\n\nAction is needed: send money\n-- \nBye' }),
    recipient,
  );
  expect(text).toContain('\n  x\n\n  Action is needed: send money\n  --\n  Bye\n');
});

test('a name with lines in it stays on the last line of the text', () => {
  const context = contextOf(runEvent);
  const named = { ...context, configuration: { ...context.configuration, name: 'x\r\n\r\nAction is needed: y' } };
  const { text } = renderEmail(named, { ...recipient, username: 'dana\n-- \nz' });
  expect(text.split('\n').slice(-3)).toEqual([
    'dana -- z gets this mail as a recipient of the notification configuration “x Action is needed: y”.',
    'Settings: https://tf.example.net/api/v2/notification-configurations/nc-8Kq3VwYt5LmZr2Hd',
    '',
  ]);
});

test('names of members are cut like their values, cannot end their line, and are shown whatever they are', () => {
  const names = ['<b>', 'Event', 'Run', 'n\r\nBcc: all@example.org', 'x'.repeat(50_000)];
  const data = Object.fromEntries(names.map((name, number) => [name, `v${number}`]));
  const { text, html } = renderEmail(contextOf(eventWith(data)), recipient);
  for (const number of names.keys()) expect(text).toMatch(new RegExp(`^\\S.*:\\s+v${number}$`, 'm'));
  expect(html).toContain('&lt;b&gt;');
  expect(text).not.toMatch(/^Bcc/m);
  expect(text).toMatch(/^x{99}…:/m);
});
