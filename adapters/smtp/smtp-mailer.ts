import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { SMTPPoolOptions, SMTPPoolSentMessageInfo, SMTPTransportOptions, Transporter } from 'nodemailer';
import { isMailAddress } from '../../src/notifications/workspace.js';
import { checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { amount, optional, text, textLike } from '../../src/options/option-kinds.js';
import type { MailError, Mailer, MailMessage } from '../../src/ports/mailer.js';
import { type Milliseconds, timerOf } from '../../src/shared/duration.js';
import { isRecord } from '../../src/shared/values.js';

/** The sender, and the mail server with its credentials. */
export type SmtpMailerSettings = {
  /** The sender: `alerts@example.net` or `Alerts <alerts@example.net>`. */
  readonly from: string;
  /** Timeout in milliseconds from the call to the server's acceptance, including the wait for a free connection. Default: 30 s. */
  readonly totalTimeout?: Milliseconds;
  /** The most concurrent connections to the server. Default: 3. */
  readonly connections?: number;
} & (
  | { /** `smtp://user:password@host:587` or `smtps://…`. */ readonly url: string }
  | { /** Options of nodemailer's SMTP transport. */ readonly transport: SMTPTransportOptions }
);

const settingTable: OptionTable<Record<'from' | 'totalTimeout' | 'connections' | 'url' | 'transport', unknown>> = {
  from: text,
  totalTimeout: optional(amount),
  connections: optional(amount),
  url: optional(textLike(/^smtps?:\/\//i, 'a URL such as smtp://user:password@mail.example.net:587')),
  transport: optional({ takes: "options of nodemailer's SMTP transport", fits: isRecord }),
};

type Pool = Transporter<SMTPPoolSentMessageInfo, SMTPPoolOptions>;

/**
 * Mail over SMTP by nodemailer 10, an optional peer that is loaded at the first message. A refusal of the sender, the recipient or the
 * content with a status from 500 is permanent (`mail_rejected`); every other failure is temporary (`mail_unavailable`). That includes
 * refused connections and failed logins, because they are not caused by the message. Throws a TypeError for an invalid sender
 * and for missing, unknown or mistyped settings.
 */
export function smtpMailer(settings: SmtpMailerSettings): Mailer {
  checkOptions('smtpMailer', settings, settingTable);
  if ('url' in settings === 'transport' in settings) throw new TypeError('smtpMailer: give either url or transport');
  const from = mailAddressFromText(settings.from);
  if (from === null) throw new TypeError('from must be one address, for example Alerts <alerts@example.net>');
  const totalTimeout = timerOf(settings.totalTimeout ?? 30_000);
  let loading: Promise<Pool> | null = null;
  let closed = false;

  const send = async (message: MailMessage): Promise<Result<{ readonly messageId: string }, MailError>> => {
    const envelope = envelopeOf(message);
    if (envelope.isErr()) return err({ type: 'mail_rejected', message: envelope.error });
    if (closed) return unavailable('the mailer is closed');
    loading ??= load(settings, totalTimeout);
    const deadline = AbortSignal.timeout(totalTimeout);
    try {
      const pool = await loading;
      const info = await pool.sendMail({ ...mailOf(from, message, envelope.value), signal: deadline });
      return ok({ messageId: info.messageId });
    } catch (error) {
      if (error === loadingFailed) loading = null;
      if (deadline.aborted) return unavailable(`the mail server did not accept the message within ${totalTimeout} ms`);
      return err(mailErrorFrom(error));
    }
  };

  return {
    send: (message) => new ResultAsync(send(message)),
    close: async () => {
      closed = true;
      if (loading !== null) (await loading.catch(() => null))?.close({ force: true });
    },
  };
}

const loadingFailed = new Error('nodemailer could not be loaded');

async function load(settings: SmtpMailerSettings, totalTimeout: Milliseconds): Promise<Pool> {
  const { createTransport } = await import('nodemailer').catch(() => {
    throw loadingFailed;
  });
  return createTransport({
    // The default timeouts of nodemailer are minutes, longer than the caller's deadline.
    connectionTimeout: Math.min(10_000, totalTimeout),
    greetingTimeout: Math.min(10_000, totalTimeout),
    dnsTimeout: Math.min(10_000, totalTimeout),
    socketTimeout: totalTimeout,
    ...('url' in settings ? { url: settings.url } : settings.transport),
    pool: true,
    maxConnections: settings.connections ?? 3,
    // The content of a message must not make the mailer read files or fetch URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function mailOf(from: MailAddress, message: MailMessage, { to, subject, headers, messageId, references }: Envelope) {
  return {
    // As objects: a string would be parsed as a list of addresses.
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text: message.text,
    html: message.html,
    headers,
    ...(messageId === null ? {} : { messageId }),
    ...(references === null ? {} : { references }),
  };
}

function mailErrorFrom(error: unknown): MailError {
  if (error === loadingFailed) {
    return {
      type: 'mail_unavailable',
      message: 'nodemailer could not be loaded; install nodemailer 10',
    };
  }
  const code = textOf(error, 'code');
  const status = statusOf(error);
  // The server's message is left out, because some servers repeat the user name.
  if (code === 'EAUTH') return refusedLogin('refused the login', status);
  if (status >= 530 && status <= 539) return refusedLogin('requires other credentials or TLS', status);
  const response = textOf(error, 'response')
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 200);
  if (status > 0) return refusal(code, status, response);
  if (code === 'EENVELOPE' && response === '') {
    return { type: 'mail_rejected', message: 'the mail server did not accept the recipient' };
  }
  return { type: 'mail_unavailable', message: `the mail server is unavailable${code === '' ? '' : ` (${code})`}` };
}

/** Statuses 530, 534, 535 and 538 concern the login, whatever the command. */
function refusedLogin(what: string, status: number): MailError {
  return { type: 'mail_unavailable', message: `the mail server ${what}${status > 0 ? ` (${status})` : ''}` };
}

/** Responses to the sender, recipient and content refuse the message; earlier ones refuse the connection. */
function refusal(code: string, status: number, response: string): MailError {
  if (status < 500) return { type: 'mail_unavailable', message: `the mail server deferred the message: ${response}` };
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    return { type: 'mail_rejected', message: `the mail server rejected the message: ${response}` };
  }
  return { type: 'mail_unavailable', message: `the mail server refused the connection: ${response}` };
}

function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('responseCode' in error)) return 0;
  return typeof error.responseCode === 'number' ? error.responseCode : 0;
}

function textOf(error: unknown, name: 'code' | 'response'): string {
  if (typeof error !== 'object' || error === null) return '';
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : '';
}

function unavailable(message: string): Result<never, MailError> {
  return err({ type: 'mail_unavailable', message });
}

interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** The checked addresses and headers of a message: nothing in them can end a header line or add a recipient. */
interface Envelope {
  readonly to: string;
  readonly subject: string;
  readonly headers: Record<string, string>;
  readonly messageId: string | null;
  readonly references: string | null;
}

/** Headers that are derived from the message itself; a second one could contradict it. */
const ownHeaders = new Set([
  'bcc',
  'cc',
  'content-transfer-encoding',
  'content-type',
  'date',
  'from',
  'mime-version',
  'resent-bcc',
  'resent-cc',
  'resent-to',
  'return-path',
  'sender',
  'subject',
  'to',
]);

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
const longestHeader = 2000;

/** `name@host` or `Name <name@host>`; null for anything else, including several addresses. */
export function mailAddressFromText(text: string): MailAddress | null {
  const named = /^([^<>\p{Cc}]*)<([^<>]+)>\s*$/u.exec(text);
  const bare = (named?.[2] ?? text).trim();
  if (!isMailAddress(bare)) return null;
  return { name: (named?.[1] ?? '').trim().replace(/^"(.*)"$/, '$1'), address: bare };
}

/**
 * The checked addressing of a message. Line breaks in the subject and in header values become spaces; a recipient that is not
 * exactly one address, or a header that the caller must not set, is an error with a message.
 */
export function envelopeOf(message: MailMessage): Result<Envelope, string> {
  if (!isMailAddress(message.to)) return err('the recipient must be exactly one address without a display name');
  const headers: Record<string, string> = {};
  let messageId: string | null = null;
  let references: string | null = null;
  for (const [name, value] of Object.entries(message.headers)) {
    const lower = name.toLowerCase();
    if (!headerName.test(name)) return err('invalid header name');
    if (ownHeaders.has(lower)) return err(`the mailer sets the header ${lower}: it cannot be given`);
    const line = onOneLine(value, longestHeader);
    if (lower === 'message-id') messageId = line;
    else if (lower === 'references') references = line;
    else headers[name] = line;
  }
  return ok({ to: message.to, subject: onOneLine(message.subject, 500), headers, messageId, references });
}

/** Removes control characters, so that the value remains one header, and truncates it. */
function onOneLine(text: string, longest: number): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, longest)
    .trim();
}
