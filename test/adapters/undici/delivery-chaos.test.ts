import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { type Behaviour, type Receiver, startReceiver } from '../../support/receiver.js';

/** What a request asks the receiver to do, by its body. */
const behaviours: readonly Behaviour[] = [
  'ok',
  'ok',
  { kind: 'answer', status: 500, body: 'down' },
  { kind: 'answer', status: 200, headers: { connection: 'close' }, body: 'bye' },
  { kind: 'late', after: 3 },
  { kind: 'large', bytes: 200_000 },
  { kind: 'gzip', bytes: 100_000 },
  { kind: 'drip', every: 1 },
  'hang',
  'reset',
  'half_open',
  'cut_short',
  'garbage',
];

describe('undiciDelivery under a receiver that does anything', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver({ behaviour: (request) => behaviours[Number(request.body)] ?? 'ok' });
  });
  afterAll(async () => {
    await receiver.close();
  });

  it('gives every request exactly one outcome that fits, and leaves no connection behind', async () => {
    const request = fc.record({
      behaviour: fc.nat({ max: behaviours.length - 1 }),
      totalTimeout: fc.constantFrom(15, 40, 10_000),
      abortAfter: fc.constantFrom(null, 0, 2, 10),
    });
    const plan = fc.record({
      requests: fc.array(request, { minLength: 1, maxLength: 40 }),
      socketsPerHost: fc.constantFrom(1, 3, 16),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ requests, socketsPerHost }) => {
        const delivery = undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] }, socketsPerHost });
        const sent = requests.map(async ({ behaviour, totalTimeout, abortAfter }) => {
          const endless = behaviours[behaviour] === 'hang';
          const controller = new AbortController();
          if (abortAfter !== null) setTimeout(() => controller.abort(), abortAfter);
          const result = await delivery.send({
            method: 'POST',
            url: `${receiver.url}/`,
            headers: {},
            body: String(behaviour),
            connectTimeout: 60_000,
            totalTimeout: endless ? Math.min(totalTimeout, 40) : totalTimeout,
            maximumResponseBytes: 50,
            signal: controller.signal,
          });
          return result.match(
            (answer) => {
              expect(answer.body.length).toBeLessThanOrEqual(50);
              return 'answer';
            },
            (error) => error.type,
          );
        });
        const outcomes = await Promise.all(sent);
        await delivery.close();
        await receiver.quiet();
        for (const [index, outcome] of outcomes.entries()) {
          const { behaviour, abortAfter, totalTimeout } = requests[index] as (typeof requests)[number];
          const chosen = behaviours[behaviour];
          const allowed = new Set<string>(['total_timeout']);
          if (abortAfter !== null) allowed.add('aborted');
          if (chosen === 'reset' || chosen === 'half_open' || chosen === 'cut_short') allowed.add('connection_reset');
          else if (chosen === 'garbage') allowed.add('invalid_response');
          else if (chosen !== 'hang') allowed.add('answer');
          // With ten seconds and a receiver that answers, only waiting behind others could take so long, and none hangs longer.
          if (totalTimeout === 10_000 && chosen === 'ok' && abortAfter === null) allowed.delete('total_timeout');
          expect(allowed).toContain(outcome);
        }
      }),
      { numRuns: 40 },
    );
  });
});
