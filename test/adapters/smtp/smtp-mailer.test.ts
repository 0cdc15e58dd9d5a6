import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { envelopeOf, mailAddressFromText, smtpMailer } from '../../../adapters/smtp/smtp-mailer.js';
import type { MailError, Mailer, MailMessage } from '../../../src/ports/mailer.js';
import { freePort, startSilentReceiver } from '../../support/receiver.js';

interface Mailbox {
  readonly url: string;
  readonly port: number;
  readonly mails: { readonly to: string[]; readonly from: string; readonly raw: string; readonly parsed: Email }[];
}

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function mailboxOf(options: SMTPServerOptions = {}): Promise<Mailbox> {
  const mails: Mailbox['mails'] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const raw = Buffer.concat(chunks).toString('utf8');
        const { mailFrom, rcptTo } = session.envelope;
        void PostalMime.parse(raw).then((parsed) => {
          const from = mailFrom === false ? '' : mailFrom.address;
          mails.push({ to: rcptTo.map(({ address }) => address), from, raw, parsed });
          callback();
        });
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, port, mails };
}

/** The answer to a command, `.` for the end of the content; null closes the connection instead. */
type ScriptedAnswers = Readonly<Record<string, string | null>>;

/** A mail server that gives these answers, and to all other commands the usual ones. */
async function scriptedServer(answers: ScriptedAnswers): Promise<{ readonly url: string; contents(): number }> {
  let contents = 0;
  const usual: ScriptedAnswers = { greeting: '220 ready', EHLO: '250 ready', DATA: '354 go on', QUIT: '221 bye' };
  const server = createServer((socket) => {
    let inContent = false;
    const say = (command: string): void => {
      const answer = command in answers ? answers[command] : (usual[command] ?? '250 ok');
      if (answer === null) socket.destroy();
      else socket.write(`${answer}\r\n`);
      if (command === 'DATA' && answer?.startsWith('354')) inContent = true;
    };
    socket.on('error', () => undefined);
    createInterface({ input: socket }).on('line', (line) => {
      if (!inContent) say(line.slice(0, 4).trim().toUpperCase());
      else if (line === '.') {
        inContent = false;
        contents += 1;
        say('.');
      }
    });
    say('greeting');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
  const { port } = server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, contents: () => contents };
}

function mailerOf(settings: Partial<Parameters<typeof smtpMailer>[0]> & { url: string }): Mailer {
  const { url, totalTimeout = 5000, ...others } = settings;
  const connections = 'connections' in others ? { connections: others.connections } : {};
  const mailer = smtpMailer({ from: 'Signalbox <alerts@example.net>', url, totalTimeout, ...connections });
  opened.push(mailer);
  return mailer;
}

function message(changes: Partial<MailMessage> = {}): MailMessage {
  return {
    to: 'ada@example.org',
    subject: 'Run failed',
    text: 'It failed.',
    html: '<p>It failed.</p>',
    headers: {},
    ...changes,
  };
}

async function errorOf(mailer: Mailer, given: MailMessage): Promise<MailError> {
  return (await mailer.send(given)).match(
    () => expect.fail('the mail was sent'),
    (error) => error,
  );
}

function failing(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

describe('smtpMailer', () => {
  it.each([2 ** 31, Number.POSITIVE_INFINITY])('may have %s ms for a mail', async (totalTimeout) => {
    const mailbox = await mailboxOf();
    const sent = await mailerOf({ ...mailbox, totalTimeout }).send(message());
    expect(sent.isOk()).toBe(true);
  });

  it('sends text and HTML with all headers, in any script', async () => {
    const mailbox = await mailboxOf();
    const mailer = mailerOf(mailbox);
    const sent = await mailer.send(
      message({
        subject: 'Běh selhal 🐎',
        text: 'Žluťoučký kůň\n.leading dot\n',
        html: '<p>Žluťoučký <b>kůň</b></p>',
        headers: {
          'message-id': '<ne-1.nc-2@example.net>',
          references: '<run-1@example.net>',
          'auto-submitted': 'auto-generated',
          'list-unsubscribe': '<https://example.net/unsubscribe>',
        },
      }),
    );
    expect(sent._unsafeUnwrap()).toEqual({ messageId: '<ne-1.nc-2@example.net>' });
    const mail = mailbox.mails[0];
    expect(mail).toMatchObject({ from: 'alerts@example.net', to: ['ada@example.org'] });
    expect(mail?.parsed).toMatchObject({
      subject: 'Běh selhal 🐎',
      from: { name: 'Signalbox', address: 'alerts@example.net' },
      to: [{ name: '', address: 'ada@example.org' }],
      messageId: '<ne-1.nc-2@example.net>',
      references: '<run-1@example.net>',
    });
    expect(mail?.parsed.text?.trim()).toBe('Žluťoučký kůň\n.leading dot');
    expect(mail?.parsed.html?.trim()).toBe('<p>Žluťoučký <b>kůň</b></p>');
    const headers = new Map(mail?.parsed.headers.map(({ key, value }) => [key, value]));
    expect(headers.get('auto-submitted')).toBe('auto-generated');
    expect(headers.get('list-unsubscribe')).toBe('<https://example.net/unsubscribe>');
    expect(mail?.raw.match(/^message-id:/gim)).toHaveLength(1);
  });

  it('makes a message id when none is given', async () => {
    const mailbox = await mailboxOf();
    const { messageId } = (await mailerOf(mailbox).send(message()))._unsafeUnwrap();
    expect(messageId).toMatch(/^<[^<>@]+@example\.net>$/);
    expect(mailbox.mails[0]?.parsed.messageId).toBe(messageId);
  });

  it('sends many over few connections', async () => {
    let connections = 0;
    const mailbox = await mailboxOf({
      onConnect: (_session, callback) => {
        connections += 1;
        callback();
      },
    });
    const mailer = mailerOf({ ...mailbox, connections: 2 });
    const results = await Promise.all(Array.from({ length: 12 }, (_, n) => mailer.send(message({ subject: `${n}` }))));
    expect(results.every((result) => result.isOk())).toBe(true);
    expect(mailbox.mails).toHaveLength(12);
    expect(connections).toBeLessThanOrEqual(2);
  });

  it.each<[string, Partial<MailMessage>]>([
    ['subject', { subject: 'Hello\r\nBcc: eve@example.org\r\n\r\nbody' }],
    ['bare line feed', { subject: 'Hello\nBcc: eve@example.org' }],
    ['header value', { headers: { 'x-note': 'a\r\nBcc: eve@example.org\r\n\r\nbody' } }],
    ['message id', { headers: { 'message-id': '<a@b>\r\nBcc: eve@example.org' } }],
    ['references', { headers: { references: '<a@b>\r\n\r\nBcc: eve@example.org' } }],
    ['separator', { subject: 'Hello\u2028Bcc: eve@example.org\u0085x\u0000' }],
  ])('keeps one header one header: %s', async (_name, changes) => {
    const mailbox = await mailboxOf();
    expect((await mailerOf(mailbox).send(message(changes))).isOk()).toBe(true);
    const mail = mailbox.mails[0];
    expect(mail?.to).toEqual(['ada@example.org']);
    expect(mail?.parsed.bcc).toBeUndefined();
    expect(mail?.parsed.headers.some(({ key }) => key === 'bcc')).toBe(false);
    expect(mail?.parsed.text?.trim()).toBe('It failed.');
  });

  it.each([
    '',
    'ada',
    'ada@example.org, eve@example.org',
    'ada@example.org;eve@example.org',
    'Ada <ada@example.org>',
    'ada@example.org\r\nBcc: eve@example.org',
    'ada@example.org>\r\nRCPT TO:<eve@example.org',
    'ada @example.org',
    'ada@eve@example.org',
  ])('takes "%s" for no recipient', async (to) => {
    const mailbox = await mailboxOf();
    const error = await errorOf(mailerOf(mailbox), message({ to }));
    expect(error.type).toBe('mail_rejected');
    expect(mailbox.mails).toEqual([]);
  });

  it.each([
    { bcc: 'eve@example.org' },
    { To: 'eve@example.org' },
    { From: 'boss@example.org' },
    { 'content-type': 'text/html' },
    { 'x bad': 'y' },
    { 'x-bad:': 'y' },
  ] as Record<string, string>[])('does not let a caller set %o', async (headers) => {
    const mailbox = await mailboxOf();
    expect((await errorOf(mailerOf(mailbox), message({ headers }))).type).toBe('mail_rejected');
    expect(mailbox.mails).toEqual([]);
  });

  it.each([
    [550, 'mail_rejected'],
    [552, 'mail_rejected'],
    [421, 'mail_unavailable'],
    [451, 'mail_unavailable'],
  ] as const)('takes a refused recipient with %d as %s', async (status, type) => {
    const mailbox = await mailboxOf({
      onRcptTo: (_to, _session, callback) => callback(failing(status, 'No such user')),
    });
    const error = await errorOf(mailerOf(mailbox), message());
    expect(error.type).toBe(type);
    expect(error.message).toContain(String(status));
  });

  it.each<[string, ScriptedAnswers, MailError['type'], string]>([
    [
      'greeting',
      { greeting: '554 no service here' },
      'mail_unavailable',
      'refused the connection: 554 no service here',
    ],
    ['hello', { EHLO: '550 go away', HELO: '550 go away' }, 'mail_unavailable', 'refused the connection: 550 go away'],
    ['sender', { MAIL: '550 not yours' }, 'mail_rejected', 'rejected the message: 550 not yours'],
    ['TLS', { MAIL: '530 Must issue STARTTLS' }, 'mail_unavailable', 'requires other credentials or TLS (530)'],
    ['data', { DATA: '554 no' }, 'mail_rejected', 'rejected the message: 554 no'],
    ['no SMTP', { RCPT: 'hello there' }, 'mail_unavailable', 'is unavailable (EENVELOPE)'],
    [
      'pipelined',
      { EHLO: '250-x\r\n250 PIPELINING', RCPT: '450 later', DATA: '503 no recipients' },
      'mail_unavailable',
      '450 later',
    ],
    ['closed after the content', { '.': null }, 'mail_unavailable', 'is unavailable (ECONNECTION)'],
  ])('takes a refusal for permanent only where the message is refused: %s', async (_name, answers, type, text) => {
    const server = await scriptedServer(answers);
    const error = await errorOf(mailerOf({ url: server.url }), message());
    expect(error).toEqual({ type, message: expect.stringContaining(text) });
    expect(server.contents()).toBe('.' in answers ? 1 : 0);
  });

  it('takes a message refused after its data by its status', async () => {
    const mailbox = await mailboxOf({
      onData: (stream, _session, callback) => {
        stream.resume();
        stream.on('end', () => callback(failing(554, 'Looks like spam')));
      },
    });
    expect((await errorOf(mailerOf(mailbox), message())).type).toBe('mail_rejected');
  });

  it('logs in, and takes a failed login for something that may pass, showing no credentials', async () => {
    const mailbox = await mailboxOf({
      authOptional: false,
      authMethods: ['PLAIN'],
      allowInsecureAuth: true,
      onAuth: (auth, _session, callback) => {
        if (auth.password === 'right-secret') callback(null, { user: auth.username });
        else callback(failing(535, `no access for ${auth.username} with ${auth.password}`));
      },
    });
    const urlOf = (password: string): string => `smtp://mail-user:${password}@127.0.0.1:${mailbox.port}`;
    expect((await mailerOf({ url: urlOf('right-secret') }).send(message())).isOk()).toBe(true);
    const error = await errorOf(mailerOf({ url: urlOf('wrong-secret') }), message());
    expect(error.type).toBe('mail_unavailable');
    expect(error.message).toContain('535');
    expect(JSON.stringify(error)).not.toMatch(/wrong-secret|mail-user/);
  });

  it('is unavailable when nobody listens, and works again later on the same mailer', async () => {
    const port = await freePort();
    const error = await errorOf(mailerOf({ url: `smtp://user:secret@127.0.0.1:${port}` }), message());
    expect(error.type).toBe('mail_unavailable');
    expect(error.message).not.toContain('secret');
    let refuse = true;
    const mailbox = await mailboxOf({
      onConnect: (_session, callback) => (refuse ? callback(failing(421, 'Busy')) : callback()),
    });
    const mailer = mailerOf(mailbox);
    expect((await errorOf(mailer, message())).type).toBe('mail_unavailable');
    refuse = false;
    expect((await mailer.send(message())).isOk()).toBe(true);
  });

  it('gives up at the deadline: with a server that is silent, and one that does not take the data', async () => {
    const silent = await startSilentReceiver();
    opened.push(silent);
    const started = performance.now();
    const error = await errorOf(mailerOf({ url: `smtp://127.0.0.1:${silent.port}`, totalTimeout: 150 }), message());
    expect(error.type).toBe('mail_unavailable');
    const mailbox = await mailboxOf({ onData: (stream) => void stream.resume() });
    const mailer = mailerOf({ ...mailbox, totalTimeout: 150, connections: 1 });
    const errors = await Promise.all([errorOf(mailer, message()), errorOf(mailer, message())]);
    expect(errors.map(({ type }) => type)).toEqual(['mail_unavailable', 'mail_unavailable']);
    expect(performance.now() - started).toBeLessThan(4000);
  });

  it('sends nothing after closing', async () => {
    const mailbox = await mailboxOf();
    const mailer = mailerOf(mailbox);
    expect((await mailer.send(message())).isOk()).toBe(true);
    await mailer.close();
    await mailer.close();
    expect((await errorOf(mailer, message())).type).toBe('mail_unavailable');
  });

  it('takes options of the transport, and refuses a sender that is none', async () => {
    const mailbox = await mailboxOf();
    const transport = { host: '127.0.0.1', port: mailbox.port, ignoreTLS: true };
    const mailer = smtpMailer({ from: 'alerts@example.net', transport });
    opened.push(mailer);
    expect((await mailer.send(message())).isOk()).toBe(true);
    expect(mailbox.mails[0]?.parsed.from).toEqual({ name: '', address: 'alerts@example.net' });
    for (const from of ['', 'alerts', 'a@example.net, b@example.net', 'A <a@example.net>\r\nBcc: b@example.net']) {
      expect(() => smtpMailer({ from, transport })).toThrow(TypeError);
    }
  });
});

describe('envelopeOf', () => {
  it('leaves no control character and no line separator in anything, whatever is given', () => {
    const text = fc.string({
      unit: fc.oneof(fc.string({ unit: 'binary', maxLength: 1 }), fc.constantFrom('\r', '\n', '\0')),
    });
    fc.assert(
      fc.property(text, text, text, text, (to, subject, name, value) => {
        const envelope = envelopeOf({ to, subject, text: '', html: '', headers: { [name]: value } });
        const checked = envelopeOf({
          to: 'ada@example.org',
          subject,
          text: '',
          html: '',
          headers: { 'x-note': value, 'message-id': value, references: value },
        });
        for (const result of [envelope, checked]) {
          if (result.isErr()) continue;
          const { headers, messageId, references, subject: line, to: recipient } = result.value;
          const all = [recipient, line, messageId, references, ...Object.keys(headers), ...Object.values(headers)];
          for (const part of all) expect(part ?? '').not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        }
        expect(checked.isOk()).toBe(true);
      }),
    );
  });

  it('takes message-id and references out of the other headers, in any spelling', () => {
    const headers = { 'Message-ID': '<a@b>', References: '<c@d>', 'X-Note': 'n' };
    const envelope = envelopeOf({ to: 'ada@example.org', subject: 's', text: '', html: '', headers });
    expect(envelope._unsafeUnwrap()).toEqual({
      to: 'ada@example.org',
      subject: 's',
      messageId: '<a@b>',
      references: '<c@d>',
      headers: { 'X-Note': 'n' },
    });
  });
});

describe('mailAddressFromText', () => {
  it.each([
    ['a@b.example', { name: '', address: 'a@b.example' }],
    [' a@b.example ', { name: '', address: 'a@b.example' }],
    ['Ada L. <a@b.example>', { name: 'Ada L.', address: 'a@b.example' }],
    ['"Lovelace, Ada" <a@b.example>', { name: 'Lovelace, Ada', address: 'a@b.example' }],
  ])('reads %s', (text, address) => {
    expect(mailAddressFromText(text)).toEqual(address);
  });

  it.each(['', 'a', '@b', 'a@', 'a@b, c@d', 'A <a@b> <c@d>', 'A\r\nB: c <a@b>'])('refuses "%s"', (text) => {
    expect(mailAddressFromText(text)).toBeNull();
  });
});
