import { type Fact, type MessageContext, type MessageOutline, messageOutline, timeText } from './message-outline.js';
import { type Escaping, escapeLastLines, escapeWithin, jsonLengthOf, lengthOf, withoutMentions } from './text.js';

/**
 * Bytes in the longest JSON form. With three links of at most 2,048 bytes the message stays below 28,000 bytes, which
 * is the service's limit, even when an intermediary escapes every character outside ASCII.
 */
const limits = { label: 1200, reason: 12_000, title: 200, fact: 1200, factBesideOutput: 500, output: 5000 } as const;

/**
 * The message for a chat-b destination, as JSON text: an Adaptive Card in a message envelope. Version 1.4 is the highest
 * that every client of the service shows.
 */
export function renderChatB(context: MessageContext): string {
  const outline = messageOutline(context);
  const { facts, output } = outline;
  const factLimit = output === null ? limits.fact : limits.factBesideOutput;
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      { type: 'TextBlock', size: 'Medium', weight: 'Bolder', wrap: true, text: headingOf(outline) },
      ...authorOf(outline),
      {
        type: 'FactSet',
        facts: facts.map((fact) => factOf(fact, factLimit)),
      },
      ...outputOf(output),
    ],
    ...actionsOf(outline),
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content }] });
}

/** Titles can be user input, too. Their length is subtracted from that of the value. */
function factOf({ title, value }: Fact, limit: number): object {
  const name = escaped(title, limits.title);
  return {
    title: name,
    value: typeof value === 'string' ? escaped(value, limit - jsonLengthOf(name)) : timeText(value.at),
  };
}

function headingOf({ introduction, workspace }: MessageOutline): string {
  if (workspace === null) return escaped(introduction, limits.label);
  const label = escaped(workspace.label, limits.label);
  return `${introduction} ${workspace.link === null ? label : `[${label}](${workspace.link})`}`;
}

/** The user and the message. A picture without an address would make the whole card invalid, so its column is then left out. */
function authorOf({ person, reason }: MessageOutline): object[] {
  const items = [
    ...(person === null ? [] : [{ type: 'TextBlock', text: escaped(person.name, limits.label), wrap: true }]),
    ...(reason === null
      ? []
      : [{ type: 'TextBlock', text: escaped(reason, limits.reason), wrap: true, isSubtle: true }]),
  ];
  if (items.length === 0) return [];
  const text = { type: 'Column', width: 'stretch', items };
  if (person === null || person.avatar === null) return [{ type: 'ColumnSet', columns: [text] }];
  const altText = escapeWithin(withoutMentions(person.name), 100, asItIs);
  const image = { type: 'Image', url: person.avatar, altText, size: 'Small', style: 'Person' };
  return [{ type: 'ColumnSet', columns: [{ type: 'Column', width: 'auto', items: [image] }, text] }];
}

/** A line of output is a separate block: cards join lines otherwise. */
function outputOf(output: string | null): object[] {
  if (output === null) return [];
  const lines = escapeLastLines(withoutMentions(output), limits.output, markdown);
  const block = (text: string) => ({
    type: 'TextBlock',
    text,
    fontType: 'Monospace',
    size: 'Small',
    wrap: true,
    spacing: 'None',
  });
  const items = lines.map((line) => block(line === '' ? ' ' : line));
  return [{ type: 'Container', items: [{ type: 'TextBlock', text: 'Last output', weight: 'Bolder' }, ...items] }];
}

function actionsOf({ item, workspace }: MessageOutline): object {
  const open = (title: string, url: string) => ({ actions: [{ type: 'Action.OpenUrl', title, url }] });
  if (item !== null && item.link !== null) return open('View run', item.link);
  return workspace === null || workspace.link === null ? {} : open('View workspace', workspace.link);
}

/** Escapes the start of emphasis, code or a link in a card's text. Other punctuation is kept: not every client hides the backslash. */
const markdown: Escaping = {
  escape: (piece) => piece.replace(/[\\`*_[\]<]/g, '\\$&'),
  costOf: jsonLengthOf,
};

const asItIs: Escaping = { escape: (piece) => piece, costOf: lengthOf };

function escaped(text: string, limit: number): string {
  return escapeWithin(withoutMentions(text.slice(0, limit + 1)), limit, markdown);
}
