import { isWhiteSpace } from '../../shared/values.js';
import { type Parser, report } from './parser.js';
import type { Expression, Span, Template, TemplatePart, TextPart } from './tree.js';

/** A piece of a template in reading order, before white space is trimmed and directives are matched. */
export type RawPart = TextPart | RawSequence;

type RawSequence = Span & { readonly trimBefore: boolean; readonly trimBehind: boolean } & (
    | { readonly kind: 'interpolation'; readonly value: Expression }
    | { readonly kind: 'if'; readonly condition: Expression }
    | {
        readonly kind: 'for';
        readonly keyName: string | undefined;
        readonly valueName: string;
        readonly collection: Expression;
      }
    | { readonly kind: 'else' }
    | { readonly kind: 'endif' }
    | { readonly kind: 'endfor' }
  );

/** Where a template is in the source, and where the line of a heredoc's closing word begins. */
interface TemplateSpan extends Span {
  readonly close?: number;
}

/** Applies the strip markers, then the indentation of `<<-`, then joins literal pieces and nests the directives. */
export function buildTemplate(
  parser: Parser,
  raw: readonly RawPart[],
  span: TemplateSpan,
  unindent: boolean,
): Template | undefined {
  const { start, end } = span;
  const only = raw[0];
  if (raw.length === 1 && only !== undefined && (only.kind === 'text' || only.kind === 'interpolation') && !unindent) {
    const parts: readonly TemplatePart[] =
      only.kind === 'text' ? [only] : [{ kind: 'interpolation', value: only.value, start: only.start, end: only.end }];
    return { kind: 'template', parts, passThrough: only.kind === 'interpolation', start, end };
  }
  const trimmed = trim(raw);
  const parts = nest(parser, unindent ? removeIndentation(trimmed) : trimmed, span);
  return parts === undefined ? undefined : { kind: 'template', parts, passThrough: false, start, end };
}

function trim(raw: readonly RawPart[]): readonly RawPart[] {
  return raw.map((part, index) => {
    if (part.kind !== 'text') return part;
    const before = raw[index - 1];
    const behind = raw[index + 1];
    let { text } = part;
    if (before !== undefined && before.kind !== 'text' && before.trimBehind) text = text.slice(leadingSpace(text));
    if (behind !== undefined && behind.kind !== 'text' && behind.trimBefore)
      text = text.slice(0, trailingSpaceStart(text));
    return text === part.text ? part : { ...part, text };
  });
}

/**
 * The smallest indentation is taken off every line. Blank lines neither count nor change; a line that starts with a sequence
 * counts as not indented. Every literal part of a heredoc is at most one source line.
 */
function removeIndentation(raw: readonly RawPart[]): readonly RawPart[] {
  let smallest = Number.POSITIVE_INFINITY;
  const starts = new Set<RawPart>();
  let lineStart = true;
  for (const part of raw) {
    if (lineStart) {
      lineStart = false;
      if (part.kind !== 'text') smallest = 0;
      else {
        const space = leadingSpace(part.text);
        if (space < part.text.length || !part.text.endsWith('\n')) {
          smallest = Math.min(smallest, indentation(part.text.slice(0, space)));
          starts.add(part);
        }
      }
    }
    if (part.kind === 'text' && part.text.endsWith('\n')) lineStart = true;
  }
  if (smallest === 0 || starts.size === 0) return raw;
  return raw.map((part) =>
    part.kind === 'text' && starts.has(part) ? { ...part, text: part.text.slice(smallest) } : part,
  );
}

/** White space split into characters; a carriage return and its line feed are one. */
function indentation(space: string): number {
  return space.replaceAll('\r\n', '\n').length;
}

type Frame = {
  readonly opening: RawSequence | undefined;
  parts: TemplatePart[];
  /** The parts of the first branch, after an `else` was read. */
  whenTrue: TemplatePart[] | undefined;
};

const CLOSES = { endif: 'if', endfor: 'for' } as const;

function nest(parser: Parser, raw: readonly RawPart[], span: TemplateSpan): TemplatePart[] | undefined {
  const root: Frame = { opening: undefined, parts: [], whenTrue: undefined };
  const stack: Frame[] = [root];
  let frame = root;
  for (const part of raw) {
    switch (part.kind) {
      case 'text':
        addText(frame.parts, part);
        break;
      case 'interpolation':
        frame.parts.push({ kind: 'interpolation', value: part.value, start: part.start, end: part.end });
        break;
      case 'if':
      case 'for':
        if (parser.depth + stack.length > parser.maxDepth) {
          return report(parser, 'too_deep', part, `This is nested more than ${parser.maxDepth} levels deep.`);
        }
        frame = { opening: part, parts: [], whenTrue: undefined };
        stack.push(frame);
        break;
      case 'else':
        if (frame.opening?.kind !== 'if' || frame.whenTrue !== undefined) return unbalanced(parser, part, frame);
        frame.whenTrue = frame.parts;
        frame.parts = [];
        break;
      case 'endif':
      case 'endfor': {
        if (frame.opening?.kind !== CLOSES[part.kind]) return unbalanced(parser, part, frame);
        stack.pop();
        const closed = closeFrame(frame, part.end);
        frame = stack.at(-1) ?? root;
        if (closed !== undefined) frame.parts.push(closed);
        break;
      }
    }
  }
  if (frame.opening === undefined) return root.parts;
  return unclosed(parser, frame.opening, span);
}

function unclosed(parser: Parser, directive: RawSequence, { start, end, close = end - 1 }: TemplateSpan): undefined {
  const keyword = directive.kind;
  return report(
    parser,
    'unbalanced_directive',
    { start: Math.max(start, close), end },
    {
      message: `The template ends before the "${keyword}" directive in it is closed.`,
      detail: `Close it with %{ end${keyword} }; it starts with: ${opening(parser, directive)}`,
    },
  );
}

function closeFrame(frame: Frame, end: number): TemplatePart | undefined {
  const { opening } = frame;
  if (opening?.kind === 'if') {
    const { condition, start } = opening;
    return frame.whenTrue === undefined
      ? { kind: 'if', condition, whenTrue: frame.parts, whenFalse: undefined, start, end }
      : { kind: 'if', condition, whenTrue: frame.whenTrue, whenFalse: frame.parts, start, end };
  }
  if (opening?.kind === 'for') {
    const { keyName, valueName, collection, start } = opening;
    return { kind: 'for-directive', keyName, valueName, collection, body: frame.parts, start, end };
  }
  return undefined;
}

function addText(parts: TemplatePart[], part: TextPart): void {
  if (part.text === '') return;
  const last = parts.at(-1);
  if (last?.kind !== 'text') parts.push(part);
  else parts[parts.length - 1] = { kind: 'text', text: last.text + part.text, start: last.start, end: part.end };
}

function unbalanced(parser: Parser, part: RawSequence, frame: Frame): undefined {
  const within =
    frame.opening === undefined
      ? 'No directive is open here.'
      : `The open directive is: ${opening(parser, frame.opening)}${frame.whenTrue === undefined ? '' : ' with its "else"'}`;
  return report(parser, 'unbalanced_directive', part, {
    message: `The "${part.kind}" directive does not belong to an open directive.`,
    detail: within,
  });
}

function opening(parser: Parser, part: Span): string {
  const text = parser.lexer.text.slice(part.start, part.end).replace(/\s+/g, ' ');
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function leadingSpace(text: string): number {
  let at = 0;
  while (at < text.length && isWhiteSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function trailingSpaceStart(text: string): number {
  let at = text.length;
  while (at > 0 && isWhiteSpace(text.charCodeAt(at - 1))) at -= 1;
  return at;
}
