import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { expect, test } from 'vitest';
import { smtpMailer } from '../../../adapters/smtp/index.js';
import { renderEmail } from '../../../src/notifications/payloads/email.js';
import { messages, recipient } from './message-samples.js';

test('arrives as it was rendered, through a real mail server', async () => {
  const arrived: { readonly to: readonly string[]; readonly mail: Email }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        void PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
          arrived.push({ to: session.envelope.rcptTo.map(({ address }) => address), mail });
          callback();
        });
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.server.address() as AddressInfo;
  const mailer = smtpMailer({ from: 'alerts@example.net', url: `smtp://127.0.0.1:${port}`, connections: 1 });

  for (const [name, context] of messages) {
    const rendered = renderEmail(context, recipient);
    const sent = await mailer.send({ to: recipient.email, ...rendered });
    expect(sent.isOk(), name).toBe(true);
    const { to, mail } = arrived.at(-1)!;
    expect(to).toEqual([recipient.email]);
    expect(mail.subject).toBe(rendered.subject);
    expect(mail.text?.trimEnd()).toBe(rendered.text.trimEnd());
    expect(mail.html?.trimEnd()).toBe(rendered.html.trimEnd());
    expect(mail.messageId).toBe(rendered.headers['message-id']);
    expect(mail.references).toBe(rendered.headers['references']);
    expect(mail.inReplyTo).toBe(rendered.headers['in-reply-to']);
    const names = mail.headers.map(({ key }) => key);
    expect(names).toContain('auto-submitted');
    expect(names).not.toContain('bcc');
  }
  await mailer.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});
