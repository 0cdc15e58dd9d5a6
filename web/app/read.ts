import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ResultAsync } from 'neverthrow';
import { useEffect, useMemo } from 'preact/hooks';
import { isPaused, isShown, onChanges, type Topic } from './live.js';

/** A view of the server's data: the last good value stays while a newer one is read, or cannot be. */
interface ReadState<T> {
  readonly value?: T;
  /** When the value was received, by the browser's clock. */
  readonly at?: number;
  readonly error?: { readonly type: string };
}

/** How a read is made. */
interface How {
  readonly signal: AbortSignal;
  readonly index?: number;
  readonly wait?: string;
}

/** What a call answers, without its index. */
type Shown<A> = A extends { readonly index: number; readonly value: infer V } ? V : A;

interface ReadOptions<A> {
  readonly read: (how: How) => ResultAsync<A, { readonly type: string }>;
  /** Reads again when something of these topics has changed. */
  readonly topics?: readonly Topic[];
  /** Waits at the server for changes, for resources without events. A screen has at most one such read. */
  readonly waits?: boolean;
  /** Reads again after so many milliseconds while the tab is shown, for values that change without events. */
  readonly every?: number;
  /** Follows changes at most this often, in milliseconds; half a second unless set. */
  readonly pause?: number;
  /** Keeps equal records of the previous value, so that their rows are not rendered again. */
  readonly keep?: (next: Shown<A>, previous: Shown<A>) => Shown<A>;
}

const usualPause = 500;
const mostCached = 60;

class Read<A> {
  readonly state: Signal<ReadState<Shown<A>>> = signal({});
  options: ReadOptions<A>;
  #users = 0;
  #ended = new AbortController();
  #stopListening: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #interval: ReturnType<typeof setInterval> | undefined;
  #lastAt = 0;
  #isWanted = false;
  #running: Promise<void> | undefined;
  #index: number | undefined;

  constructor(options: ReadOptions<A>) {
    this.options = options;
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  attach(): () => void {
    this.#users += 1;
    if (this.#users === 1) this.#begin();
    return () => {
      this.#users -= 1;
      if (this.#users === 0) this.#end();
    };
  }

  #begin(): void {
    this.#ended = new AbortController();
    const { topics = [], waits = false, every } = this.options;
    this.#stopListening = onChanges((changes) => {
      if (changes === undefined || changes.some(({ topic }) => topics.includes(topic))) this.soon();
    });
    if (every !== undefined)
      this.#interval = setInterval(() => isShown.peek() && !isPaused.peek() && this.soon(), every);
    if (waits) void this.#follow(this.#ended.signal);
    else void this.now();
  }

  #end(): void {
    this.#ended.abort();
    this.#stopListening?.();
    clearInterval(this.#interval);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Reads again, at the latest after the pause. */
  soon(): void {
    if (this.#timer !== undefined || this.#users === 0) return;
    const { pause = usualPause } = this.options;
    const wait = Math.max(0, this.#lastAt + pause - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.now();
    }, wait);
  }

  /** Reads at once, or once more when the read in progress has ended: an answer never replaces a later one. */
  async now(): Promise<void> {
    // It may be asked for after its screen was left.
    if (this.#users === 0) return;
    this.#isWanted = true;
    this.#running ??= this.#readWhileWanted();
    await this.#running;
  }

  async #readWhileWanted(): Promise<void> {
    try {
      while (this.#isWanted && this.#users > 0) {
        this.#isWanted = false;
        this.#lastAt = performance.now();
        await this.#once({ signal: this.#ended.signal });
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #follow(ended: AbortSignal): Promise<void> {
    for (let failures = 0; !ended.aborted; ) {
      const waits = this.#index !== undefined && failures === 0 ? { index: this.#index, wait: '55s' } : {};
      const ok = await this.#once({ signal: ended, ...waits });
      failures = ok ? 0 : failures + 1;
      if (!ok || this.#index === undefined) await pauseFor(Math.min(1000 * 2 ** failures, 30_000), ended);
      if (isPaused.peek() || !isShown.peek()) await untilShown(ended);
    }
  }

  async #once(how: How): Promise<boolean> {
    const result = await this.options.read(how);
    if (how.signal.aborted) return false;
    if (result.isErr()) {
      this.state.value = { ...this.state.peek(), error: result.error };
      return false;
    }
    const [next, index] = parted(result.value);
    this.#index = index;
    const { value: previous } = this.state.peek();
    const { keep } = this.options;
    this.state.value = {
      value: keep === undefined || previous === undefined ? next : keep(next, previous),
      at: Date.now(),
    };
    return true;
  }
}

/** The answer of a call that can wait has an index: beside its value, or among its members. */
function parted<A>(answer: A): readonly [Shown<A>, number | undefined] {
  if (typeof answer !== 'object' || answer === null || !('index' in answer)) return [answer as Shown<A>, undefined];
  const { index, value } = answer as { readonly index: number; readonly value?: Shown<A> };
  // The value is left out when a record does not exist.
  const isBeside = Object.keys(answer).every((name) => name === 'index' || name === 'value');
  return [isBeside ? (value as Shown<A>) : (answer as unknown as Shown<A>), index];
}

function pauseFor(time: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    ended.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

function untilShown(ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stops = [isPaused, isShown].map((each: ReadonlySignal<boolean>) =>
      each.subscribe(() => {
        if (!isPaused.peek() && isShown.peek()) finish();
      }),
    );
    const finish = (): void => {
      resolve();
      queueMicrotask(() => {
        for (const stop of stops) stop();
      });
    };
    ended.addEventListener('abort', finish, { once: true });
  });
}

/** Reads by key: a screen that is opened again shows what was known at once, and reads it again. */
const reads = new Map<string, Read<unknown>>();

export interface Reading<T> {
  readonly state: ReadonlySignal<ReadState<T>>;
  readonly refresh: () => Promise<void>;
}

/** Reads while the component is shown. The key names everything on which the answer depends. */
export function useRead<A>(key: string, options: ReadOptions<A>): Reading<Shown<A>> {
  const read = useMemo(() => readOf(key, options), [key]);
  read.options = options;
  useEffect(() => read.attach(), [read]);
  return useMemo(() => ({ state: read.state, refresh: () => read.now() }), [read]);
}

/** Reads the value again now and then, for what changes without a change of records: the number that wait. */
export function useRefresh({ refresh }: Reading<unknown>, isActive: boolean, milliseconds = 10_000): void {
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => {
      if (isShown.peek() && !isPaused.peek()) void refresh();
    }, milliseconds);
    return () => clearInterval(timer);
  }, [refresh, isActive, milliseconds]);
}

function readOf<A>(key: string, options: ReadOptions<A>): Read<A> {
  const known = reads.get(key) as Read<A> | undefined;
  const read = known ?? new Read(options);
  reads.delete(key);
  reads.set(key, read as unknown as Read<unknown>);
  for (const [other, { isUsed }] of reads) {
    if (reads.size <= mostCached) break;
    if (!isUsed) reads.delete(other);
  }
  return read;
}

/** Forgets what was read, as when another person signs in. */
export function forgetReads(): void {
  for (const [key, read] of reads) {
    if (read.isUsed) read.state.value = {};
    else reads.delete(key);
  }
}

/** The next list with the objects of the previous one where a record has not changed. */
export function keepEqual<T>(next: readonly T[], previous: readonly T[], idOf: (entry: T) => string): readonly T[] {
  const before = new Map(previous.map((entry) => [idOf(entry), entry]));
  return next.map((entry) => {
    const old = before.get(idOf(entry));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(entry) ? old : entry;
  });
}
