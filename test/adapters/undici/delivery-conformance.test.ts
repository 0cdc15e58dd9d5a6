import { describe, it } from 'vitest';
import { undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import { deliveryConformance } from '../../conformance/delivery/index.js';
import { startReceiver } from '../../support/receiver.js';

describe('undiciDelivery', () => {
  deliveryConformance(it, {
    start: async (behaviour) => {
      const receiver = await startReceiver({
        behaviour: typeof behaviour === 'string' ? behaviour : { kind: 'answer', ...behaviour },
      });
      return {
        delivery: undiciDelivery({ allow: { cidrs: ['127.0.0.0/8'] } }),
        url: receiver.url,
        bodies: () => receiver.requests.map((request) => request.body),
        stop: () => receiver.close(),
      };
    },
  });
});
