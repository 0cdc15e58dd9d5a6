import { err, ok, type Result } from 'neverthrow';
import { isMailAddress } from '../../src/notifications/user.js';
import type { MailMessage } from '../../src/ports/mailer.js';

export interface MailAddress {
  readonly name: string;
  readonly address: string;
}

/** The checked addresses and headers of a message: nothing in them can end a header line or add a recipient. */
export interface Envelope {
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
