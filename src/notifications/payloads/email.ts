import {
  type MessageContext,
  type MessageOutline,
  messageOutline,
  type Recipient,
  type RenderedEmail,
  timeText,
} from './message-outline.js';
import { type Escaping, escapeLastLines, escapeWithin, lengthOf, linkFrom, onOneLine } from './text.js';

/** Characters before escaping. */
const limits = { subject: 200, title: 100, line: 500, reason: 20_000 } as const;

/**
 * The mail for one recipient, as a string and as HTML with the same content: the event, whether a decision is needed, the object,
 * the reason, the user and time, and why the recipient gets it. No value can end the line of a header.
 */
export function renderEmail(context: MessageContext, recipient: Recipient): RenderedEmail {
  const outline = messageOutline(context);
  const sections = sectionsOf(outline, context, recipient);
  return {
    subject: subjectOf(outline),
    text: textOf(sections),
    html: htmlOf(sections),
    headers: headersOf(context, recipient),
  };
}

/** `[acme/net] Run Planned - Needs Confirmation (run-4bVx…)`: the event first, because mail programs show the beginning. */
function subjectOf({ workspace, event, item }: MessageOutline): string {
  const where = workspace === null ? '' : `[${asText(workspace.label, 80)}] `;
  const which = item === null ? '' : ` (${shortened(item.id)})`;
  return where + asText(event, limits.subject - where.length - which.length) + which;
}

function shortened(id: string): string {
  return /^run-\w{6,}$/.test(id) ? `${id.slice(0, 8)}…` : asText(id, 40);
}

/** The content of both parts. */
interface Sections {
  readonly headline: string;
  readonly action: string;
  readonly rows: readonly Row[];
  readonly reason: string | null;
  /** The last lines of a task's output. */
  readonly output: readonly string[];
  readonly footer: string;
  readonly settings: string | null;
}

interface Row {
  readonly title: string;
  readonly value: string;
  readonly link: string | null;
}

function sectionsOf(outline: MessageOutline, { configuration }: MessageContext, recipient: Recipient): Sections {
  const { workspace, item, person } = outline;
  const rows: Row[] = [];
  const add = (title: string, value: string, link: string | null = null): void => {
    rows.push({ title: asText(title, limits.title), value: asText(value, limits.line), link });
  };
  if (workspace !== null) add('Workspace', workspace.label, workspace.link);
  if (item !== null) add(item.label, item.id, item.link);
  if (person !== null) add('Created by', person.name);
  for (const { title, value, isMember } of outline.facts) {
    // The headline and the rows above already show these.
    const isKnown = isMember !== true && (title === 'Event' || title === item?.label);
    if (!isKnown) add(title, typeof value === 'string' ? value : timeText(value.at));
  }
  const name = asText(onOneLine(configuration.name), limits.line);
  const username = asText(onOneLine(recipient.username), limits.line);
  return {
    headline: asText(outline.event, limits.line),
    action: outline.action.sentence,
    rows,
    reason: outline.reason === null ? null : asText(outline.reason, limits.reason),
    output: outline.output === null ? [] : escapeLastLines(outline.output, limits.reason, asItIs),
    footer: `${username} gets this mail as a recipient of the notification configuration “${name}”.`,
    settings: linkFrom(configuration.url),
  };
}

function textOf({ headline, action, rows, reason, output, footer, settings }: Sections): string {
  const width = Math.max(0, ...rows.map(({ title }) => title.length + 2));
  const lines = [headline, '', action, ''];
  for (const { title, value, link } of rows) {
    lines.push(`${`${title}:`.padEnd(width)}${value}`);
    if (link !== null) lines.push(`${' '.repeat(width)}${link}`);
  }
  // Indented, so that no line of user input can be mistaken for ours.
  if (reason !== null) lines.push('', 'Message:', ...reason.split('\n').map((line) => `  ${line}`.trimEnd()));
  if (output.length > 0) lines.push('', 'Last output:', ...output.map((line) => `  ${line}`.trimEnd()));
  lines.push('', '-- ', footer);
  if (settings !== null) lines.push(`Settings: ${settings}`);
  return `${lines.join('\n')}\n`;
}

function htmlOf({ headline, action, rows, reason, output, footer, settings }: Sections): string {
  const cell = ({ value, link }: Row): string => (link === null ? html(value) : anchor(link, value));
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"></head>',
    '<body style="font-family:sans-serif;font-size:14px;line-height:1.5">',
    `<h1 style="font-size:18px">${html(headline)}</h1>`,
    `<p><strong>${html(action)}</strong></p>`,
    ...(rows.length === 0 ? [] : ['<table cellpadding="2">']),
    ...rows.map((row) => `<tr><th align="left" valign="top">${html(row.title)}</th><td>${cell(row)}</td></tr>`),
    ...(rows.length === 0 ? [] : ['</table>']),
    ...(reason === null ? [] : [`<blockquote>${html(reason).replaceAll('\n', '<br>')}</blockquote>`]),
    ...(output.length === 0 ? [] : [`<p>Last output:</p><pre>${html(output.join('\n'))}</pre>`]),
    `<p><small>${html(footer)}${settings === null ? '' : ` ${anchor(settings, 'Settings')}`}</small></p>`,
    '</body></html>',
    '',
  ].join('\n');
}

function anchor(link: string, label: string): string {
  return `<a href="${html(link)}">${html(label)}</a>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

const asItIs: Escaping = { escape: (piece) => piece, costOf: lengthOf };

function asText(text: string, limit: number): string {
  return escapeWithin(text, limit, asItIs);
}

/**
 * The same for every attempt of a delivery, so that mail programs show a mail that was sent twice only once; mails about one run share
 * a reference, so that they form one conversation. Auto-responders must not answer (RFC 3834).
 */
function headersOf({ configuration, subject, deliveryId }: MessageContext, { userId }: Recipient) {
  const host = hostOf(configuration.url);
  const headers: Record<string, string> = {
    'message-id': `<${identifier(deliveryId)}.${identifier(userId)}@${host}>`,
    'auto-submitted': 'auto-generated',
  };
  if (subject.kind !== 'run') return headers;
  const conversation = `<${identifier(subject.runId)}@${host}>`;
  return { ...headers, 'in-reply-to': conversation, references: conversation };
}

/** Characters that may stand in a message identifier; the end of a long one, which is where identifiers differ. */
function identifier(text: string): string {
  const encoded = encodeURIComponent(text.replace(/\p{Surrogate}/gu, ''))
    .replace(/[().]/g, '_')
    .slice(-150);
  return encoded === '' ? '_' : encoded;
}

function hostOf(address: string): string {
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) ? host : 'signalbox.invalid';
}
