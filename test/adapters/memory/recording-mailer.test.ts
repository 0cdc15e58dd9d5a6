import { describe, expect, it } from 'vitest';
import { recordingMailer } from '../../../adapters/memory/recording-delivery.js';

const message = { to: 'ada@example.net', subject: 'Run failed', text: 'text', html: '<p>text</p>', headers: {} };

describe('recordingMailer', () => {
  it('keeps messages and fails the chosen ones', async () => {
    const mailer = recordingMailer({
      fail: (_message, n) => (n === 2 ? { type: 'mail_rejected', message: 'no such mailbox' } : null),
    });
    expect((await mailer.send(message))._unsafeUnwrap().messageId).toBe('<1@mail.test>');
    expect((await mailer.send(message))._unsafeUnwrapErr().type).toBe('mail_rejected');
    const named = { ...message, headers: { 'message-id': '<own@example.net>' } };
    expect((await mailer.send(named))._unsafeUnwrap().messageId).toBe('<own@example.net>');
    expect(mailer.messages).toEqual([message, named]);
    await mailer.close();
    expect((await mailer.send(message))._unsafeUnwrapErr().type).toBe('mail_unavailable');
  });
});
