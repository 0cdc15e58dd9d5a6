import type { Steps } from '../steps.js';
import { normalizeText } from '../values/unicode.js';
import { readEscape, sequenceKind } from './escapes.js';
import { advance, continueAt } from './lexer.js';
import { at, enter, leave, type Parser, report, reportToken, tokenName } from './parser.js';
import { heredocEnd, quotedEnd } from './read-template.js';
import { startSpan } from './source.js';
import type { Body, BodyItem, Label, Span } from './tree.js';

/** Number of tokens between two interruption points. */
const TOKENS_OF_A_PART = 20_000;

/** A body that is being read: the file's, or that of an open block. */
interface OpenBody {
  /** Undefined for the file. */
  readonly header: BlockHeader | undefined;
  readonly items: BodyItem[];
  /** Names of its attributes, once there are any. */
  names: Set<string> | undefined;
}

interface BlockHeader {
  readonly type: string;
  readonly typeSpan: Span;
  readonly labels: readonly Label[];
  /** The brace. */
  readonly open: Span;
}

/** Reads the items of a file. Open blocks are on a stack, so nesting needs no recursion. */
export function* readFileBody(parser: Parser): Steps<Body> {
  const { lexer } = parser;
  continueAt(lexer, lexer.text.charCodeAt(0) === 0xfeff ? 1 : 0);
  const file = openBody(undefined);
  const bodies: OpenBody[] = [file];
  let interruptAt = TOKENS_OF_A_PART;
  while (!parser.stopped && readNext(parser, bodies)) {
    if (lexer.tokens < interruptAt) continue;
    interruptAt = lexer.tokens + TOKENS_OF_A_PART;
    yield;
  }
  return { kind: 'body', items: file.items, start: 0, end: lexer.text.length };
}

function openBody(header: BlockHeader | undefined): OpenBody {
  return { header, items: [], names: undefined };
}

/** Reads the next item, or the end of the innermost body; false at the end of the file. */
function readNext(parser: Parser, bodies: OpenBody[]): boolean {
  const { lexer } = parser;
  const body = bodies.at(-1) as OpenBody;
  while (at(parser, 'newline')) advance(lexer);
  if (at(parser, 'end')) {
    if (body.header === undefined) return false;
    report(parser, 'block_not_closed', body.header.open, 'This block is never closed with "}".');
    bodies.pop();
    leave(parser);
    parser.recovering = true;
    return true;
  }
  if (body.header !== undefined && at(parser, '}')) {
    bodies.pop();
    leave(parser);
    addItem(parser, bodies.at(-1) as OpenBody, closedBlock(parser, body.header, body.items));
    return true;
  }
  const read = readItem(parser);
  if (read === undefined) {
    if (!parser.stopped) skipItem(parser);
    parser.recovering = true;
  } else if (read.kind === 'header') bodies.push(openBody(read.header));
  else addItem(parser, body, read);
  return true;
}

function addItem(parser: Parser, body: OpenBody, item: BodyItem): void {
  body.items.push(item);
  if (item.kind === 'attribute') {
    parser.recovering = false;
    body.names ??= new Set();
    if (body.names.has(item.name)) {
      report(parser, 'duplicate_attribute', item.nameSpan, {
        message: `"${item.name}" is already set in this block.`,
        detail: 'An attribute can be set once.',
      });
    }
    body.names.add(item.name);
  }
  if (!endItem(parser, item)) skipItem(parser);
}

/** The block whose closing brace is the current token. */
function closedBlock(
  parser: Parser,
  { type, typeSpan, labels, open }: BlockHeader,
  items: readonly BodyItem[],
): BodyItem {
  advance(parser.lexer);
  const end = parser.lexer.previousEnd;
  return {
    kind: 'block',
    type,
    typeSpan,
    labels,
    body: { kind: 'body', items, start: open.start, end },
    start: typeSpan.start,
    end,
  };
}

/** An item must be followed by a line end. */
function endItem(parser: Parser, item: BodyItem): boolean {
  if (parser.stopped || at(parser, 'newline') || at(parser, 'end')) return true;
  const what = item.kind === 'attribute' ? 'value' : 'block';
  reportToken(
    parser,
    'newline_expected',
    `A new line is expected after the ${what}, not ${tokenName(parser)}.`,
    at(parser, ',') ? 'Attributes of a block are not separated by commas: give each its own line.' : undefined,
  );
  return false;
}

/** An attribute, a block on one line, or a block as far as its brace. */
function readItem(parser: Parser): BodyItem | { readonly kind: 'header'; readonly header: BlockHeader } | undefined {
  const { lexer } = parser;
  if (!at(parser, 'identifier')) return reportNoItem(parser);
  const nameSpan = startSpan(lexer);
  const name = normalizeText(lexer.text.slice(lexer.start, lexer.end));
  advance(lexer);
  if (at(parser, '=')) return readAttribute(parser, name, nameSpan);
  return readBlock(parser, name, nameSpan);
}

function reportNoItem(parser: Parser): undefined {
  if (!at(parser, 'quote')) {
    return reportToken(parser, 'item_expected', `An attribute or a block is expected here, not ${tokenName(parser)}.`);
  }
  return report(parser, 'quoted_name', parser.lexer, {
    message: 'Names of attributes and types of blocks are not quoted.',
    detail: 'Keys that are not names are possible in "name = { … }" objects.',
  });
}

