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
    next: (kind) => idOf(kind, count(kind)),
    fraction: () => {
      fractions += 1;
      const given = options.fraction ?? 0.5;
      return typeof given === 'number' ? given : given(fractions);
    },
  };
}

function idOf(kind: IdKind, n: number): string {
  switch (kind) {
    case 'evaluation':
      return uuidOf('e', n);
    case 'allocation':
      return uuidOf('a', n);
    case 'deployment':
      return uuidOf('d', n);
    case 'node':
      return uuidOf('0', n);
    case 'token_accessor':
      return uuidOf('c', n);
    case 'token_secret':
      return uuidOf('5', n);
    case 'lease_owner':
      return uuidOf('1', n);
    case 'uuid':
      return uuidOf('f', n);
    case 'notification_configuration':
      return `nc-${base58Of(n)}`;
    case 'workspace':
      return `ws-${base58Of(n)}`;
    case 'user':
      return `user-${base58Of(n)}`;
    case 'run':
      return `run-${base58Of(n)}`;
    case 'notification_event':
      return `ne-${base58Of(n)}`;
    case 'notification_delivery':
      return `nd-${base58Of(n)}`;
    case 'delivery_attempt':
      return `na-${base58Of(n)}`;
    case 'dispatch_suffix':
      return n.toString(16).padStart(8, '0');
  }
}

function uuidOf(digit: string, n: number): string {
  const count = n.toString(16).padStart(7, '0').slice(-7);
  return `${digit}${count}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

function base58Of(n: number): string {
  let text = '';
  for (let rest = n; rest > 0; rest = Math.floor(rest / 58)) text = (alphabet[rest % 58] as string) + text;
  return text.padStart(16, alphabet[0]);
}
