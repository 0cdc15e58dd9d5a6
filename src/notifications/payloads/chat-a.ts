import { unixSecondsFromInstant } from '../../shared/instant.js';
import {
  type Fact,
  type MessageContext,
  type MessageOutline,
  messageOutline,
  summaryOf,
  type Tone,
  timeText,
} from './message-outline.js';
import { type Escaping, escapeLastLines, escapeWithin, lengthOf, withoutMentions } from './text.js';

/** Characters, below the service's own limits: 3,000 in a section, 2,000 in a field, 40,000 in all. */
const limits = { label: 300, summary: 500, section: 2900, title: 200, field: 1500, output: 2800 } as const;

const colours: Readonly<Record<Tone, string>> = {
  quiet: '#8a9199',
  attention: '#e2a33d',
  progress: '#3f7de0',
  success: '#2eb67d',
  failure: '#d64545',
};

/**
 * The message for a chat-a destination, as JSON text: a line with the workspace, and an attachment of blocks in the event's
 * colour. User strings are plain text where the format allows it, and escaped everywhere.
 */
export function renderChatA(context: MessageContext): string {
  const outline = messageOutline(context);
  const { introduction, workspace, tone } = outline;
  return JSON.stringify({
    text:
      workspace === null
        ? escaped(introduction, limits.label)
        : `${introduction} ${link(workspace.label, workspace.link)}`,
    attachments: [
      { color: colours[tone], fallback: escaped(summaryOf(outline), limits.summary), blocks: blocksOf(outline) },
    ],
  });
}

function blocksOf({ item, event, reason, person, facts, output }: MessageOutline): object[] {
  const title = item === null ? escaped(event, limits.label) : link(`${item.label} ${item.id}`, item.link);
  const blocks: object[] = [{ type: 'section', text: markup(`*${title}*`) }];
  if (reason !== null) blocks.push({ type: 'section', text: plain(reason, limits.section) });
  // The service allows ten fields in a section. No outline has more.
  blocks.push({ type: 'section', fields: facts.slice(0, 10).map((fact) => markup(fieldText(fact))) });
  if (output !== null) blocks.push({ type: 'section', text: markup(outputText(output)) });
  if (person !== null) {
    const name = plain(person.name, limits.label);
    const picture = { type: 'image', image_url: person.avatar, alt_text: name.text };
    blocks.push({ type: 'context', elements: person.avatar === null ? [name] : [picture, name] });
  }
  return blocks;
}

function fieldText({ title, value }: Fact): string {
  const text = typeof value === 'string' ? escaped(value, limits.field) : localTime(value.at);
  return `*${escaped(title, limits.title)}*\n${text}`;
}

/** A code block that the output cannot close. */
function outputText(output: string): string {
  const lines = escapeLastLines(withoutMentions(output), limits.output, {
    ...entities,
    escape: (piece) => entities.escape(piece).replace(/`(?=`)/g, '`\u2060'),
  });
  return `*Last output*\n\`\`\`\n${lines.join('\n')}\n\`\`\``;
}

/** A time that each client shows in its reader's time zone; others show UTC. */
function localTime(at: number): string {
  return `<!date^${unixSecondsFromInstant(at)}^{date_short_pretty} {time}|${timeText(at)}>`;
}

/** `verbatim`: bare addresses and names in the text become neither links nor mentions. */
function markup(text: string) {
  return { type: 'mrkdwn', text, verbatim: true };
}

function plain(text: string, limit: number) {
  return { type: 'plain_text', text: escaped(text, limit), emoji: false };
}

function link(label: string, address: string | null): string {
  const text = escaped(label, limits.label);
  return address === null ? text : `<${address.replaceAll('&', '&amp;')}|${text}>`;
}

const entities: Escaping = {
  escape: (piece) => piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  costOf: lengthOf,
};

function escaped(text: string, limit: number): string {
  return escapeWithin(withoutMentions(text.slice(0, limit + 1)), limit, entities);
}
