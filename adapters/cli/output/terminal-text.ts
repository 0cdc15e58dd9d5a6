import { randomUUID } from 'node:crypto';
import type { Terminal } from '../terminal.js';
import { inLines } from './tables.js';

/** A colour or another style of text, as programs print them into their logs. */
const style = /\u001b\[[\d;:]{0,64}m/;
const special = new RegExp(
  `${style.source}|\\r\\n?|[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]`,
  'g',
);
/** The beginning of a style. */
const begun = /\u001b(?:\[[\d;:]{0,64})?$/;
const reset = '\u001b[0m';

/**
 * Untrusted bytes for a terminal: styles are kept, a carriage return becomes a line feed, so that nothing is overwritten, and all
 * other control characters are escaped. Output may be split anywhere.
 */
export class TerminalText {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #begun = '';
  #isAfterReturn = false;
  #isStyled = false;

  shown(piece: Uint8Array): string {
    return this.#shown(this.#begun + this.#decoder.decode(piece, { stream: true }), false);
  }

  /** The rest; ends a style that is still on. */
  end(): string {
    const rest = this.#shown(this.#begun + this.#decoder.decode(), true);
    return this.#isStyled ? rest + reset : rest;
  }

  #shown(given: string, isEnd: boolean): string {
    const text = this.#isAfterReturn && given.startsWith('\n') ? given.slice(1) : given;
    if (given !== '') this.#isAfterReturn = given.endsWith('\r');
    this.#begun = isEnd ? '' : (begun.exec(text)?.[0] ?? '');
    return text.slice(0, text.length - this.#begun.length).replace(special, (found) => {
      if (found.startsWith('\r')) return '\n';
      if (!style.test(found)) return inLines(found);
      this.#isStyled = !/^\u001b\[0*m$/.test(found);
      return found;
    });
  }
}

/** Bytes of tasks and of other people, as standard output takes them: as they are unless it is a terminal. */
export async function* forOutput(
  { isTerminal = false }: Pick<Terminal, 'isTerminal'>,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!isTerminal) return yield* pieces;
  const text = new TerminalText();
  for await (const piece of pieces) {
    const shown = text.shown(piece);
    if (shown !== '') yield Buffer.from(shown);
  }
  yield Buffer.from(text.end());
}

/** Marks for additions, removals and changes, or no marks without colours. */
export interface Colours {
  added(text: string): string;
  removed(text: string): string;
  changed(text: string): string;
  strong(text: string): string;
}

/** `shownText` turns the marks into colours. */
export function coloursFor(enabled: boolean): Colours {
  const mark = (code: number) => (text: string) => (enabled ? `${marked(code)}${text}${marked(0)}` : text);
  return { added: mark(32), removed: mark(31), changed: mark(33), strong: mark(1) };
}

/** Text for printing: escapes control characters and turns the marks of `coloursFor` into colours. */
export function shownText(text: string): string {
  return inLines(text).replace(marks, '\u001b[$1m');
}

/** Random per process, so that untrusted text cannot contain a mark. */
const own = randomUUID();
const marks = new RegExp(`<${own}:(\\d+)>`, 'g');

function marked(code: number): string {
  return `<${own}:${code}>`;
}
