/*
 * The messages of a socket that carries many conversations. Each consists of bytes: the kind, the channel number (four bytes,
 * big-endian), and a payload that depends on the kind.
 */

import { isRecord } from '../shared/values.js';

export type Frame =
  /** Opens a channel. Numbers are used once. */
  | { readonly type: 'open'; readonly channel: number }
  /** A part of an item. */
  | { readonly type: 'part'; readonly channel: number; readonly bytes: Uint8Array; readonly isLast: boolean }
  /** The sender sends no further items. */
  | { readonly type: 'end'; readonly channel: number }
  /** Ends the channel at once, in both directions. */
  | { readonly type: 'reset'; readonly channel: number; readonly reason: string }
  /** Credit: this many further bytes may be sent. */
  | { readonly type: 'credit'; readonly channel: number; readonly bytes: number }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' };

/** The content of a channel: JSON data, with the bytes of its member `bytes` kept separate. */
export type Item = Readonly<Record<string, unknown>> & { readonly bytes?: Uint8Array };

const kinds = { open: 1, part: 2, last: 3, end: 4, reset: 5, credit: 6, ping: 7, pong: 8 } as const;
const headLength = 5;
const longestReason = 500;

export function encodeFrame(frame: Frame): Uint8Array {
  switch (frame.type) {
    case 'part':
      return message(frame.isLast ? kinds.last : kinds.part, frame.channel, frame.bytes);
    case 'reset':
      return message(kinds.reset, frame.channel, new TextEncoder().encode(frame.reason.slice(0, longestReason)));
    case 'credit':
      return message(kinds.credit, frame.channel, number(frame.bytes));
    case 'open':
    case 'end':
      return message(kinds[frame.type], frame.channel, nothing);
    case 'ping':
    case 'pong':
      return message(kinds[frame.type], 0, nothing);
  }
}

/** Undefined for an invalid frame. The bytes of a part are a view of the message. */
export function decodeFrame(sent: string | Uint8Array): Frame | undefined {
  if (typeof sent === 'string' || sent.length < headLength) return undefined;
  const channel = view(sent).getUint32(1);
  const rest = sent.subarray(headLength);
  const kind = sent[0] ?? 0;
  switch (kind) {
    case kinds.open:
      return { type: 'open', channel };
    case kinds.part:
    case kinds.last:
      return { type: 'part', channel, bytes: rest, isLast: kind === kinds.last };
    case kinds.end:
      return { type: 'end', channel };
    case kinds.reset:
      return { type: 'reset', channel, reason: new TextDecoder().decode(rest).slice(0, longestReason) };
    case kinds.credit:
      return rest.length === 4 ? { type: 'credit', channel, bytes: view(rest).getUint32(0) } : undefined;
    case kinds.ping:
      return { type: 'ping' };
    case kinds.pong:
      return { type: 'pong' };
    default:
      return undefined;
  }
}

/** The length of the data as JSON (four bytes), the data, the bytes. */
export function encodeItem({ bytes, ...data }: Item): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(bytes === undefined ? { data } : { data, hasBytes: true }));
  const encoded = new Uint8Array(4 + json.length + (bytes?.length ?? 0));
  view(encoded).setUint32(0, json.length);
  encoded.set(json, 4);
  if (bytes !== undefined) encoded.set(bytes, 4 + json.length);
  return encoded;
}

/** Undefined for an invalid item. */
export function decodeItem(encoded: Uint8Array): Item | undefined {
  if (encoded.length < 4) return undefined;
  const end = 4 + view(encoded).getUint32(0);
  if (end > encoded.length) return undefined;
  const head = parsed(new TextDecoder().decode(encoded.subarray(4, end)));
  const data = head?.['data'];
  if (!isRecord(data)) return undefined;
  return head?.['hasBytes'] === true ? { ...data, bytes: encoded.subarray(end) } : data;
}

function message(kind: number, channel: number, rest: Uint8Array): Uint8Array {
  const encoded = new Uint8Array(headLength + rest.length);
  encoded[0] = kind;
  view(encoded).setUint32(1, channel);
  encoded.set(rest, headLength);
  return encoded;
}

function number(value: number): Uint8Array {
  const encoded = new Uint8Array(4);
  view(encoded).setUint32(0, value);
  return encoded;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parsed(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const nothing = new Uint8Array(0);
