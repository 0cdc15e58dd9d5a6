/** Costs below it are not allowed by the scheme. */
export const MIN_BCRYPT_COST = 4;
export const DEFAULT_BCRYPT_COST = 10;
/** Our bound: about half a second of the processor. */
export const MAX_BCRYPT_COST = 12;

/** Budget steps of one hash. */
export function bcryptWork(cost: number): number {
  return 2 ** cost * 64;
}

/**
 * The bcrypt password hash, version `2a`: the Blowfish cipher with a key schedule that is run `2 ** cost` times.
 *
 * @param password at most 72 bytes; a zero byte is appended
 * @param salt 16 bytes
 */
export function bcryptHash(password: Uint8Array, salt: Uint8Array, cost: number): string {
  const { subkeys, boxes } = initialState();
  const key = new Uint8Array(password.length + 1);
  key.set(password);
  const state = { subkeys: Int32Array.from(subkeys), boxes: Int32Array.from(boxes) };
  const keyWords = cyclicWords(key, 18);
  const saltWords = cyclicWords(salt, 18);
  expandKey(state, keyWords, cyclicWords(salt, 4));
  const none = new Int32Array(4);
  for (let round = 2 ** cost; round > 0; round -= 1) {
    expandKey(state, keyWords, none);
    expandKey(state, saltWords, none);
  }
  const text = cyclicWords(new TextEncoder().encode('OrpheanBeholderScryDoubt'), 6);
  for (let at = 0; at < 6; at += 2) for (let round = 0; round < 64; round += 1) encipher(state, text, at);
  const output = new Uint8Array(24);
  const view = new DataView(output.buffer);
  for (let at = 0; at < 6; at += 1) view.setInt32(at * 4, text[at] ?? 0);
  return `$2a$${String(cost).padStart(2, '0')}$${encode(salt)}${encode(output.subarray(0, 23))}`;
}

interface Cipher {
  readonly subkeys: Int32Array;
  readonly boxes: Int32Array;
}

let initial: Cipher | undefined;

/** Blowfish starts from the first 33,344 bits of the fraction of pi, computed on the first use. */
function initialState(): Cipher {
  if (initial === undefined) {
    const bits = 1042 * 32;
    const fraction = piScaled(bits + 64) & ((1n << BigInt(bits + 64)) - 1n);
    const digits = (fraction >> 64n).toString(16).padStart(bits / 4, '0');
    const words = Int32Array.from(
      { length: 1042 },
      (_, at) => Number.parseInt(digits.slice(at * 8, at * 8 + 8), 16) | 0,
    );
    initial = { subkeys: words.slice(0, 18), boxes: words.slice(18) };
  }
  return initial;
}

/** Pi times a power of two, by Machin's formula: 16 arctan(1/5) − 4 arctan(1/239). */
function piScaled(bits: number): bigint {
  const one = 1n << BigInt(bits + 64);
  return (16n * arctangentOfInverse(5n, one) - 4n * arctangentOfInverse(239n, one)) >> 64n;
}

function arctangentOfInverse(divisor: bigint, one: bigint): bigint {
  let power = one / divisor;
  let sum = power;
  for (let odd = 3n, negative = true; power > 0n; odd += 2n, negative = !negative) {
    power /= divisor * divisor;
    sum += (negative ? -power : power) / odd;
  }
  return sum;
}

/** Big-endian words of the bytes, repeated as often as needed. */
function cyclicWords(bytes: Uint8Array, count: number): Int32Array {
  const words = new Int32Array(count);
  for (let at = 0; at < count * 4; at += 1) {
    words[at >> 2] = ((words[at >> 2] ?? 0) << 8) | (bytes[at % bytes.length] ?? 0);
  }
  return words;
}

function expandKey(cipher: Cipher, key: Int32Array, salt: Int32Array): void {
  const { subkeys, boxes } = cipher;
  for (let at = 0; at < 18; at += 1) subkeys[at] = (subkeys[at] ?? 0) ^ (key[at] ?? 0);
  const block = new Int32Array(2);
  let turn = 0;
  const fill = (target: Int32Array): void => {
    for (let at = 0; at < target.length; at += 2) {
      block[0] = (block[0] ?? 0) ^ (salt[turn] ?? 0);
      block[1] = (block[1] ?? 0) ^ (salt[turn + 1] ?? 0);
      turn = (turn + 2) & 3;
      encipher(cipher, block, 0);
      target[at] = block[0] ?? 0;
      target[at + 1] = block[1] ?? 0;
    }
  };
  fill(subkeys);
  fill(boxes);
}

/** One Blowfish block, in place. The tables have every index that is asked for. */
function encipher({ subkeys, boxes }: Cipher, words: Int32Array, at: number): void {
  let left = (words[at] as number) ^ (subkeys[0] as number);
  let right = words[at + 1] as number;
  for (let round = 1; round <= 16; round += 2) {
    right ^= mix(boxes, left) ^ (subkeys[round] as number);
    left ^= mix(boxes, right) ^ (subkeys[round + 1] as number);
  }
  words[at] = right ^ (subkeys[17] as number);
  words[at + 1] = left;
}

function mix(boxes: Int32Array, word: number): number {
  const first = (boxes[word >>> 24] as number) + (boxes[256 + ((word >>> 16) & 255)] as number);
  return ((first ^ (boxes[512 + ((word >>> 8) & 255)] as number)) + (boxes[768 + (word & 255)] as number)) | 0;
}

const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The scheme's own Base64: another alphabet, no padding. */
function encode(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += ALPHABET[(buffer >> bits) & 63];
    }
    buffer &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET[(buffer << (6 - bits)) & 63];
}
