import { normalizeText } from '../values/value.js';
import { readEscape } from './escapes.js';
import { advance, continueAt } from './lexer.js';
import { at, enter, leave, type Parser, report, reportToken, tokenName } from './parser.js';
import { heredocEnd, quotedEnd } from './read-template.js';
import { startSpan } from './spans.js';
import type { Body, BodyItem, Label, Span } from './tree.js';

/** Reads the items of a file. */
export function readFileBody(parser: Parser): Body {
  const { lexer } = parser;
  continueAt(lexer, lexer.text.charCodeAt(0) === 0xfeff ? 1 : 0);
  const items = readItems(parser, undefined);
  return { kind: 'body', items, start: 0, end: lexer.text.length };
}

function readItems(parser: Parser, open: Span | undefined): BodyItem[] {
  const { lexer } = parser;
  const items: BodyItem[] = [];
  const attributes = new Set<string>();
  while (!parser.stopped) {
    while (at(parser, 'newline')) advance(lexer);
    if (at(parser, 'end')) {
      if (open !== undefined) report(parser, 'block_not_closed', open, 'This block is never closed with "}".');
      break;
    }
    if (at(parser, '}') && open !== undefined) break;
    const item = readItem(parser);
    if (item === undefined) {
      if (!parser.stopped) skipItem(parser);
      parser.recovering = true;
      continue;
    }
    if (item.kind === 'attribute') parser.recovering = false;
    items.push(item);
    if (item.kind === 'attribute') {
      if (attributes.has(item.name)) {
        report(
          parser,
          'duplicate_attribute',
          item.nameSpan,
          `"${item.name}" is already set in this block.`,
          'An attribute can be set once.',
        );
      }
      attributes.add(item.name);
    }
    if (!endItem(parser, item)) skipItem(parser);
  }
  return items;
}

/** An item must be followed by a line end. */
function endItem(parser: Parser, item: BodyItem): boolean {
  if (parser.stopped || at(parser, 'newline') || at(parser, 'end')) return true;
  const what = item.kind === 'attribute' ? 'value' : 'block';
  reportToken(
    parser,
    'newline_expected',
    `A new line is expected behind the ${what}, not ${tokenName(parser)}.`,
    at(parser, ',') ? 'Attributes of a block are not separated by commas: give each its own line.' : undefined,
  );
  return false;
}

function readItem(parser: Parser): BodyItem | undefined {
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
  return report(
    parser,
    'quoted_name',
    parser.lexer,
    'Names of attributes and types of blocks are not quoted.',
    'Keys that are not names are possible in "name = { … }" objects.',
  );
}

function readAttribute(parser: Parser, name: string, nameSpan: Span): BodyItem | undefined {
  const { lexer } = parser;
  advance(lexer);
  const value = parser.readExpression(parser);
  if (value === undefined) return undefined;
  return { kind: 'attribute', name, nameSpan, value, start: nameSpan.start, end: value.end };
}

function readBlock(parser: Parser, type: string, typeSpan: Span): BodyItem | undefined {
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
          ? `Behind the name "${shorten(type)}" a "=", a label or a "{" is expected, not ${tokenName(parser)}.`
          : `A "{" is expected here, not ${tokenName(parser)}.`,
        at(parser, 'newline') ? 'The "{" of a block stands on the same line as its type.' : undefined,
      );
    }
  }
  const open = startSpan(lexer);
  if (!enter(parser)) return undefined;
  advance(lexer);
  const items = at(parser, 'newline') ? readItems(parser, open) : readOneLine(parser, open);
  // What is wrong in a one-line block leaves its brace open: go on behind the block.
  if (items === undefined && !parser.stopped) skipItem(parser, 1);
  leave(parser);
  if (items === undefined || !at(parser, '}')) return undefined;
  advance(lexer);
  const end = lexer.previousEnd;
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
      'A block on one line can hold a single attribute only.',
      'Start a new line behind the "{".',
    );
  }
  const item = readAttribute(parser, name, nameSpan);
  if (item === undefined) return undefined;
  if (at(parser, '}')) return [item];
  return reportToken(
    parser,
    'one_line_block',
    `A block on one line ends with "}" behind its single attribute, not with ${tokenName(parser)}.`,
    'For more than one attribute start a new line behind the "{".',
  );
}

/** A quoted label: escapes, but no template sequences. */
function readQuotedLabel(parser: Parser): Label | undefined {
  const { lexer } = parser;
  const { text } = lexer;
  const { start } = lexer;
  let label = '';
  let offset = start + 1;
  let failed = false;
  for (;;) {
    const character = text.charAt(offset);
    if (character === '"') break;
    if (character === '' || character === '\n') {
      continueAt(lexer, offset);
      return report(parser, 'text_not_closed', { start, end: offset }, 'This label is not closed with a double quote.');
    }
    if (character === '\\') {
      const escaped = readEscape(parser, offset);
      if (escaped.text === undefined) failed = true;
      label += escaped.text ?? '';
      offset = escaped.end;
    } else if ((character === '$' || character === '%') && text.charAt(offset + 1) === '{') {
      continueAt(lexer, offset);
      return report(
        parser,
        'block_header',
        { start: offset, end: offset + 2 },
        'A label is a plain text: nothing is evaluated in it.',
        'Use a "dynamic" block for labels that are worked out.',
      );
    } else {
      const escaped = (character === '$' || character === '%') && text.startsWith(`${character}${character}{`, offset);
      label += character;
      offset += escaped ? 2 : 1;
      if (escaped) {
        label += '{';
        offset += 1;
      }
    }
  }
  continueAt(lexer, offset + 1);
  return failed ? undefined : { text: normalizeText(label), start, end: offset + 1 };
}

/** After a mistake: goes on behind the line it is in, and over any brackets that open in what is skipped. */
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
