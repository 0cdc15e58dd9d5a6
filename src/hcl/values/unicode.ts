import { madeOnce } from '../../shared/remembered.js';

/**
 * Order of two strings by code point, which is also the order of their UTF-8 bytes. JavaScript's own `<` compares UTF-16 units
 * and so puts the astral planes before U+E000..U+FFFF.
 *
 * @returns a negative number, zero or a positive number, as `Array.prototype.sort` expects
 */
export function compareCodePoints(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let at = alike(left, right, shared); at < shared; at += 1) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

const STRIDE = 256;

/** A common prefix length of two strings, found in strides: comparing substrings is much faster than comparing characters. */
function alike(left: string, right: string, shared: number): number {
  let at = 0;
  while (at + STRIDE <= shared && left.slice(at, at + STRIDE) === right.slice(at, at + STRIDE)) at += STRIDE;
  return at;
}

/** Maps surrogates above the rest of the basic plane, so that they sort by the code points they encode. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Charges work; false if the budget is spent. */
export interface Meter {
  charge(steps: number): boolean;
}

/**
 * Extended grapheme clusters (user-perceived characters): a family emoji is one, and so is CR LF. Western strings, which are
 * the common case here, never need the segmenter, which is slow to create and takes a microsecond per cluster.
 *
 * @returns undefined if the budget is spent
 */
export function clustersOf(text: string, meter: Meter): readonly string[] | undefined {
  if (SIMPLE.test(text)) return text.split('');
  const clusters: string[] = [];
  return walkClusters(text, meter, (cluster) => clusters.push(cluster)) ? clusters : undefined;
}

/** The number of clusters; undefined if the budget is spent. */
export function clusterCount(text: string, meter: Meter): number | undefined {
  if (SIMPLE.test(text)) return text.length;
  let count = 0;
  const complete = walkClusters(text, meter, () => {
    count += 1;
  });
  return complete ? count : undefined;
}

/**
 * Western, Greek, Cyrillic, Japanese, Chinese and Korean letters and punctuation never join each other. CR is left out, as it joins
 * a following LF.
 */
const SIMPLE =
  /^[\0-\x0c\x0e-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

const WINDOW = 1024;
/** Units of work for one cluster with the segmenter, and without it. */
export const STEPS_OF_CLUSTER = 12;
const PLAIN = 1;
/** Units of work for starting the segmenter. */
const START = 40;

let shared: Intl.Segmenter | undefined;

/**
 * Window by window, since the platform's time is quadratic in the length of its input. The last cluster of a window may continue
 * after it, so the next window starts with it; a cluster that fills a window gets a larger one.
 */
function walkClusters(text: string, meter: Meter, visit: (cluster: string) => void): boolean {
  let start = 0;
  let size = WINDOW;
  while (start < text.length) {
    const window = text.slice(start, start + size);
    const isLast = start + window.length >= text.length;
    const plain = SIMPLE.test(window);
    const clusters = plain ? window.split('') : segmented(window);
    const complete = isLast ? clusters.length : clusters.length - 1;
    let done = 0;
    for (let at = 0; at < complete; at += 1) {
      const cluster = clusters[at] as string;
      visit(cluster);
      done += cluster.length;
    }
    if (
      !meter.charge(clusters.length * (plain ? PLAIN : STEPS_OF_CLUSTER) + (plain ? 0 : START) + (window.length >>> 3))
    )
      return false;
    size = done === 0 ? size * 2 : WINDOW;
    start += done;
  }
  return true;
}

function segmented(text: string): readonly string[] {
  shared ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return Array.from(shared.segment(text), ({ segment }) => segment);
}

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
