import { randomFillSync, randomUUID } from 'node:crypto';
import type { IdKind, Ids } from '../../src/ports/ids.js';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** The largest multiple of 58 that fits a byte: bytes from here on are thrown away, or the first digits would come more often. */
const fairLimit = 256 - (256 % alphabet.length);

/**
 * Identifiers from the operating system's random source: UUIDs (version 4), prefixed ids with 16 characters of base58
 * (about 94 bits), and dispatch suffixes with 32 bits, which are unique enough only beside the job and time they follow.
 */
export function randomIds(): Ids {
  // One system call fills many ids. A byte is used once and then overwritten, so that the pool never tells a past id.
  const pool = Buffer.alloc(2048);
  let position = pool.length;
  const nextByte = (): number => {
    if (position === pool.length) {
      randomFillSync(pool);
      position = 0;
    }
    const byte = pool[position] as number;
    pool[position] = 0;
    position += 1;
    return byte;
  };
  const base58 = (length: number): string => {
    let text = '';
    while (text.length < length) {
      const byte = nextByte();
      if (byte < fairLimit) text += alphabet[byte % alphabet.length];
    }
    return text;
  };
  const hex = (bytes: number): string => {
    let text = '';
    for (let count = 0; count < bytes; count += 1) text += nextByte().toString(16).padStart(2, '0');
    return text;
  };
  const next = (kind: IdKind): string => {
    switch (kind) {
      case 'evaluation':
      case 'allocation':
      case 'deployment':
      case 'node':
      case 'token_accessor':
      case 'token_secret':
      case 'lease_owner':
      case 'uuid':
        return randomUUID();
      case 'notification_configuration':
        return `nc-${base58(16)}`;
      case 'workspace':
        return `ws-${base58(16)}`;
      case 'user':
        return `user-${base58(16)}`;
      case 'run':
        return `run-${base58(16)}`;
      case 'notification_event':
        return `ne-${base58(16)}`;
      case 'notification_delivery':
        return `nd-${base58(16)}`;
      case 'delivery_attempt':
        return `na-${base58(16)}`;
      case 'dispatch_suffix':
        return hex(4);
    }
  };
  const fraction = (): number => {
    let value = 0;
    for (let count = 0; count < 6; count += 1) value = value * 256 + nextByte();
    return value / 2 ** 48;
  };
  return { next, fraction };
}
