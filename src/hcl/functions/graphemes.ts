/**
 * Characters as a reader sees them (extended grapheme clusters): a family emoji is one, and so is CR LF. Plain ASCII, nearly all
 * text here, never wakes the segmenter, which is slow to create.
 */
export function clustersOf(text: string): readonly string[] {
  if (SIMPLE.test(text)) return text.split('');
  return Array.from(segmenter().segment(text), ({ segment }) => segment);
}

/** The number of clusters. */
export function clusterCount(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  let count = 0;
  for (const _ of segmenter().segment(text)) count += 1;
  return count;
}

/** ASCII without CR, which would join a following LF. */
const SIMPLE = /^[\0-\x0c\x0e-\x7f]*$/;

let shared: Intl.Segmenter | undefined;

function segmenter(): Intl.Segmenter {
  shared ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  return shared;
}
