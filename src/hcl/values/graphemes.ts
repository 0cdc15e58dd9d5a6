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
