import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../adapters/memory/manual-clock.js';
import { recordingDelivery, type ScriptedAnswer } from '../../../adapters/memory/recording-delivery.js';
import { systemClock } from '../../../adapters/node/system-clock.js';
import type { DeliveryRequest } from '../../../src/ports/http-delivery.js';
import { deliveryConformance } from '../../conformance/delivery/index.js';

const request: DeliveryRequest = {
  method: 'POST',
  url: 'https://hooks.example.net/hook',
  headers: {},
  body: '{}',
  connectTimeout: 5000,
  totalTimeout: 15_000,
  maximumResponseBytes: 16_384,
};

describe('recordingDelivery', () => {
  deliveryConformance(it, {
    start: async (behaviour) => {
      const answer: ScriptedAnswer =
        behaviour === 'hang' ? { hang: true } : behaviour === 'reset' ? { error: 'connection_reset' } : behaviour;
      const delivery = recordingDelivery({ answer, clock: systemClock() });
      return {
        delivery,
        url: 'http://hooks.example.net',
        bodies: () => delivery.requests.map((each) => each.body),
        stop: async () => undefined,
      };
    },
  });

  it('plays a script by number and remembers when each request was sent', async () => {
    const clock = manualClock(1000);
    const delivery = recordingDelivery({
      clock,
      answer: (_request, n) => (n < 3 ? { status: 503, after: 200 } : { status: 200 }),
    });
    const statuses: number[] = [];
    const loop = async (): Promise<void> => {
      for (let count = 0; count < 3; count += 1) {
        statuses.push((await delivery.send(request))._unsafeUnwrap().status);
        await clock.sleepUntil(clock.now() + 5000, new AbortController().signal);
      }
    };
    const ended = loop();
    await clock.advance(60_000);
    await ended;
    expect(statuses).toEqual([503, 503, 200]);
    expect(delivery.requests.map((each) => each.sentAt)).toEqual([1000, 6200, 11_400]);
  });

  it('ends a hanging request by its total timeout on the manual clock', async () => {
    const clock = manualClock(0);
    const delivery = recordingDelivery({ clock, answer: { hang: true } });
    const sent = delivery.send(request);
    await clock.advance(20_000);
    const error = (await sent)._unsafeUnwrapErr();
    expect(error).toMatchObject({ type: 'total_timeout', timing: { startedAt: 0, total: 15_000, headersAfter: null } });
  });

  it('takes no time without a clock', async () => {
    const delivery = recordingDelivery({ answer: { hang: true } });
    expect((await delivery.send(request))._unsafeUnwrapErr().type).toBe('total_timeout');
    delivery.answer({ error: 'tls_failed', message: 'expired' });
    expect((await delivery.send(request))._unsafeUnwrapErr()).toMatchObject({
      type: 'tls_failed',
      message: 'https://hooks.example.net: expired',
    });
  });

  it('lets a test hold an answer back', async () => {
    let release: (answer: ScriptedAnswer) => void = () => undefined;
    const delivery = recordingDelivery({ answer: () => new Promise((resolve) => (release = resolve)) });
    const sent = delivery.send(request);
    expect(delivery.requests).toHaveLength(1);
    release({ status: 201 });
    expect((await sent)._unsafeUnwrap().status).toBe(201);
  });

  it('refuses by a rule of the test, in check and in send', async () => {
    const delivery = recordingDelivery({ refuse: (url) => (url.hostname === 'inside' ? 'it is inside' : null) });
    expect(delivery.check('http://inside/')).toEqual({ allowed: false, message: 'it is inside' });
    const error = (await delivery.send({ ...request, url: 'http://inside/x' }))._unsafeUnwrapErr();
    expect(error).toMatchObject({ type: 'address_forbidden', message: 'http://inside: it is inside' });
    expect(delivery.requests).toEqual([]);
  });
});
