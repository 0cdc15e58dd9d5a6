import { contentDigest } from '../content-digest.js';
import type { Namespace } from './namespace.js';

/** Base64 of 32 bytes that change with the settings of a namespace. Not cryptographic. */
export function namespaceHash(namespace: Omit<Namespace, 'Hash' | 'CreateIndex' | 'ModifyIndex'>): string {
  const { Name, Description, Quota, Capabilities, Meta } = namespace;
  const meta = Object.entries(Meta ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return contentDigest([Name, Description, Quota, Capabilities, meta]);
}
