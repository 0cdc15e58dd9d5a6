import type { Namespace } from './namespaces/namespace.js';

const prime = 0x100000001b3n;
const offset = 0xcbf29ce484222325n;
const lanes = [0n, 1n, 2n, 3n] as const;

/** Base64 of 32 bytes that change when the contents do. Not cryptographic. */
export function contentDigest(contents: readonly unknown[]): string {
  const bytes = new TextEncoder().encode(JSON.stringify(contents));
  return btoa(lanes.map((lane) => eightBytes(digest(bytes, offset + lane))).join(''));
}

/** FNV-1a of 64 bits. */
function digest(bytes: Uint8Array, start: bigint): bigint {
  let hash = start;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime);
  return hash;
}

function eightBytes(value: bigint): string {
  let text = '';
  for (let shift = 56n; shift >= 0n; shift -= 8n) text += String.fromCharCode(Number((value >> shift) & 0xffn));
  return text;
}

/** Base64 of 32 bytes that change with the settings of a namespace. Not cryptographic. */
export function namespaceHash(namespace: Omit<Namespace, 'Hash' | 'CreateIndex' | 'ModifyIndex'>): string {
  const { Name, Description, Quota, Capabilities, Meta } = namespace;
  const meta = Object.entries(Meta ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return contentDigest([Name, Description, Quota, Capabilities, meta]);
}
