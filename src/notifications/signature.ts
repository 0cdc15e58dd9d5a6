import type { KeyObject } from 'node:crypto';
import { remembered } from '../shared/remembered.js';

/**
 * The signature of a generic notification: HMAC-SHA512 with the token's UTF-8 bytes over exactly the bytes of the body, as
 * 128 lower-case hexadecimal digits (notification interface, Authentication).
 */
export function signBody(token: string, body: string): string {
  return nodeCrypto().createHmac('sha512', token).update(body).digest('hex');
}

/**
 * The Standard Webhooks signature list over id, Unix seconds and body, separated by spaces: for each HMAC key of a secret `v1,` and the
 * base64 HMAC-SHA256, for each signing key (`whsk_…`) `v1a,` and the base64 Ed25519 signature. Several secrets are valid together while
 * one replaces another. Empty when no token is a valid secret.
 */
export function standardSignature(tokens: readonly string[], id: string, seconds: number, body: string): string {
  const signed = `${id}.${seconds}.${body}`;
  return tokens
    .flatMap((token) => {
      const key = signingKeyOf(token);
      return key === undefined
        ? hmacKeysOf(token).map((secret) => standardHmac(secret, signed))
        : [`v1a,${nodeCrypto().sign(null, Buffer.from(signed), key).toString('base64')}`];
    })
    .join(' ');
}

function standardHmac(key: string | Buffer, signed: string | Uint8Array): string {
  return `v1,${nodeCrypto().createHmac('sha256', key).update(signed).digest('base64')}`;
}

/**
 * The HMAC keys of a secret in Standard Webhooks: what the base64 after `whsec_` decodes to, otherwise the UTF-8 bytes of the token. Base64 of
 * 24 to 64 bytes without the prefix is ambiguous, since the reference libraries decode it: such a token has both keys. Keys are never
 * empty, because anyone can sign with an empty one.
 */
function hmacKeysOf(token: string): readonly (string | Buffer)[] {
  if (isBlank(token)) return [];
  if (token.startsWith(sharedPrefix)) {
    const key = bytesBehind(sharedPrefix, token);
    return key === undefined ? [] : [key];
  }
  const key = token.length % 4 === 0 ? bytesBehind('', token) : undefined;
  return key !== undefined && key.length >= 24 && key.length <= 64 ? [token, key] : [token];
}

/** Whether a token is empty or white space, so that it is not a secret. */
export function isBlank(token: string): boolean {
  return token.trim() === '';
}

/** A digest that identifies a URL without revealing it. */
export function digestOfUrl(url: string): string {
  return nodeCrypto().createHash('sha256').update(url).digest('base64url');
}

/** Whether the header's value is the signature of these bytes with this token; runs in constant time. */
export function matchesSignature(token: string, body: string | Uint8Array, signature: string): boolean {
  // Public keys and empty tokens are public, so a signature made with one proves nothing.
  if (token.startsWith(publicPrefix) || isBlank(token)) return false;
  return equalInConstantTime(nodeCrypto().createHmac('sha512', token).update(body).digest('hex'), signature);
}

/** The content of a Standard Webhooks signature: the headers as received, and the body. */
interface StandardMessage {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string | Uint8Array;
}

/** Whether one signature of the Standard Webhooks list was made with one of the tokens; takes the same time whatever differs. */
export function matchesStandardSignature(
  tokens: readonly string[],
  { id, timestamp, body }: StandardMessage,
  signatures: string,
): boolean {
  const given = signatures.split(' ').slice(0, mostSignatures);
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body as string)]);
  let matches = false;
  for (const token of tokens) {
    if (token.startsWith(publicPrefix) || signingKeyOf(token) !== undefined) {
      const publicKey = verifyingKeyOf(token);
      matches =
        given.some((signature) => publicKey !== undefined && isSignedBy(publicKey, signed, signature)) || matches;
      continue;
    }
    for (const key of hmacKeysOf(token)) {
      const expected = standardHmac(key, signed);
      for (const signature of given) matches = equalInConstantTime(expected, signature) || matches;
    }
  }
  return matches;
}

