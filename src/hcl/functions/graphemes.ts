/**
 * Characters as a reader sees them (extended grapheme clusters): a family emoji is one, and so is CR LF. Plain western text, nearly
 * all text here, never wakes the segmenter, which is slow to create.
 */
export function clustersOf(text: string): readonly string[] {
  if (SIMPLE.test(text)) return text.split('');
  const clusters: string[] = [];
  walkClusters(text, (cluster) => clusters.push(cluster));
  return clusters;
}

/** The number of clusters. */
export function clusterCount(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  let count = 0;
  walkClusters(text, () => {
    count += 1;
  });
  return count;
}

/** Budget steps of finding the clusters of a text: the segmenter needs a few microseconds for each character. */
export function clusterWork(text: string): number {
  return SIMPLE.test(text) ? 0 : text.length;
}

/**
 * Western, Greek, Cyrillic, Japanese, Chinese and Korean letters and punctuation never join each other. CR is left out, as it joins
 * a following LF.
 */
const SIMPLE =
  /^[\0-\x0c\x0e-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]*$/;

const WINDOW = 1024;

let shared: Intl.Segmenter | undefined;

/**
 * Window by window, since the platform takes time quadratic in the text it is given at once. The last cluster of a window may go on
 * behind it, so the next window starts with it; a cluster that fills a window gets a larger one.
 */
function walkClusters(text: string, visit: (cluster: string) => void): void {
  shared ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
  let start = 0;
  let size = WINDOW;
  while (start < text.length) {
    const window = text.slice(start, start + size);
    const isLast = start + window.length >= text.length;
    let done = 0;
    let pending = '';
    for (const { segment } of shared.segment(window)) {
      if (pending !== '') {
        visit(pending);
        done += pending.length;
      }
      pending = segment;
    }
    if (isLast) {
      visit(pending);
      return;
    }
    size = done === 0 ? size * 2 : WINDOW;
    start += done;
  }
}
