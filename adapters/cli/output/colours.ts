import { randomUUID } from 'node:crypto';
import { inLines } from './cells.js';

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
