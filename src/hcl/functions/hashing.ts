import { ok } from 'neverthrow';
import type { HclValue } from '../values/value.js';
import { numberType, stringType, stringValue } from '../values/value.js';
import { integerAt, shortened, textAt } from './arguments.js';
import { bcryptHash, bcryptWork, DEFAULT_BCRYPT_COST, MAX_BCRYPT_COST, MIN_BCRYPT_COST } from './bcrypt.js';
import { bytesFromBase64, bytesFromText, textFromBytes } from './bytes.js';
import type { CallResult, EagerFunction, FunctionContext } from './function.js';
import { defineFunction, fail, overBudget, parameter } from './function.js';

const text = parameter('text', stringType);

/**
 * Hashes and what is made of them. Hashing is a pure function, so the platform's implementation may be used here; it is loaded on
 * the first call.
 */
export const hashFunctions: readonly EagerFunction[] = [
  ...(['md5', 'sha1', 'sha256', 'sha512'] as const).map((algorithm) =>
    defineFunction(algorithm, [text], (args) =>
      ok(stringValue(digest(algorithm, bytesFromText(textAt(args, 0))).toString('hex'))),
    ),
  ),
  defineFunction('bcrypt', [text], bcrypt, parameter('cost', numberType)),
  defineFunction('rsadecrypt', [parameter('ciphertext', stringType), parameter('privatekey', stringType)], rsaDecrypt),
  defineFunction('uuidv4', [], (_args, { ids }) => ok(stringValue(ids.next('uuid')))),
  defineFunction('uuidv5', [parameter('namespace', stringType), parameter('name', stringType)], uuidV5),
];

/** Longer private keys would keep the processor busy for long. */
const MAX_KEY_TEXT = 16_384;

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
  if (args.length > 2) return fail('bcrypt takes a text and at most one cost');
  const given = args.length === 2 ? integerAt(args, 1, 'the cost') : ok(DEFAULT_BCRYPT_COST);
  return given.andThen((asked): CallResult => {
    const cost = asked < MIN_BCRYPT_COST ? DEFAULT_BCRYPT_COST : asked;
    if (cost > MAX_BCRYPT_COST)
      return fail(`a cost above ${MAX_BCRYPT_COST} is not offered: each step up doubles the time`);
    const password = bytesFromText(textAt(args, 0));
    if (password.length > 72) return fail('bcrypt reads at most 72 bytes of a password');
    if (!budget.charge(bcryptWork(cost))) return overBudget('bcrypt');
    const salt = digest('sha256', bytesFromText(ids.next('uuid') + ids.next('uuid'))).subarray(0, 16);
    return ok(stringValue(bcryptHash(password, salt, cost)));
  });
}

/**
 * RSA with PKCS #1 v1.5 padding. The padding is taken off here, since the platform refuses to. A caller cannot tell why a decryption
 * failed.
 */
function rsaDecrypt(args: readonly HclValue[]): CallResult {
  const ciphertext = bytesFromBase64(textAt(args, 0));
  if (ciphertext === undefined) return fail('the ciphertext is not Base64 with padding');
  const key = textAt(args, 1);
  if (key.length > MAX_KEY_TEXT) return fail('the private key is too long');
  const { privateDecrypt, constants } = nodeCrypto();
  try {
    const block = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, ciphertext);
    const end = block.indexOf(0, 2);
    const message = block[0] === 0 && block[1] === 2 && end >= 10 ? textFromBytes(block.subarray(end + 1)) : undefined;
    return message === undefined ? fail('the ciphertext cannot be decrypted') : ok(stringValue(message));
  } catch {
    return fail('the ciphertext cannot be decrypted with this private key (PEM, without a passphrase)');
  }
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

/** The digits of a UUID: plain, with dashes, in braces, or as a URN. */
function uuidDigits(text: string): string | undefined {
  const bare = text.replace(/^urn:uuid:/i, '').replace(/^\{(.*)\}$/, '$1');
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i.exec(bare);
  if (match !== null) return match.slice(1).join('').toLowerCase();
  return /^[0-9a-f]{32}$/i.test(bare) ? bare.toLowerCase() : undefined;
}
