import { randomFillSync, randomUUID } from 'node:crypto';
import type { IdKind, Ids } from '../../src/ports/ids.js';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/**
 * The largest multiple of 58 that fits in a byte. Bytes from here on are discarded; otherwise the first digits would be more
 * frequent.
 */
const fairLimit = 256 - (256 % alphabet.length);

/**
 * Identifiers from the operating system's random source: UUIDs (version 4), prefixed ids with 16 characters of base58 (about 94
 * bits), and dispatch suffixes with 32 bits, which are unique only together with the job and the time before them.
 */
export function randomIds(): Ids {
  const nextByte = bytePool();
  const base58 = (length: number): string => {
    let text = '';
    while (text.length < length) {
      const byte = nextByte();
      if (byte < fairLimit) text += alphabet[byte % alphabet.length];
    }
    return text;
  };
  const next = (kind: IdKind): string => {
    const form = forms[kind];
    if (form === 'uuid') return randomUUID();
    return form === 'hex' ? hexText(4, nextByte) : form + base58(16);
  };
  const fraction = (): number => {
    let value = 0;
    for (let count = 0; count < 6; count += 1) value = value * 256 + nextByte();
    return value / 2 ** 48;
  };
  return { next, fraction };
}

/** The form of each kind of ID: a UUID, hexadecimal digits, or a prefix and base58 digits. */
const forms: Readonly<Record<IdKind, 'uuid' | 'hex' | `${string}-`>> = {
  evaluation: 'uuid',
  allocation: 'uuid',
  deployment: 'uuid',
  node: 'uuid',
  token_accessor: 'uuid',
  token_secret: 'uuid',
  lease_owner: 'uuid',
  uuid: 'uuid',
  notification_configuration: 'nc-',
  workspace: 'ws-',
  user: 'user-',
  run: 'run-',
  notification_event: 'ne-',
  notification_delivery: 'nd-',
  delivery_attempt: 'na-',
  dispatch_suffix: 'hex',
};

/**
 * One system call fills many bytes. Each is used once and then overwritten, so that the pool never contains bytes of an earlier
 * ID.
 */
function bytePool(): () => number {
  const pool = Buffer.alloc(2048);
  let position = pool.length;
  return () => {
    if (position === pool.length) {
      randomFillSync(pool);
      position = 0;
    }
    const byte = pool[position] as number;
    pool[position] = 0;
    position += 1;
    return byte;
  };
}

function hexText(bytes: number, nextByte: () => number): string {
  let text = '';
  for (let count = 0; count < bytes; count += 1) text += nextByte().toString(16).padStart(2, '0');
  return text;
}
