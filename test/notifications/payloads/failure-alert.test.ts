import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../src/notifications/events/event.js';
import { renderChatA } from '../../../src/notifications/payloads/chat-a.js';
import { renderChatB } from '../../../src/notifications/payloads/chat-b.js';
import { renderEmail } from '../../../src/notifications/payloads/email.js';
import { runPayload } from '../../../src/notifications/payloads/notification-payload.js';
import { runEvent, workspace } from '../samples.js';
import { contextOf } from './message-samples.js';

const failed = (output: string, more: Partial<RunEvent> = {}): RunEvent => ({
  ...runEvent,
  trigger: 'run:errored',
  message: 'Run Errored',
  runUrl: null,
  runMessage: 'Job nightly, version 0',
  job: { namespace: 'default', id: 'nightly', outcome: { name: 'failed', text: 'failed' } },
  failure: {
    allocationId: 'a-1',
    group: 'g',
    task: 'main',
    exitCode: 3,
    signal: null,
    message: 'Exit Code: 3',
    output,
  },
  ...more,
});

const hostile = [
  '<!channel> @here <https://evil.example|ok>',
  '```',
  '    at f (a.js:1:2) *bold* [a](https://evil.example) {{DATE(2020-01-01T00:00:00Z)}}',
  '<script>alert(1)</script> &lt;',
].join('\n');

const recipient = { userId: 'u', username: 'dana', email: 'dana@example.org' };

describe('the alert of a job that failed', () => {
  it('names the job, the exit code and the last output in every message', () => {
    const context = contextOf(failed('reading\nENOENT'));
    const mail = renderEmail(context, recipient);
    for (const message of [renderChatA(context), renderChatB(context), mail.text, mail.html]) {
      for (const part of [
        'nightly',
        'Run Errored: failed with exit code 3',
        'code 3',
        'reading',
        'ENOENT',
        'Last output',
      ]) {
        expect(message).toContain(part);
      }
    }
    expect(mail.subject).toContain('Run Errored: failed with exit code 3 (nightly)');
    expect(mail.text).toContain('Last output:\n  reading\n  ENOENT\n');
    const [notification] = runPayload('nc-1', 'run:errored', failed('x'), workspace).notifications;
    expect(notification).toMatchObject({
      message: 'Run Errored',
      run_job: { namespace: 'default', id: 'nightly' },
      run_outcome: 'failed',
      run_failure: { exit_code: 3, output: 'x' },
    });
  });

  it.each([
    ['timed_out', 'Run Errored: timed out'],
    ['lost', 'Run Errored: lost'],
    ['stopped', 'Run Errored: stopped'],
    ['succeeded', 'Run Errored'],
  ] as const)('tells %s from a failure', (outcome, event) => {
    const context = contextOf(
      failed('x', {
        job: { namespace: 'default', id: 'nightly', outcome: { name: outcome, text: outcome.replace('_', ' ') } },
      }),
    );
    expect(renderEmail(context, recipient).subject).toContain(`${event} (nightly)`);
  });

  it('has no link that leads nowhere', () => {
    const context = contextOf(failed('x'), { url: null });
    expect(renderChatA(context)).not.toContain('|nightly>');
    expect(renderChatB(context)).not.toContain('View run');
  });

  it('quotes output as it is, without markup of its own', () => {
    const context = contextOf(failed(hostile));
    const chatA = JSON.parse(renderChatA(context)) as { attachments: [{ blocks: { text?: { text: string } }[] }] };
    const quoted = chatA.attachments[0].blocks
      .map(({ text }) => text?.text ?? '')
      .find((text) => text.startsWith('*Last'));
    expect(quoted?.match(/```/g)).toHaveLength(2);
    expect(quoted).not.toMatch(/<!|<https/);
    expect(quoted).toContain('\n    at f (a.js:1:2) *bold*');
    const chatB = renderChatB(context).slice(renderChatB(context).indexOf('Last output'));
    expect(chatB).not.toMatch(/\](?=\()|\{\{|(?<![\p{L}\p{N}])@here/u);
    expect(chatB).toContain(String.raw`\\*bold\\*`);
    const { html } = renderEmail(context, recipient);
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain('<pre>');
  });

  it('stays within what the services take, and keeps the last lines', () => {
    for (const line of ['"\\é<&`*'.repeat(120), 'x'.repeat(5000), '漢'.repeat(300)]) {
      const output = [...Array.from({ length: 19 }, () => line), 'the end'].join('\n');
      const context = contextOf(failed(output));
      const blocks = (JSON.parse(renderChatA(context)) as { attachments: [{ blocks: { text?: { text: string } }[] }] })
        .attachments[0].blocks;
      expect(Math.max(...blocks.map(({ text }) => text?.text.length ?? 0))).toBeLessThanOrEqual(3000);
      const card = renderChatB(context).replace(/[^\x20-\x7e]/g, '\\u0000');
      expect(card.length).toBeLessThan(28_000);
      for (const message of [renderChatA(context), renderChatB(context)]) expect(message).toContain('the end');
    }
  });
});
