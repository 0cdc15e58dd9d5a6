import { expect, test } from 'vitest';
import { nameResolver } from '../../../adapters/undici/name-resolver.js';
import { type UndiciDeliverySettings, undiciDelivery } from '../../../adapters/undici/undici-delivery.js';
import type { DeliveryRequest } from '../../../src/ports/http-delivery.js';
import { startNameServer } from '../../support/name-server.js';

const request: DeliveryRequest = {
  method: 'POST',
  url: 'http://silent.example/hook',
  headers: {},
  body: '{}',
  connectTimeout: 50_000,
  totalTimeout: 50_000,
  maximumResponseBytes: 1024,
};

test.each<[string, UndiciDeliverySettings]>([
  ['names that nobody answers for', {}],
  ['names that nobody answers for, nor for what waits behind them', { socketsPerHost: 1 }],
])('closing does not wait for %s', async (_, settings) => {
  const names = await startNameServer(() => 'silent');
  const search = { domains: [], dots: 1 };
  const lookup = nameResolver({ servers: [names.address], hosts: async () => null, search, timeout: 50_000 });
  const delivery = undiciDelivery({ lookup, ...settings });
  const sent = Promise.all([1, 2, 3].map(() => delivery.send(request)));
  while (names.asked.length === 0) await new Promise(setImmediate);
  await delivery.close();
  for (const outcome of await sent) {
    expect(outcome._unsafeUnwrapErr()).toMatchObject({
      type: 'aborted',
      message: 'http://silent.example: the service stopped before a connection was made',
    });
  }
  await names.close();
});
