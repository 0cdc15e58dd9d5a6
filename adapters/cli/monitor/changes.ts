/** How a read of the server waits: until there is something newer than the index, for so long. */
export interface Waiting {
  readonly index?: number;
  readonly wait?: string;
  readonly signal: AbortSignal;
}

/** A read that can wait for a change. */
export type Read<T> = (waiting: Waiting) => Promise<{ readonly value: T; readonly index: number }>;

/** Longest that one question to the server waits. */
const wait = '30s';

/** The values of the reads, and again whenever one of them may have changed. Leaving the loop ends the pending reads. */
export async function* changesOf<const T extends readonly unknown[]>(
  ...reads: { readonly [K in keyof T]: Read<T[K]> }
): AsyncGenerator<T> {
  const leaving = new AbortController();
  const sides = reads.map((read) => new Side(read as Read<unknown>, leaving.signal));
  try {
    await Promise.all(sides.map((side) => side.next()));
    for (;;) {
      yield sides.map(({ value }) => value) as unknown as T;
      await Promise.race(sides.map((side) => side.next()));
    }
  } finally {
    leaving.abort();
  }
}

/** One of the values, and the question for the next one. */
class Side<T> {
  readonly #read: Read<T>;
  readonly #signal: AbortSignal;
  #held: { readonly value: T; readonly index: number } | undefined;
  #asked: Promise<void> | undefined;

  constructor(read: Read<T>, signal: AbortSignal) {
    this.#read = read;
    this.#signal = signal;
  }

  get value(): T {
    if (this.#held === undefined) throw new Error('nothing has been read yet');
    return this.#held.value;
  }

  /** Resolves when the question that is under way has been answered. */
  next(): Promise<void> {
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  #ask(): Promise<void> {
    const after = this.#held === undefined ? {} : { index: this.#held.index, wait };
    const asked = this.#read({ ...after, signal: this.#signal }).then((held) => {
      this.#held = held;
      this.#asked = undefined;
    });
    // Rejects the pending wait, if any; there may be none.
    asked.catch(() => undefined);
    return asked;
  }
}
