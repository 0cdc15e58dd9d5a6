import type { CallInput } from '../../../src/api/answers.js';
import type { Call } from '../../../src/api/call.js';

/** A page of a list, or the error answer if it cannot be read. */
type ReadPage<F> = (input: CallInput) => Promise<{ readonly value: unknown } | { readonly failure: F }>;

/** Rows of the first page. Most lists fit in it and are answered as one string. */
const firstRows = 500;
/** Blocking queries share one string, so their limit is higher. */
const sharedRows = 2000;
/** Approximate size of later pages, in characters: reading one blocks the event loop for a few milliseconds. */
const pageLength = 1 << 18;
const mostRows = 500;

/** The first page, if the request is for a complete list; undefined for a single page or another kind of answer. */
export function firstPageOf(call: Call, input: CallInput, waits: boolean): CallInput | undefined {
  const { answer, inputs, alwaysPaged = false } = call;
  if (alwaysPaged || answer.nextToken === undefined || !Object.hasOwn(inputs, 'perPage')) return undefined;
  const { perPage } = input;
  return typeof perPage === 'number' && perPage > 0 ? undefined : { ...input, perPage: waits ? sharedRows : firstRows };
}

/**
 * Streams a list that is longer than its first page, so that only one page is in memory. Each page is read when the client
 * has accepted the one before. The index is that of the first page, so a blocking query after it sees all later changes. If a page
 * cannot be read, the stream fails, so that no client mistakes a part for the whole.
 */
export async function* listPieces<F>(
  { answer }: Call,
  first: { readonly input: CallInput; readonly value: unknown },
  readPage: ReadPage<F>,
): AsyncGenerator<string, void, void> {
  let { value, input } = first;
  let text = answer.toWire(value, input) ?? '[]';
  yield text.slice(0, -1);
  for (;;) {
    const nextToken = answer.nextToken?.(value) ?? '';
    if (nextToken === '') break;
    input = { ...input, nextToken, perPage: rowsAfter(text, Number(input['perPage'])) };
    const page = await readPage(input);
    if ('failure' in page) throw new UnreadablePage(page.failure);
    value = page.value;
    text = answer.toWire(value, input) ?? '[]';
    if (text.length > 2) yield `,${text.slice(1, -1)}`;
  }
  yield ']';
}

/**
 * A list whose filter may fail at any row: all of it is collected, outside the heap, before it is
 * answered. Returns the failure, if any.
 */
export async function gathered<F>(pieces: AsyncIterable<string>): Promise<Buffer | { readonly failure: F }> {
  const found: Buffer[] = [];
  try {
    for await (const piece of pieces) found.push(Buffer.from(piece));
  } catch (error) {
    if (error instanceof UnreadablePage) return { failure: error.failure as F };
    throw error;
  }
  return Buffer.concat(found);
}

/** Carries the answer that the list would have had if its first page could not have been read. */
class UnreadablePage<F> extends Error {
  readonly failure: F;

  constructor(failure: F) {
    super('a page of a list could not be read');
    this.failure = failure;
  }
}

/** As many rows as fill a page, if they are like those before. */
function rowsAfter(text: string, rows: number): number {
  return Math.max(1, Math.min(mostRows, Math.round((rows * pageLength) / text.length)));
}
