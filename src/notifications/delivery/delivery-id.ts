/*
 * Events and deliveries are found by ID without an index of IDs: the ID contains the sequence number of the event, and
 * the ID of a delivery also the position of its configuration in the event. The rest of the id is random, so that ids of two
 * stores differ although both count from the beginning.
 */

const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** 58^10 is more than 2^53, so ten digits hold every sequence, and ids of equal length sort by age. */
const sequenceDigits = 10;
const positionDigits = 2;
const saltDigits = 6;
const idPattern = /^n[ed]-[0-9A-Za-z]{16}$/;

/** Most deliveries that one event can have. */
export const mostDeliveriesOfEvent = 58 ** positionDigits;

/** The id of an event; `random` is an identifier whose last characters are random. */
export function eventIdOf(sequence: number, random: string): string {
  return `ne-${digitsOf(sequence, sequenceDigits)}${random.slice(-saltDigits)}`;
}

/** The id of the delivery at a position of its event's list of configurations. */
export function deliveryIdOf(eventId: string, position: number): string {
  const sequence = eventId.slice(3, 3 + sequenceDigits);
  return `nd-${sequence}${digitsOf(position, positionDigits)}${eventId.slice(positionDigits - saltDigits)}`;
}

/** The sequence in an event's or a delivery's id; null when it cannot be such an id. */
export function sequenceFromId(id: string): number | null {
  return idPattern.test(id) ? numberFrom(id.slice(3, 3 + sequenceDigits)) : null;
}

/** The position in a delivery's id; null when it cannot be such an id. */
export function positionFromDeliveryId(id: string): number | null {
  const from = 3 + sequenceDigits;
  return idPattern.test(id) && id.startsWith('nd-') ? numberFrom(id.slice(from, from + positionDigits)) : null;
}

function digitsOf(value: number, length: number): string {
  let text = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 58)) text = (digits[rest % 58] as string) + text;
  return text.padStart(length, digits[0]);
}

function numberFrom(text: string): number | null {
  let value = 0;
  for (const character of text) {
    const digit = digits.indexOf(character);
    if (digit < 0) return null;
    value = value * 58 + digit;
  }
  return Number.isSafeInteger(value) ? value : null;
}
