import { inFixedOrder } from './fixed-order.js';
import type { Answered, Step } from './transcript.js';

/** The body of an answer as it is compared: parsed, and lists without an order of their own put in a fixed one. */
export interface Document {
  readonly kind: 'json' | 'text' | 'conversation';
  readonly document: unknown;
}

/** `seen` numbers the ids of earlier answers. */
export function documentOf(
  { text, headers, conversation }: Answered,
  { path = '', stopAfterMs }: Step,
  seen: ReadonlyMap<string, number> = new Map(),
): Document {
  if (conversation !== undefined) return { kind: 'conversation', document: conversation };
  if (stopAfterMs !== undefined) return { kind: 'json', document: streamed(text) };
  if (!/json/.test(headers['content-type'] ?? '')) return { kind: 'text', document: text };
  try {
    return { kind: 'json', document: inFixedOrder(JSON.parse(text), path, seen) };
  } catch {
    return { kind: 'text', document: text };
  }
}

/** The events of a stream as one list; lines that are no JSON as they are. Heartbeats are left out. */
function streamed(text: string): readonly unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && line !== '{}')
    .flatMap((line) => {
      try {
        return (JSON.parse(line) as { readonly Events?: readonly unknown[] }).Events ?? [line];
      } catch {
        return [line];
      }
    });
}
