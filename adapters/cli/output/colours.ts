import { randomUUID } from 'node:crypto';
import { inLines } from './cells.js';

/** Marks for additions, removals and changes, or nothing at all. */
export interface Colours {
  added(text: string): string;
  removed(text: string): string;
  changed(text: string): string;
  strong(text: string): string;
}

/** The marks become colours in `shownText`. */
export function coloursFor(enabled: boolean): Colours {
  const mark = (code: number) => (text: string) => (enabled ? `${marked(code)}${text}${marked(0)}` : text);
  return { added: mark(32), removed: mark(31), changed: mark(33), strong: mark(1) };
}

/** A string in lines as it is printed: control characters of others are escapes, marks of `coloursFor` are colours. */
export function shownText(text: string): string {
  return inLines(text).replace(marks, '\u001b[$1m');
}

/** Differs between processes, so that nobody else can write a mark. */
const own = randomUUID();
const marks = new RegExp(`<${own}:(\\d+)>`, 'g');

function marked(code: number): string {
  return `<${own}:${code}>`;
}
