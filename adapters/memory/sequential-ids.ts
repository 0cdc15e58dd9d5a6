import type { IdKind, Ids } from '../../src/ports/ids.js';

/** Options of `sequentialIds`. */
export interface SequentialIdsOptions {
  /**
   * The result of `fraction()`: a constant, or a function of the number of the call (from 1). Default: 0.5, which means no
   * jitter.
   */
  readonly fraction?: number | ((n: number) => number);
  /** Each kind counts from the number after this one; 0 when absent. */
  readonly after?: number;
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * Deterministic IDs: each kind counts from 1 separately, so that the IDs of a test do not change when
 * the code under test creates IDs of another kind. They have the form of real IDs. UUIDs begin with a digit of their kind and
 * the count (`e0000001-0000-4000-8000-000000000001`), so they differ in their first eight characters and sort by age.
 */
export function sequentialIds(options: SequentialIdsOptions = {}): Ids {
  const counts = new Map<IdKind, number>();
  let fractions = 0;
  const count = (kind: IdKind): number => {
    const n = (counts.get(kind) ?? options.after ?? 0) + 1;
    counts.set(kind, n);
    return n;
  };
  return {
    next: (kind) => forms[kind](count(kind)),
    fraction: () => {
      fractions += 1;
      const given = options.fraction ?? 0.5;
      return typeof given === 'number' ? given : given(fractions);
    },
  };
}

const forms: Readonly<Record<IdKind, (n: number) => string>> = {
  evaluation: (n) => uuidOf('e', n),
  allocation: (n) => uuidOf('a', n),
  deployment: (n) => uuidOf('d', n),
  node: (n) => uuidOf('0', n),
  token_accessor: (n) => uuidOf('c', n),
  token_secret: (n) => uuidOf('5', n),
  lease_owner: (n) => uuidOf('1', n),
  uuid: (n) => uuidOf('f', n),
  notification_configuration: (n) => `nc-${base58Of(n)}`,
  workspace: (n) => `ws-${base58Of(n)}`,
  user: (n) => `user-${base58Of(n)}`,
  run: (n) => `run-${base58Of(n)}`,
  notification_event: (n) => `ne-${base58Of(n)}`,
  notification_delivery: (n) => `nd-${base58Of(n)}`,
  delivery_attempt: (n) => `na-${base58Of(n)}`,
  dispatch_suffix: (n) => n.toString(16).padStart(8, '0'),
};

function uuidOf(digit: string, n: number): string {
  const count = n.toString(16).padStart(7, '0').slice(-7);
  return `${digit}${count}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

function base58Of(n: number): string {
  let text = '';
  for (let rest = n; rest > 0; rest = Math.floor(rest / 58)) text = alphabet.charAt(rest % 58) + text;
  return text.padStart(16, alphabet[0]);
}
