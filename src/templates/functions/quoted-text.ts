import { madeOnce } from '../../shared/remembered.js';
import { simpleEscapes } from '../../shared/source-text.js';

/** Printable characters: letters, marks, numbers, punctuation, symbols and the space. */
const printable = madeOnce(() => /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u);

const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries(simpleEscapes)
    .filter(([letter]) => letter !== '"')
    .map(([letter, character]) => [character, `\\${letter}`]),
);

/** A string as a literal of Nomad's language. */
export function quotedText(text: string, quote: '"' | "'", onlyAscii: boolean): string {
  return quote + Array.from(text, (character) => escaped(character, quote, onlyAscii)).join('') + quote;
}

/** Whether the string can be written between backquotes. */
export function canBackquote(text: string): boolean {
  return !/[\u0000-\u0008\u000a-\u001f`\u007f\ufeff]/.test(text);
}

function escaped(character: string, quote: string, onlyAscii: boolean): string {
  if (character === quote) return `\\${quote}`;
  const simple = ESCAPES.get(character);
  if (simple !== undefined) return simple;
  const point = character.codePointAt(0) ?? 0;
  if (printable().test(character) && (point < 0x80 || !onlyAscii)) return character;
  const digits = point.toString(16);
  if (point < 0x20 || point === 0x7f) return `\\x${digits.padStart(2, '0')}`;
  return point > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
