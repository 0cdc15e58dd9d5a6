import { drawn, refilled, startsAt, type TokenBucket } from '../queue/token-bucket.js';
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

/**
 * Decides which runs may start within one write: counts what is under way, and what rates have left. Counting the rows
 * themselves, it has nothing that could be lost or leak.
 */
export class Admission {
  readonly #counts = new Map<string, number>();
  readonly #rates = new Map<string, TokenBucket>();
  readonly #policyOf: (name: string) => FunctionPolicy | undefined;
  readonly #stored: (key: string) => TokenBucket | undefined;
  readonly #now: Instant;
  /** When the next run that a rate keeps back may start. */
  until = Number.POSITIVE_INFINITY;

  constructor(
    live: readonly StoredRun[],
    policyOf: (name: string) => FunctionPolicy | undefined,
    stored: (key: string) => TokenBucket | undefined,
    now: Instant,
  ) {
    this.#policyOf = policyOf;
    this.#stored = stored;
    this.#now = now;
    // A run that waits for another one has given its place up.
    for (const run of live) if (run.state === 'running') this.#count(run);
  }

  /** The rates that have been drawn from, by their keys in the store. */
  get changedRates(): Iterable<readonly [string, TokenBucket]> {
    return this.#rates;
  }

  /** Counts a run that continues after a wait; false when a limit keeps it back. */
  readmits(policy: FunctionPolicy, run: StoredRun): boolean {
    if (this.#isFull(policy, run)) return false;
    this.#count(run);
    return true;
  }

  /** Counts a run that starts; false when a limit or a rate keeps it back. */
  admits(policy: FunctionPolicy, run: StoredRun): boolean {
    if (this.blockOf(policy, run) !== undefined) return false;
    for (const rate of policy.rates) this.#rates.set(rateKey(nameOf(rate, run)), drawn(this.#left(rate, run)));
    this.#count(run);
    return true;
  }

  #isFull({ limits }: FunctionPolicy, run: Pick<StoredRun, 'limits'>): boolean {
    return limits.some((limit) => (this.#counts.get(nameOf(limit, run)) ?? 0) >= limit.limit);
  }

  /** What keeps a run back; undefined when it may start. */
  blockOf(policy: FunctionPolicy, run: Pick<StoredRun, 'limits'>): Block | undefined {
    for (const limit of policy.limits) {
      const name = nameOf(limit, run);
      if ((this.#counts.get(name) ?? 0) >= limit.limit) return { reason: 'limit', name, limit: limit.limit };
    }
    let block: (Block & { readonly reason: 'rate' }) | undefined;
    for (const rate of policy.rates) {
      const until = startsAt(this.#left(rate, run), rate);
      if (until > (block?.until ?? this.#now))
        block = { reason: 'rate', name: nameOf(rate, run), limit: rate.limit, until };
    }
    this.until = Math.min(this.until, block?.until ?? Number.POSITIVE_INFINITY);
    return block;
  }

  /** Whether a limit or rate without a key keeps every run of a function back. */
  isClosed({ limits, rates, ...policy }: FunctionPolicy): boolean {
    const isShared = ({ key }: LimitPolicy): boolean => key === undefined;
    return (
      this.blockOf({ ...policy, limits: limits.filter(isShared), rates: rates.filter(isShared) }, {}) !== undefined
    );
  }

  #count(run: StoredRun): void {
    const policy = this.#policyOf(run.function);
    const plain = policy?.limits.filter(({ key }) => key === undefined).map(({ scope }) => scope) ?? [];
    for (const name of new Set([...plain, ...(run.limits ?? [])]))
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  #left(rate: RatePolicy, run: Pick<StoredRun, 'limits'>): TokenBucket {
    const key = rateKey(nameOf(rate, run));
    return refilled(this.#rates.get(key) ?? this.#stored(key), rate, this.#now);
  }
}

/** Apart from the rates of deliveries. */
const rateKey = (name: string): string => `function ${name}`;

/** A run that was enqueued before the limit had a key counts without one. */
function nameOf({ scope, key }: LimitPolicy, { limits }: Pick<StoredRun, 'limits'>): string {
  return (key === undefined ? undefined : limits?.find((name) => name.startsWith(`${scope}=`))) ?? scope;
}
