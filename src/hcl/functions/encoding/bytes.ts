import { isBase64 } from '../../../shared/values.js';

/** UTF-8; halves of surrogate pairs become the replacement character. */
export function bytesFromText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Decodes UTF-8, keeping a byte-order mark; undefined if the bytes are not UTF-8. */
export function textFromBytes(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function base64FromBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Standard alphabet with padding; line breaks are skipped. Undefined for anything else. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  const compact = text.replace(/[\r\n]/g, '');
  return isBase64(compact) ? Buffer.from(compact, 'base64') : undefined;
}
