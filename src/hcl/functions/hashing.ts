import { ok } from 'neverthrow';
import { type HclValue, numberType, stringType, stringValue } from '../values/value.js';
import { integerAt, shortened, textAt } from './arguments.js';
import { bytesFromBase64, bytesFromText, textFromBytes } from './encoding/encoding.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionContext,
  fail,
  overBudget,
  parameter,
  perCharacter,
} from './function.js';
import { bcryptjs } from './packages.js';

const text = parameter('text', stringType);

/**
 * Hashes and functions based on them. Hashing is a pure function, so this pure folder may use the platform's implementation; it is
 * loaded on the first call.
 */
export const hashFunctions: readonly EagerFunction[] = [
  ...(['md5', 'sha1', 'sha256', 'sha512'] as const).map((algorithm) =>
    defineFunction(
      algorithm,
      [text],
      (args) => ok(stringValue(digest(algorithm, bytesFromText(textAt(args, 0))).toString('hex'))),
      { cost: (args) => DIGEST + (textAt(args, 0).length >>> 4) },
    ),
  ),
  defineFunction('bcrypt', [text], bcrypt, { variadic: parameter('cost', numberType) }),
  defineFunction('rsadecrypt', [parameter('ciphertext', stringType), parameter('privatekey', stringType)], rsaDecrypt, {
    cost: (args) => perCharacter(1 / 8)(args) + rsaWork(textAt(args, 1)),
  }),
  defineFunction('uuidv4', [], (_args, { ids }) => ok(stringValue(ids.next('uuid'))), { cost: 10 }),
  defineFunction('uuidv5', [parameter('namespace', stringType), parameter('name', stringType)], uuidV5, {
    cost: (args) => DIGEST + 20 + (textAt(args, 1).length >>> 4),
  }),
];

/** Units of work for a hash, in addition to its input. */
const DIGEST = 30;

/** Bounds the processor time of decryption. A key of 4,096 bits has about 3,300 characters. */
const MAX_KEY_TEXT = 4_096;
const MAX_KEY_BITS = 4_096;
/** Public exponents in use are 65,537 and less. */
const MAX_PUBLIC_EXPONENT = 2n ** 32n;

/** Units of work for parsing a private key and decrypting with it, by the lengths of its parts. */
function rsaWork(key: string): number {
  return 10_000 + Math.min(key.length, MAX_KEY_TEXT) ** 2 / 150;
}

/** Lowest cost that bcrypt allows. */
const MIN_BCRYPT_COST = 4;
const DEFAULT_BCRYPT_COST = 10;
/** Highest cost that fits into one turn: each step doubles the time. */
const MAX_BCRYPT_COST = 10;

/** Units of work for one hash. */
function bcryptWork(cost: number): number {
  return 2 ** cost * 900;
}

const NAMESPACES: ReadonlyMap<string, string> = new Map([
  ['dns', '6ba7b8109dad11d180b400c04fd430c8'],
  ['url', '6ba7b8119dad11d180b400c04fd430c8'],
  ['oid', '6ba7b8129dad11d180b400c04fd430c8'],
  ['x500', '6ba7b8149dad11d180b400c04fd430c8'],
]);

function nodeCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto');
}

function digest(algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512', bytes: Uint8Array): Buffer {
  return nodeCrypto().createHash(algorithm).update(bytes).digest();
}

function bcrypt(args: readonly HclValue[], { ids, budget }: FunctionContext): CallResult {
  if (args.length > 2) return fail('bcrypt takes a string and at most one cost');
  const given = args.length === 2 ? integerAt(args, 1, 'the cost') : ok(DEFAULT_BCRYPT_COST);
  return given.andThen((asked): CallResult => {
    const cost = asked < MIN_BCRYPT_COST ? DEFAULT_BCRYPT_COST : asked;
    if (cost > MAX_BCRYPT_COST)
      return fail(`a cost above ${MAX_BCRYPT_COST} is not supported: each step doubles the time`);
    const password = textAt(args, 0);
    if (bytesFromText(password).length > 72) return fail('bcrypt reads at most 72 bytes of a password');
    if (!budget.charge(bcryptWork(cost))) return overBudget('bcrypt');
    const salt = digest('sha256', bytesFromText(ids.next('uuid') + ids.next('uuid'))).subarray(0, 16);
    const { encodeBase64, hashSync } = bcryptjs();
    return ok(stringValue(hashSync(password, `$2a$${String(cost).padStart(2, '0')}$${encodeBase64(salt, 16)}`)));
  });
}

/**
 * RSA with PKCS #1 v1.5 padding. The padding is removed here because the platform refuses to. All failures of decryption give
 * the same message, so that a caller cannot distinguish them.
 */
function rsaDecrypt(args: readonly HclValue[]): CallResult {
  const ciphertext = bytesFromBase64(textAt(args, 0));
  if (ciphertext === undefined) return fail('the ciphertext is not Base64 with padding');
  const key = textAt(args, 1);
  if (key.length > MAX_KEY_TEXT) return fail(`a private key may have at most ${MAX_KEY_BITS} bits`);
  const { createPrivateKey, privateDecrypt, constants } = nodeCrypto();
  try {
    const privateKey = createPrivateKey(key);
    const { modulusLength = 0, publicExponent = 0n } = privateKey.asymmetricKeyDetails ?? {};
    if (modulusLength > MAX_KEY_BITS || publicExponent > MAX_PUBLIC_EXPONENT) {
      return fail(`a private key may have at most ${MAX_KEY_BITS} bits and a small public exponent`);
    }
    const block = privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, ciphertext);
    const message = unpaddedText(block);
    return message === undefined ? fail('the ciphertext cannot be decrypted') : ok(stringValue(message));
  } catch {
    return fail('the ciphertext cannot be decrypted with this private key (PEM, without a passphrase)');
  }
}

/** The message of a decrypted block, after its padding: 0, 2, at least eight non-zero bytes, and a 0. */
function unpaddedText(block: Buffer): string | undefined {
  const end = block.indexOf(0, 2);
  return block[0] === 0 && block[1] === 2 && end >= 10 ? textFromBytes(block.subarray(end + 1)) : undefined;
}

function uuidV5(args: readonly HclValue[]): CallResult {
  const name = textAt(args, 0);
  const namespace = NAMESPACES.get(name) ?? uuidDigits(name);
  if (namespace === undefined) {
    return fail(`${JSON.stringify(shortened(name))} is neither a UUID nor one of the namespaces dns, url, oid, x500`);
  }
  const hash = digest('sha1', Buffer.concat([Buffer.from(namespace, 'hex'), bytesFromText(textAt(args, 1))]));
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return ok(stringValue(hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')));
}

/** The digits of a UUID: with or without dashes, in braces, or as a URN. */
function uuidDigits(text: string): string | undefined {
  const bare = text.replace(/^urn:uuid:/i, '').replace(/^\{(.*)\}$/, '$1');
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i.exec(bare);
  if (match !== null) return match.slice(1).join('').toLowerCase();
  return /^[0-9a-f]{32}$/i.test(bare) ? bare.toLowerCase() : undefined;
}