function readAttribute(parser: Parser, name: string, nameSpan: Span): BodyItem | undefined {
  const { lexer } = parser;
  advance(lexer);
  const value = parser.readExpression(parser);
  if (value === undefined) return undefined;
  return { kind: 'attribute', name, nameSpan, value, start: nameSpan.start, end: value.end };
}

function readBlock(parser: Parser, type: string, typeSpan: Span): ReturnType<typeof readItem> {
  const { lexer } = parser;
  const labels = readLabels(parser, type);
  if (labels === undefined) return undefined;
  const header: BlockHeader = { type, typeSpan, labels, open: startSpan(lexer) };
  if (!enter(parser)) return undefined;
  advance(lexer);
  if (at(parser, 'newline')) return { kind: 'header', header };
  const items = readOneLine(parser, header.open);
  // After an error in a one-line block its brace is still open: continue after the block.
  if (items === undefined && !parser.stopped) skipItem(parser, 1);
  leave(parser);
  return items === undefined || !at(parser, '}') ? undefined : closedBlock(parser, header, items);
}

/** The labels between a block's type and its brace. */
function readLabels(parser: Parser, type: string): readonly Label[] | undefined {
  const { lexer } = parser;
  const labels: Label[] = [];
  while (!at(parser, '{')) {
    if (at(parser, 'identifier')) {
      labels.push({ text: normalizeText(lexer.text.slice(lexer.start, lexer.end)), ...startSpan(lexer) });
      advance(lexer);
    } else if (at(parser, 'quote')) {
      const label = readQuotedLabel(parser);
      if (label === undefined) return undefined;
      labels.push(label);
    } else {
      return reportToken(
        parser,
        'block_header',
        labels.length === 0
          ? `After the name "${shorten(type)}" a "=", a label or a "{" is expected, not ${tokenName(parser)}.`
          : `A "{" is expected here, not ${tokenName(parser)}.`,
        at(parser, 'newline') ? 'The "{" of a block must be on the same line as its type.' : undefined,
      );
    }
  }
  return labels;
}

/** `{ }` or `{ name = value }`. */
function readOneLine(parser: Parser, open: Span): BodyItem[] | undefined {
  const { lexer } = parser;
  if (at(parser, '}')) return [];
  if (at(parser, 'end')) return report(parser, 'block_not_closed', open, 'This block is never closed with "}".');
  if (!at(parser, 'identifier')) return reportNoItem(parser);
  const nameSpan = startSpan(lexer);
  const name = normalizeText(lexer.text.slice(lexer.start, lexer.end));
  advance(lexer);
  if (!at(parser, '=')) {
    return report(
      parser,
      'one_line_block',
      { start: nameSpan.start, end: lexer.end },
      { message: 'A block on one line can hold a single attribute only.', detail: 'Start a new line after the "{".' },
    );
  }
  const item = readAttribute(parser, name, nameSpan);
  if (item === undefined) return undefined;
  if (at(parser, '}')) return [item];
  return reportToken(
    parser,
    'one_line_block',
    `A block on one line ends with "}" after its single attribute, not with ${tokenName(parser)}.`,
    'For more than one attribute start a new line after the "{".',
  );
}

/** A quoted label: escapes, but no template sequences. */
function readQuotedLabel(parser: Parser): Label | undefined {
  const { lexer } = parser;
  const { text, start } = lexer;
  let label = '';
  let offset = start + 1;
  let failed = false;
  for (;;) {
    const character = text.charAt(offset);
    if (character === '"') break;
    // Also at the end of the source, where the character is empty.
    if ('\r\n'.includes(character)) {
      continueAt(lexer, offset);
      return report(parser, 'text_not_closed', { start, end: offset }, 'This label is not closed with a double quote.');
    }
    if (character === '\\') {
      const escaped = readEscape(parser, offset);
      if (escaped.text === undefined) failed = true;
      label += escaped.text ?? '';
      offset = escaped.end;
      continue;
    }
    const special = sequenceKind(text, offset);
    if (special === 'sequence') {
      continueAt(lexer, offset);
      return report(
        parser,
        'block_header',
        { start: offset, end: offset + 2 },
        {
          message: 'A label is a plain string: nothing is evaluated in it.',
          detail: 'Use a "dynamic" block for computed labels.',
        },
      );
    }
    label += special === 'escape' ? `${character}{` : character;
    offset += special === 'escape' ? 3 : 1;
  }
  continueAt(lexer, offset + 1);
  return failed ? undefined : { text: normalizeText(label), start, end: offset + 1 };
}

/** Recovers from an error: skips the rest of the line, and any brackets that open in it. */
function skipItem(parser: Parser, openBraces = 0): void {
  const { lexer } = parser;
  lexer.ignoreNewlines = false;
  let open = openBraces;
  for (;;) {
    const kind: string = lexer.kind;
    switch (kind) {
      case 'end':
        return;
      case 'newline':
        if (open === 0) return;
        break;
      case '{':
      case '[':
      case '(':
        open += 1;
        break;
      case '}':
      case '~}':
      case ']':
      case ')':
        if (open === 0 && kind === '}' && parser.depth > 0) return;
        open = Math.max(0, open - 1);
        break;
      case 'quote':
        continueAt(lexer, quotedEnd(lexer.text, lexer.start));
        continue;
      case 'heredoc':
        continueAt(lexer, heredocEnd(lexer.text, lexer.start, lexer.end));
        continue;
      default:
    }
    advance(lexer);
  }
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
