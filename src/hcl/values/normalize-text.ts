import { madeOnce } from '../../shared/remembered.js';

/**
 * Normalises a string to Unicode normal form C, as required for every string of the language. Characters below U+0300 are already normalised, so
 * nearly all strings skip the real check.
 *
 * The platform sorts combining marks in time quadratic in the length of their run. Stream-safe text (UAX #15) has at most 30 in a
 * row; longer runs are normalised 30 marks at a time, so that the whole takes linear time.
 */
export function normalizeText(text: string): string {
  if (!COMBINING.test(text)) return text;
  return holdsLongRun(text) ? normalizedInPieces(text) : text.normalize('NFC');
}

const COMBINING = /[\u0300-\uffff]/;
const LONGEST_RUN = 30;

/** True when two marks stand `LONGEST_RUN` apart where samples are taken; any run of twice that length has such a pair. */
function holdsLongRun(text: string): boolean {
  let previous = false;
  for (let at = 0; at < text.length; at += LONGEST_RUN) {
    const unit = text.charCodeAt(at);
    const mark =
      unit >= 0x300 && singleMark().test(String.fromCodePoint(text.codePointAt(isLow(unit) ? at - 1 : at) ?? 0));
    if (mark && previous) return true;
    previous = mark;
  }
  return false;
}

function normalizedInPieces(text: string): string {
  let result = '';
  let start = 0;
  for (const { 0: run, index } of text.matchAll(marks())) {
    for (let cut = index + LONGEST_RUN; cut < index + run.length; cut += LONGEST_RUN) {
      const end = isLow(text.charCodeAt(cut)) ? cut + 1 : cut;
      result += text.slice(start, end).normalize('NFC');
      start = end;
    }
  }
  return result + text.slice(start).normalize('NFC');
}

const singleMark = madeOnce(() => /^\p{M}$/u);
const marks = madeOnce(() => /\p{M}+/gu);

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
