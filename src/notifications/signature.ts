import { createHmac } from 'node:crypto';

/**
 * The signature of a generic notification: HMAC-SHA512 with the token's UTF-8 bytes over exactly the bytes of the body, as
 * 128 lower-case hexadecimal digits (notification interface, Authentication).
 */
export function signBody(token: string, body: string): string {
  return createHmac('sha512', token).update(body).digest('hex');
}

/**
 * The Standard Webhooks signature list, version 1: for each secret `v1,` and the base64 HMAC-SHA256 over id, Unix seconds
 * and body, separated by blanks. Several secrets are valid together while one replaces another.
 */
export function standardSignature(tokens: readonly string[], id: string, seconds: number, body: string): string {
  const signed = `${id}.${seconds}.${body}`;
  return tokens.map((token) => `v1,${createHmac('sha256', token).update(signed).digest('base64')}`).join(' ');
}
