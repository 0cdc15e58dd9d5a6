import { describe, expect, it } from 'vitest';
import { flaky, sometimes } from '../../../adapters/memory/flaky.js';
import { manualClock } from '../../../adapters/memory/manual-clock.js';
import { recordingDelivery } from '../../../adapters/memory/recording-delivery.js';
import { sequentialIds } from '../../../adapters/memory/sequential-ids.js';
import type { DeliveryError, DeliveryRequest } from '../../../src/ports/http-delivery.js';

const request: DeliveryRequest = {
  method: 'POST',
  url: 'https://hooks.example.net/hook',
  headers: {},
  body: '{}',
  connectTimeout: 5000,
  totalTimeout: 15_000,
  maximumResponseBytes: 16_384,
};
const error: DeliveryError = {
  type: 'connection_reset',
  message: 'planned',
  address: null,
  timing: { startedAt: 0, headersAfter: null, total: 0 },
};

describe('flaky', () => {
  it('fails the chosen calls before they reach the port', async () => {
    const delivery = recordingDelivery();
    const port = flaky(delivery, { send: { calls: [2], error } });
    const results = [await port.send(request), await port.send(request), await port.send(request)];
    expect(results.map((result) => result.isOk())).toEqual([true, false, true]);
    expect(delivery.requests).toHaveLength(2);
    expect(port.calls).toEqual({ send: 3 });
  });

  it('loses the answers of calls that did reach the port', async () => {
    const delivery = recordingDelivery();
    const port = flaky(delivery, { send: { calls: (n) => n === 1, when: 'after', error } });
    expect((await port.send(request))._unsafeUnwrapErr()).toBe(error);
    expect(delivery.requests).toHaveLength(1);
  });

  it('replaces what a method without an error result gives, and can throw', () => {
    const ids = flaky(sequentialIds(), {
      fraction: { calls: [2], instead: () => 0.99 },
      next: {
        calls: 'all',
        instead: (kind) => {
          throw new Error(`no ${kind}`);
        },
      },
    });
    expect([ids.fraction(), ids.fraction(), ids.fraction()]).toEqual([0.5, 0.99, 0.5]);
    expect(() => ids.next('run')).toThrow('no run');
  });

  it('keeps the members of the port that are not in the plan', async () => {
    const clock = manualClock(5);
    const port = flaky(clock, { sleepUntil: { calls: [1], instead: () => Promise.resolve() } });
    expect(port.now()).toBe(5);
    await port.sleepUntil(1000, new AbortController().signal);
    expect(port.sleepers).toBe(0);
  });

  it('fails about the asked share of calls, the same ones for one seed', () => {
    const fails = sometimes(0.3, 7);
    const failing = Array.from({ length: 2000 }, (_, n) => fails(n + 1));
    const share = failing.filter(Boolean).length / 2000;
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.35);
    expect(failing).toEqual(Array.from({ length: 2000 }, (_, n) => sometimes(0.3, 7)(n + 1)));
    expect(failing).not.toEqual(Array.from({ length: 2000 }, (_, n) => sometimes(0.3, 8)(n + 1)));
  });
});
