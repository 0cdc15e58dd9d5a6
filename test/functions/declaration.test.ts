import { describe, expect, test } from 'vitest';
import { replaces } from '../../src/functions/declaration.js';
import { declarationOf, defineFunction, type FunctionOptions, policyOf } from '../../src/functions/define-function.js';

function declared(
  options: Partial<FunctionOptions<unknown, unknown>> = {},
  handler: (() => void) | null = () => undefined,
) {
  const definition = defineFunction<unknown, unknown, void>({ name: 'work', ...options }, handler ?? undefined);
  return declarationOf(policyOf(definition) as NonNullable<ReturnType<typeof policyOf>>, 'default');
}

describe('the declaration of a function', () => {
  test('has its policy with every default, and survives JSON', () => {
    const declaration = declared({
      version: 3,
      timeout: false,
      concurrency: [{ limit: 20 }, { limit: 1, key: () => 'k' }],
      rate: { limit: 100, per: '1m', scope: 'crm' },
      retry: { backoff: ['1s', '1m'] },
      cron: { schedule: '0 3 * * *', timeZone: 'Europe/Berlin', input: { secret: 'x' } },
    });
    expect(JSON.parse(JSON.stringify(declaration))).toEqual({
      name: 'work',
      namespace: 'default',
      version: 3,
      hasHandler: true,
      priority: 50,
      retry: { attempts: 3, backoff: [1000, 60_000], delay: 1000, factor: 5, max: 3_600_000, jitter: 0.2 },
      limits: [
        { limit: 20, scope: 'work:all', perKey: false },
        { limit: 1, scope: 'work:key', perKey: true },
      ],
      rates: [{ limit: 100, scope: 'crm', perKey: false, per: 60_000, burst: 100 }],
      crons: [{ id: 'cron', schedule: '0 3 * * *', timeZone: 'Europe/Berlin', missed: 'once', overlap: 'skip' }],
      keep: { succeeded: { age: 86_400_000, count: 10_000 }, others: { age: 2_592_000_000, count: 10_000 } },
    });
    expect(declared({ retry: { backoff: () => 'stop' } }).retry.backoff).toBe('function');
  });

  test.each<[string, ReturnType<typeof declared>, ReturnType<typeof declared> | undefined, boolean]>([
    ['the first one', declared(), undefined, true],
    ['the same one', declared(), declared(), false],
    ['a changed one of the same version', declared({ priority: 1 }), declared(), true],
    ['a higher version', declared({ version: 2 }), declared(), true],
    ['a lower version', declared({ priority: 1 }), declared({ version: 2 }), false],
    ['one without a handler', declared({ version: 9 }, null), declared(), false],
    ['one with a handler, over one without', declared(), declared({ version: 9 }, null), true],
    ['a higher version, both without a handler', declared({ version: 2 }, null), declared({}, null), true],
  ])('replaces the stored one when it should: %s', (_name, given, known, expected) => {
    expect(replaces(given, known)).toBe(expected);
  });
});
