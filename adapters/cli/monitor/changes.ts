/** The parameters of a blocking query. */
export interface Waiting {
  readonly index?: number;
  readonly wait?: string;
  readonly signal: AbortSignal;
}

/** A read that supports blocking queries. */
export type Read<T> = (waiting: Waiting) => Promise<{ readonly value: T; readonly index: number }>;

/** The `wait` of a blocking query. */
const wait = '30s';

/** Yields the values of the reads, and again whenever one may have changed. Leaving the loop aborts the pending reads. */
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

/** A current value and the pending query for the next. */
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

  /** Resolves when the pending query is answered. */
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
