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
 * The Standard Webhooks signature list over id, Unix seconds and body, separated by blanks: for each secret `v1,` and the base64
 * HMAC-SHA256, for each signing key (`whsk_…`) `v1a,` and the base64 Ed25519 signature. Several secrets are valid together while one
 * replaces another.
 */
export function standardSignature(tokens: readonly string[], id: string, seconds: number, body: string): string {
  const signed = `${id}.${seconds}.${body}`;
  return tokens
    .map((token) => {
      const key = signingKeyOf(token);
      return key === undefined
        ? `v1,${nodeCrypto().createHmac('sha256', token).update(signed).digest('base64')}`
        : `v1a,${nodeCrypto().sign(null, Buffer.from(signed), key).toString('base64')}`;
    })
    .join(' ');
}

/** A name for a URL that does not tell it. */
export function digestOfUrl(url: string): string {
  return nodeCrypto().createHash('sha256').update(url).digest('base64url');
}

/** Whether the header's value is the signature of these bytes with this token; takes the same time whatever differs. */
export function matchesSignature(token: string, body: string | Uint8Array, signature: string): boolean {
  // A public key is known to everybody, so a signature made with it proves nothing.
  if (token.startsWith(publicPrefix)) return false;
  return equalInConstantTime(nodeCrypto().createHmac('sha512', token).update(body).digest('hex'), signature);
}

/** What a signature of Standard Webhooks covers: the headers as they were sent, and the body. */
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
  let matches = false;
  for (const token of tokens) {
    if (token.startsWith(publicPrefix) || signingKeyOf(token) !== undefined) {
      const publicKey = verifyingKeyOf(token);
      const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), Buffer.from(body as string)]);
      matches =
        given.some((signature) => publicKey !== undefined && isSignedBy(publicKey, signed, signature)) || matches;
      continue;
    }
    const expected = `v1,${nodeCrypto().createHmac('sha256', token).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    for (const signature of given) matches = equalInConstantTime(expected, signature) || matches;
  }
  return matches;
}

/** What is wrong with a token that is meant as a signing key; null for keys that can sign, and for every other token. */
export function signingKeyProblem(token: string): string | null {
  if (!token.startsWith(secretPrefix) || signingKeyOf(token) !== undefined) return null;
  return `begins with ${secretPrefix}, but what follows is not base64 of an Ed25519 key: 32 bytes, or 64 with its public key`;
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

const secretPrefix = 'whsk_';
const publicPrefix = 'whpk_';
const keyBytes = 32;
/** The bytes before the 32 bytes of an Ed25519 key in its standard encodings (RFC 8410). */
const secretHead = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicHead = Buffer.from('302a300506032b6570032100', 'hex');

const signingKeyOf = remembered((token): KeyObject | undefined => {
  const bytes = bytesBehind(secretPrefix, token);
  if (bytes === undefined || (bytes.length !== keyBytes && bytes.length !== 2 * keyBytes)) return undefined;
  const key = Buffer.concat([secretHead, bytes.subarray(0, keyBytes)]);
  return nodeCrypto().createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}, 256);

const verifyingKeyOf = remembered((token): KeyObject | undefined => {
  const own = signingKeyOf(token);
  if (own !== undefined) return nodeCrypto().createPublicKey(own);
  const bytes = bytesBehind(publicPrefix, token);
  if (bytes?.length !== keyBytes) return undefined;
  return nodeCrypto().createPublicKey({ key: Buffer.concat([publicHead, bytes]), format: 'der', type: 'spki' });
}, 256);

function bytesBehind(prefix: string, token: string): Buffer | undefined {
  const text = token.slice(prefix.length);
  return token.startsWith(prefix) && /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}

function isSignedBy(key: KeyObject, signed: Buffer, signature: string): boolean {
  if (!signature.startsWith('v1a,')) return false;
  return nodeCrypto().verify(null, signed, key, Buffer.from(signature.slice('v1a,'.length), 'base64'));
}

/** A list longer than any rotation makes is not worth looking through. */
const mostSignatures = 16;

function equalInConstantTime(expected: string, given: string): boolean {
  const left = Buffer.from(expected);
  const right = Buffer.from(given);
  return left.length === right.length && nodeCrypto().timingSafeEqual(left, right);
}

/** Loaded by the first signature: it takes a tenth of the time in which an empty process starts. */
function nodeCrypto(): typeof import('node:crypto') {
  loaded ??= process.getBuiltinModule('node:crypto');
  return loaded;
}

let loaded: typeof import('node:crypto') | undefined;
