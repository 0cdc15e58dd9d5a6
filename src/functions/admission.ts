import { drawn, refilled, startsAt, type TokenBucket } from '../queue/limits.js';
import type { Instant } from '../shared/instant.js';
import type { FunctionPolicy, LimitPolicy, RatePolicy } from './define-function.js';
import { type FunctionPause, keysOf, type StoredRun } from './run.js';

/** The most characters of a key. */
const longestKey = 256;

/** The counts of limits and rates with a key that a new run belongs to. Throws a TypeError for an invalid key. */
export function limitNames(policy: FunctionPolicy, input: unknown): readonly string[] {
  return [...policy.limits, ...policy.rates].flatMap(({ scope, key }) => {
    if (key === undefined) return [];
    const value: unknown = key(input);
    if (typeof value !== 'string' || value.length > longestKey)
      throw new TypeError(`the key of ${scope} is a string of at most ${longestKey} characters`);
    return [`${scope}=${value}`];
  });
}

/** Whether keys of a function take turns. */
export const hasKeys = ({ limits, rates }: FunctionPolicy): boolean =>
  [...limits, ...rates].some(({ key }) => key !== undefined);

/** Whether a function has limits or rates: others begin without being counted. */
export const isLimited = ({ limits, rates }: FunctionPolicy): boolean => limits.length + rates.length > 0;

/** What is paused: functions, and keys of functions. */
export class Pauses {
  readonly #functions = new Set<string>();
  readonly #keys = new Map<string, Set<string>>();

  constructor(paused: readonly FunctionPause[]) {
    for (const { function: name, key } of paused)
      if (key === undefined) this.#functions.add(name);
      else this.#keys.set(name, (this.#keys.get(name) ?? new Set()).add(key));
  }

  has(name: string): boolean {
    return this.#functions.has(name);
  }

  /** The paused key that holds a run of a function that is not paused; undefined when there is none. */
  keyOf(run: Pick<StoredRun, 'function' | 'limits'>): string | undefined {
    const paused = this.#keys.get(run.function);
    return paused === undefined ? undefined : keysOf(run).find((key) => paused.has(key));
  }
}

/** A limit that is used up, or a rate until when it is. */
type Block =
  | { readonly reason: 'limit'; readonly name: string; readonly limit: number }
  | { readonly reason: 'rate'; readonly name: string; readonly limit: number; readonly until: Instant };

/** The counts that a run takes a place of: those of its keys, and those of its function without a key. */
function countsOf(policy: FunctionPolicy | undefined, { limits = [] }: Pick<StoredRun, 'limits'>): Iterable<string> {
  const plain = policy?.limits.filter(({ key }) => key === undefined) ?? [];
  return plain.length === 0 ? limits : new Set([...plain.map(({ scope }) => scope), ...limits]);
}

/** How many runs are under way, by the names of their limits. A run that waits for another one has given its place up. */
export class LiveCounts {
  readonly #counts = new Map<string, number>();
  readonly #policyOf: (name: string) => FunctionPolicy | undefined;

  constructor(live: Iterable<StoredRun>, policyOf: (name: string) => FunctionPolicy | undefined) {
    this.#policyOf = policyOf;
    for (const run of live) this.change(run, 1);
  }

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  /** A run more, or one less; one that is not running has no place. */
  change(run: StoredRun, by: 1 | -1): void {
    if (run.state !== 'running') return;
    for (const name of countsOf(this.#policyOf(run.function), run)) {
      const count = this.of(name) + by;
      if (count === 0) this.#counts.delete(name);
      else this.#counts.set(name, count);
    }
  }
}

/**
 * Decides which runs may start within one write: by what is under way, and by what rates have left. Counting the rows themselves, it has
 * nothing that could be lost or leak.
 */
export class Admission {
  readonly #live: LiveCounts;
  readonly #rates = new Map<string, TokenBucket>();
  readonly #stored: (key: string) => TokenBucket | undefined;
  readonly #now: Instant;
  /** When the next run that a rate keeps back may start. */
  until = Number.POSITIVE_INFINITY;

  /** The caller counts what it starts in `live`. */
  constructor(live: LiveCounts, stored: (key: string) => TokenBucket | undefined, now: Instant) {
    this.#live = live;
    this.#stored = stored;
    this.#now = now;
  }

  /** The rates that have been drawn from, by their keys in the store. */
  get changedRates(): Iterable<readonly [string, TokenBucket]> {
    return this.#rates;
  }

  /** Whether a limit keeps a run back, also one that continues after a wait. */
  isFull({ limits }: FunctionPolicy, run: Pick<StoredRun, 'limits'>): boolean {
    return limits.some((limit) => this.#live.of(nameOf(limit, run)) >= limit.limit);
  }

  /** Draws from the rates of a run that starts; false when a limit or a rate keeps it back. */
  admits(policy: FunctionPolicy, run: StoredRun): boolean {
    if (this.blockOf(policy, run) !== undefined) return false;
    for (const rate of policy.rates) this.#rates.set(rateKey(nameOf(rate, run)), drawn(this.#left(rate, run)));
    return true;
  }

  /** What keeps a run back; undefined when it may start. */
  blockOf({ limits, rates }: Bounds, run: Pick<StoredRun, 'limits'>): Block | undefined {
    for (const limit of limits) {
      const name = nameOf(limit, run);
      if (this.#live.of(name) >= limit.limit) return { reason: 'limit', name, limit: limit.limit };
    }
    let block: (Block & { readonly reason: 'rate' }) | undefined;
    for (const rate of rates) {
      const until = startsAt(this.#left(rate, run), rate);
      if (until > (block?.until ?? this.#now))
        block = { reason: 'rate', name: nameOf(rate, run), limit: rate.limit, until };
    }
    this.until = Math.min(this.until, block?.until ?? Number.POSITIVE_INFINITY);
    return block;
  }

  /** Whether a limit or rate without a key keeps every run of a function back. */
  isClosed({ limits, rates }: FunctionPolicy): boolean {
    const isShared = ({ key }: LimitPolicy): boolean => key === undefined;
    return this.blockOf({ limits: limits.filter(isShared), rates: rates.filter(isShared) }, {}) !== undefined;
  }

  #left(rate: RatePolicy, run: Pick<StoredRun, 'limits'>): TokenBucket {
    const key = rateKey(nameOf(rate, run));
    return refilled(this.#rates.get(key) ?? this.#stored(key), rate, this.#now);
  }
}

type Bounds = Pick<FunctionPolicy, 'limits' | 'rates'>;

/** Apart from the rates of deliveries. */
const rateKey = (name: string): string => `function ${name}`;

/** A run that was enqueued before the limit had a key counts without one. */
function nameOf({ scope, key }: LimitPolicy, { limits }: Pick<StoredRun, 'limits'>): string {
  return (key === undefined ? undefined : limits?.find((name) => name.startsWith(`${scope}=`))) ?? scope;
}
