/**
 * The signature of a generic notification: HMAC-SHA512 with the token's UTF-8 bytes over exactly the bytes of the body, as
 * 128 lower-case hexadecimal digits (notification interface, Authentication).
 */
export function signBody(token: string, body: string): string {
  return nodeCrypto().createHmac('sha512', token).update(body).digest('hex');
}

/**
 * The Standard Webhooks signature list, version 1: for each secret `v1,` and the base64 HMAC-SHA256 over id, Unix seconds
 * and body, separated by blanks. Several secrets are valid together while one replaces another.
 */
export function standardSignature(tokens: readonly string[], id: string, seconds: number, body: string): string {
  const signed = `${id}.${seconds}.${body}`;
  return tokens
    .map((token) => `v1,${nodeCrypto().createHmac('sha256', token).update(signed).digest('base64')}`)
    .join(' ');
}

/** Whether the header's value is the signature of these bytes with this token; takes the same time whatever differs. */
export function matchesSignature(token: string, body: string | Uint8Array, signature: string): boolean {
  return equalInConstantTime(nodeCrypto().createHmac('sha512', token).update(body).digest('hex'), signature);
}

/** Whether one signature of the Standard Webhooks list was made with one of the tokens; takes the same time whatever differs. */
export function matchesStandardSignature(
  tokens: readonly string[],
  id: string,
  timestamp: string,
  body: string | Uint8Array,
  signatures: string,
): boolean {
  const given = signatures.split(' ').slice(0, mostSignatures);
  let matches = false;
  for (const token of tokens) {
    const expected = `v1,${nodeCrypto().createHmac('sha256', token).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
    for (const signature of given) matches = equalInConstantTime(expected, signature) || matches;
  }
  return matches;
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
