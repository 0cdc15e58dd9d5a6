/** Values under string keys in `<` order. Inserts and removals shift at most one chunk, so they stay cheap at any size. */
export interface SortedValues<V> {
  set(key: string, value: V): void;
  remove(key: string): void;
  /** Values with `lower <= key < upper`, first (or last, when reversed) first, at most `limit`. */
  scan(lower: string, upper: string, reverse: boolean, limit: number): V[];
}

interface Chunk<V> {
  readonly keys: string[];
  readonly values: V[];
}

/** Above this a chunk is cut in two. Shifting a hundred references costs less than one more level of search. */
const CHUNK_LIMIT = 128;

/** An empty sorted collection: a list of sorted chunks, found by binary search on their first keys. */
export function sortedValues<V>(): SortedValues<V> {
  const chunks: Chunk<V>[] = [];
  return {
    set: (key, value) => setValue(chunks, key, value),
    remove: (key) => removeValue(chunks, key),
    scan: (lower, upper, reverse, limit) =>
      reverse ? scanBackward(chunks, lower, upper, limit) : scanForward(chunks, lower, upper, limit),
  };
}

function setValue<V>(chunks: Chunk<V>[], key: string, value: V): void {
  // Appending is the common case (growing indexes, times) and must pay neither for a search nor for a splice.
  const last = chunks.at(-1);
  if (last !== undefined && key > (last.keys.at(-1) as string)) {
    last.keys.push(key);
    last.values.push(value);
    if (last.keys.length > CHUNK_LIMIT) split(chunks, chunks.length - 1, last);
    return;
  }
  const at = chunkFor(chunks, key);
  const chunk = chunks[at];
  if (chunk === undefined) {
    chunks.push({ keys: [key], values: [value] });
    return;
  }
  const position = lowerBound(chunk.keys, key);
  if (chunk.keys[position] === key) {
    chunk.values[position] = value;
    return;
  }
  chunk.keys.splice(position, 0, key);
  chunk.values.splice(position, 0, value);
  if (chunk.keys.length > CHUNK_LIMIT) split(chunks, at, chunk);
}

function split<V>(chunks: Chunk<V>[], at: number, chunk: Chunk<V>): void {
  // At the very end keys are likely to keep growing: leave the full chunk full.
  const cut = at === chunks.length - 1 ? CHUNK_LIMIT - (CHUNK_LIMIT >> 3) : CHUNK_LIMIT >> 1;
  chunks.splice(at + 1, 0, { keys: chunk.keys.splice(cut), values: chunk.values.splice(cut) });
}

function removeValue<V>(chunks: Chunk<V>[], key: string): void {
  const at = chunkFor(chunks, key);
  const chunk = chunks[at];
  if (chunk === undefined) return;
  const position = lowerBound(chunk.keys, key);
  if (chunk.keys[position] !== key) return;
  chunk.keys.splice(position, 1);
  chunk.values.splice(position, 1);
  if (chunk.keys.length === 0) chunks.splice(at, 1);
}

function scanForward<V>(chunks: Chunk<V>[], lower: string, upper: string, limit: number): V[] {
  const found: V[] = [];
  for (let at = chunkFor(chunks, lower); at < chunks.length && found.length < limit; at++) {
    const { keys, values } = chunks[at] as Chunk<V>;
    const end = lowerBound(keys, upper);
    for (let i = lowerBound(keys, lower); i < end && found.length < limit; i++) found.push(values[i] as V);
    if (end < keys.length) break;
  }
  return found;
}

function scanBackward<V>(chunks: Chunk<V>[], lower: string, upper: string, limit: number): V[] {
  const found: V[] = [];
  for (let at = Math.min(chunkFor(chunks, upper), chunks.length - 1); at >= 0 && found.length < limit; at--) {
    const { keys, values } = chunks[at] as Chunk<V>;
    const start = lowerBound(keys, lower);
    for (let i = lowerBound(keys, upper) - 1; i >= start && found.length < limit; i--) found.push(values[i] as V);
    if (start > 0) break;
  }
  return found;
}

/** The last chunk whose first key is not above `key`; the first chunk when all are above. */
function chunkFor<V>(chunks: Chunk<V>[], key: string): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (((chunks[middle] as Chunk<V>).keys[0] as string) <= key) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : low - 1;
}

/** Position of the first key that is at least `key`. */
function lowerBound(keys: string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