/** Why a token cannot be used as a secret, for keys in a serialisation with a prefix and for white space; null when it can. */
export function tokenProblem(token: string): string | null {
  if (token.startsWith(secretPrefix) && signingKeyOf(token) === undefined) {
    return `begins with ${secretPrefix}, but is not followed by base64 of an Ed25519 key: 32 bytes, or 64 with its public key`;
  }
  if (token.startsWith(sharedPrefix) && bytesBehind(sharedPrefix, token) === undefined) {
    return `begins with ${sharedPrefix}, but is not followed by a key in base64 (A-Z, a-z, 0-9, + and /, without white space)`;
  }
  return token !== '' && isBlank(token) ? 'must not be white space only' : null;
}

/** A new pair: `secretKey` is the token of a configuration, `publicKey` goes to its receiver and can sign nothing. */
export function newSigningKeys(): { readonly secretKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = nodeCrypto().generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-keyBytes);
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-keyBytes);
  return {
    secretKey: secretPrefix + Buffer.concat([seed, point]).toString('base64'),
    publicKey: publicPrefix + point.toString('base64'),
  };
}

/** A shared secret in the serialisation of Standard Webhooks. */
const sharedPrefix = 'whsec_';
const secretPrefix = 'whsk_';
const publicPrefix = 'whpk_';
const keyBytes = 32;
/** The bytes before the 32 bytes of an Ed25519 key in its standard encodings (RFC 8410), in hexadecimal: browsers, which load them, have no `Buffer`. */
const secretHead = '302e020100300506032b657004220420';
const publicHead = '302a300506032b6570032100';

const signingKeyOf = remembered((token): KeyObject | undefined => {
  const bytes = bytesBehind(secretPrefix, token);
  if (bytes === undefined || (bytes.length !== keyBytes && bytes.length !== 2 * keyBytes)) return undefined;
  const key = Buffer.concat([Buffer.from(secretHead, 'hex'), bytes.subarray(0, keyBytes)]);
  return nodeCrypto().createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}, 256);

const verifyingKeyOf = remembered((token): KeyObject | undefined => {
  const own = signingKeyOf(token);
  if (own !== undefined) return nodeCrypto().createPublicKey(own);
  const bytes = bytesBehind(publicPrefix, token);
  if (bytes?.length !== keyBytes) return undefined;
  return nodeCrypto().createPublicKey({
    key: Buffer.concat([Buffer.from(publicHead, 'hex'), bytes]),
    format: 'der',
    type: 'spki',
  });
}, 256);

/** Decodes the base64 after a prefix; undefined when there is none. Padding is optional, as in the reference libraries. */
function bytesBehind(prefix: string, token: string): Buffer | undefined {
  const digits = /^([A-Za-z0-9+/]+)(={0,2})$/.exec(token.startsWith(prefix) ? token.slice(prefix.length) : '');
  if (digits === null) return undefined;
  const [, { length } = '', padding = ''] = digits;
  if (length % 4 === 1 || (padding !== '' && (length + padding.length) % 4 !== 0)) return undefined;
  return Buffer.from(digits[0], 'base64');
}

function isSignedBy(key: KeyObject, signed: Buffer, signature: string): boolean {
  if (!signature.startsWith('v1a,')) return false;
  return nodeCrypto().verify(null, signed, key, Buffer.from(signature.slice('v1a,'.length), 'base64'));
}

/** More than a configuration sends during rotations: two for each of eleven tokens. */
const mostSignatures = 32;

function equalInConstantTime(expected: string, given: string): boolean {
  const left = Buffer.from(expected);
  const right = Buffer.from(given);
  return left.length === right.length && nodeCrypto().timingSafeEqual(left, right);
}

/** Loaded at the first signature: loading takes a tenth of the start time of an empty process. */
function nodeCrypto(): typeof import('node:crypto') {
  loaded ??= process.getBuiltinModule('node:crypto');
  return loaded;
}

let loaded: typeof import('node:crypto') | undefined;
