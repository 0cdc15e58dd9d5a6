import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  deliveryIdOf,
  eventIdOf,
  mostDeliveriesOfEvent,
  positionFromDeliveryId,
  sequenceFromId,
} from '../../../src/notifications/delivery/delivery.js';

const sequence = fc.maxSafeNat();
const position = fc.nat(mostDeliveriesOfEvent - 1);
const random = 'ne-4bVxWqT9hLs2KdRm';

test('ids tell what they were made from', () => {
  fc.assert(
    fc.property(sequence, position, (number, at) => {
      const event = eventIdOf(number, random);
      const delivery = deliveryIdOf(event, at);
      expect(event).toMatch(/^ne-[1-9A-HJ-NP-Za-km-z]{16}$/);
      expect(delivery).toMatch(/^nd-[1-9A-HJ-NP-Za-km-z]{16}$/);
      expect([sequenceFromId(event), sequenceFromId(delivery), positionFromDeliveryId(delivery)]).toEqual([
        number,
        number,
        at,
      ]);
    }),
  );
});

test('ids sort as their events were accepted, also beside random ends', () => {
  fc.assert(
    fc.property(sequence, sequence, (a, b) => {
      fc.pre(a !== b);
      expect(eventIdOf(a, random) < eventIdOf(b, 'ne-1111111111111111')).toBe(a < b);
    }),
  );
});

test.each([
  '',
  'nd-',
  'nd-short',
  'nd-0000000000000000',
  'nc-1111111111111111',
  'nd-zzzzzzzzzzzzzzzz',
  'nd-1111111111111111x',
])('%s is no id of a delivery', (id) => {
  expect(sequenceFromId(id) === null || positionFromDeliveryId(id) === null).toBe(true);
});
