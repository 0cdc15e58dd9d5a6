import { errAsync, ResultAsync } from 'neverthrow';

/** Which calls fail: by their numbers from 1, by a rule over the number, or all. */
export type FailingCalls = readonly number[] | ((n: number) => boolean) | 'all';

type MethodOf<P, M extends keyof P> = P[M] extends (...args: never[]) => unknown ? P[M] : never;

/** How one method of a port fails. */
export interface MethodFailure<F extends (...args: never[]) => unknown> {
  readonly calls: FailingCalls;
  /**
   * `before` (the default): the call does not reach the port. `after`: it reaches the port, but its result is lost: the write is
   * committed, or the request received, without the caller knowing.
   */
  readonly when?: 'before' | 'after';
  /** The error that the method's result contains. */
  readonly error?: ReturnType<F> extends ResultAsync<unknown, infer E> ? E : never;
  /** What is returned instead, for methods without an error result; may throw. */
  readonly instead?: (...args: Parameters<F>) => ReturnType<F>;
}

/** The failures, by method: which calls fail and with which error. */
export type FailurePlan<P> = { readonly [M in keyof P]?: MethodFailure<MethodOf<P, M>> };

/** The port with its failures and call counters. */
export type Flaky<P> = P & {
  /** The number of calls so far, by method, including failed ones. */
  readonly calls: Readonly<Record<string, number>>;
};

/**
 * The same port with planned failures: `flaky(storage, { write: { calls: [2], when: 'after', error } })`. The calls of
 * each method are counted separately, so tests are deterministic.
 */
export function flaky<P extends object>(port: P, plan: FailurePlan<P>): Flaky<P> {
  const calls: Record<string, number> = {};
  const proxy = new Proxy(port, {
    get(target, name) {
      if (name === 'calls' && !('calls' in target)) return calls;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      return (...args: unknown[]): unknown => {
        const n = (calls[name] ?? 0) + 1;
        calls[name] = n;
        const reach = (): unknown => Reflect.apply(member, target, args);
        const failure = (plan as Readonly<Record<string, AnyFailure | undefined>>)[name];
        if (failure === undefined || !isFailing(failure.calls, n)) return reach();
        const fail = (): unknown =>
          failure.instead === undefined ? errAsync(failure.error) : failure.instead(...args);
        return failure.when === 'after' ? losing(reach(), fail) : fail();
      };
    },
  });
  return proxy as Flaky<P>;
}

/** A rule for `calls` that fails about this share of the calls, determined by the seed. */
export function sometimes(share: number, seed: number): (n: number) => boolean {
  return (n) => {
    // A finaliser of a 32-bit hash: neighbouring numbers give unrelated values.
    let mixed = (seed ^ Math.imul(n, 0x9e3779b1)) >>> 0;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b) >>> 0;
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32 < share;
  };
}

interface AnyFailure {
  readonly calls: FailingCalls;
  readonly when?: 'before' | 'after';
  readonly error?: unknown;
  readonly instead?: (...args: unknown[]) => unknown;
}

function isFailing(calls: FailingCalls, n: number): boolean {
  if (calls === 'all') return true;
  return typeof calls === 'function' ? calls(n) : calls.includes(n);
}

/** Waits for the answer, discards it and returns the failure. */
function losing(answer: unknown, fail: () => unknown): unknown {
  if (answer instanceof ResultAsync) {
    const lost = answer.then(fail, fail) as Promise<Awaited<ResultAsync<unknown, unknown>>>;
    return new ResultAsync(lost);
  }
  if (answer instanceof Promise) return answer.then(fail, fail);
  return fail();
}
