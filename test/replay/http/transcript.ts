import type { Act } from '../websocket/converse.js';

/** A recorded conversation with the upstream: requests in order, and its answers with what is different on every run replaced. */
export interface Transcript {
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly method?: string;
  readonly path?: string;
  readonly query?: Readonly<Record<string, string | null | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is sent as it is. */
  readonly raw?: string;
  /** Variables that later steps use, each from a JSON pointer into the answer, or from `header:NAME`. */
  readonly save?: Readonly<Record<string, string>>;
  /** The request is repeated until its answer is so. */
  readonly until?: Until;
  /** Neither recorded nor compared. */
  readonly quiet?: boolean;
  /** Only the values at these pointers are compared. */
  readonly pick?: readonly string[];
  /** The same for a JSON body; a text is compared whole. */
  readonly pickJson?: readonly string[];
  readonly slowerThanMs?: number;
  /** An endless answer is cut off then; its lines are compared as one list. */
  readonly stopAfterMs?: number;
  /** The request is left waiting under this name. */
  readonly background?: string;
  /** Takes the answer of a request that was left waiting. */
  readonly answerOf?: string;
  /** The index header of this list is compared too. */
  readonly exactIndex?: boolean;
  /** The request opens a WebSocket, and this is said over it. */
  readonly talk?: readonly Act[];
  /** Milliseconds in which a conversation has to end, and what it waits for has to come. */
  readonly limitMs?: number;
  readonly answer?: unknown;
}

export interface Until {
  readonly pointer?: string;
  readonly equals?: unknown;
  readonly in?: readonly unknown[];
  readonly count?: number;
  readonly orNone?: boolean;
  readonly status?: number;
  readonly timeoutMs?: number;
}

/** What a server answered, or why there is no answer. */
export type Reply = Answered | { readonly skipped: string };

export interface Answered {
  /** 0 when the connection broke. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly ms: number;
  /** What came over a WebSocket, and how it ended. */
  readonly conversation?: unknown;
  /** What the step waited for did not come. */
  readonly notReached?: true;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Every value that a JSON pointer names; the segment `*` stands for all elements or members. */
export function valuesAt(document: unknown, pointer: string): readonly unknown[] {
  const segments = pointer.split('/').slice(1);
  return segments.reduce<readonly unknown[]>(
    (values, segment) => {
      const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
      return values.flatMap((value) => {
        if (value === null || typeof value !== 'object') return [];
        if (key === '*') return Object.values(value);
        return Object.hasOwn(value, key) ? [(value as Record<string, unknown>)[key]] : [];
      });
    },
    [document],
  );
}
