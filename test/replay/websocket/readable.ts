import { createHash } from 'node:crypto';
import { isRecord } from '../http/transcript.js';

/** A message as it came. */
export interface Frame {
  readonly payload: Buffer;
  readonly isBinary: boolean;
}

const streams = ['stdout', 'stderr'] as const;
const longestText = 2048;

/** Data of one stream that is being joined, or another message of it. */
type Piece = { readonly stream: string; readonly bytes: Buffer } | { readonly message: unknown };

/**
 * The messages as they are compared: data decoded, and joined where it follows itself. Between two other messages the streams
 * are not ordered against each other: all of `stdout` comes first.
 */
export function readable(frames: readonly Frame[]): readonly unknown[] {
  const told: unknown[] = [];
  let open: Record<string, Piece[]> = {};
  const settle = (): void => {
    for (const stream of streams) told.push(...(open[stream] ?? []).map(shown));
    open = {};
  };
  for (const frame of frames) {
    const message = messageOf(frame);
    const stream = streams.find((name) => isRecord(message[name]) && Object.keys(message).length === 1);
    if (stream === undefined) {
      settle();
      told.push(message);
      continue;
    }
    open[stream] ??= [];
    add(open[stream], stream, message);
  }
  settle();
  return told;
}

function add(pieces: Piece[], stream: string, message: Readonly<Record<string, unknown>>): void {
  const { data, ...others } = message[stream] as Readonly<Record<string, unknown>>;
  if (typeof data !== 'string' || Object.keys(others).length > 0) {
    pieces.push({ message });
    return;
  }
  const bytes = Buffer.from(data, 'base64');
  const last = pieces.at(-1);
  if (last === undefined || !('bytes' in last)) pieces.push({ stream, bytes });
  else pieces[pieces.length - 1] = { stream, bytes: Buffer.concat([last.bytes, bytes]) };
}

function shown(piece: Piece): unknown {
  return 'bytes' in piece ? { [piece.stream]: { data: written(piece.bytes) } } : piece.message;
}

function messageOf({ payload, isBinary }: Frame): Readonly<Record<string, unknown>> {
  const text = payload.toString();
  if (isBinary) return { opcode: 2, payload: written(payload) };
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { text };
  } catch {
    return { text };
  }
}

/** Text where it is text, else base64; long data by its length and digest. */
function written(bytes: Buffer): unknown {
  if (bytes.length > longestText) {
    return { length: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  }
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes)
    ? text.replace(/\/dev\/pts\/\d+/g, '/dev/pts/<n>')
    : { base64: bytes.toString('base64') };
}
