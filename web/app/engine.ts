import { signal } from '@preact/signals';
import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { type Client, connect, SignalboxError } from 'signalbox/client';
import { mountUrl, settings } from './settings.js';

/** Whether the last request reached the server, and since when it does not. */
export const lostSince = signal<number | undefined>(undefined);
/** Counts refusals for a missing right: the session may have ended, or rights have changed. */
export const refusals = signal(0);

/** Tokens of a page in a frame, which its host hands over and renews. They are in memory only. */
export interface TokenSource {
  /** The token; waits until there is one. Rejects when the signal aborts. */
  readonly token: (signal: AbortSignal | null | undefined) => Promise<string>;
  /** The server did not accept this token: it has ended, or a right is missing. */
  readonly refused: (token: string) => void;
}

let tokens: TokenSource | undefined;

/** Requests carry these tokens instead of the session of the browser, which may be that of somebody else. */
export function carryTokens(source: TokenSource): void {
  tokens = source;
}

/** A refused request is sent once more, with the next token: it was not carried out. */
async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  if (tokens === undefined) return fetch(input, init);
  for (let isSecond = false; ; isSecond = true) {
    const token = await tokens.token(init.signal);
    const headers = new Headers(init.headers);
    headers.delete('X-SVC-Session');
    headers.set('X-SVC-Token', token);
    const response = await fetch(input, { ...init, headers, credentials: 'omit' });
    if (response.status !== 401 && response.status !== 403) return response;
    tokens.refused(token);
    if (isSecond) return response;
  }
}

/** The browser's `fetch`, which notes whether the server answers. */
async function observedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await send(input, init);
    // A proxy answers for a server that is down.
    if (response.status === 502 || response.status === 504) lostSince.value ??= Date.now();
    else lostSince.value = undefined;
    if (response.status === 401 || response.status === 403) refusals.value += 1;
    return response;
  } catch (error) {
    if (init?.signal?.aborted !== true) lostSince.value ??= Date.now();
    throw error;
  }
}

/** The interface of the server, with the rights of the browser's session. */
export const box: Client = connect({
  url: mountUrl.href,
  notificationsPath: settings.notificationsPath,
  headers: { 'X-SVC-Session': '1' },
  fetch: observedFetch,
});

/** An error of a call, as people read it. */
export function messageOf(error: { readonly type: string }): string {
  return new SignalboxError(error).message;
}

type AnswerOf<M> = M extends (...args: never[]) => ResultAsync<infer V, infer _E> ? V : never;

/** What a call answers, without its index. */
export type ValueOf<M> = AnswerOf<M> extends { readonly index: number; readonly value: infer V } ? V : AnswerOf<M>;

/** One entry of a list that a call answers. */
export type EntryOf<M> =
  ValueOf<M> extends readonly (infer E)[] ? E : ValueOf<M> extends { readonly items: readonly (infer E)[] } ? E : never;

/** An error of the page itself. */
export interface Failure {
  readonly type: string;
  readonly message?: string;
}

/** One call after the other; the message of the first failure says how many were done. */
export function inTurn<T>(
  items: readonly T[],
  run: (item: T) => ResultAsync<unknown, Failure>,
): ResultAsync<undefined, Failure> {
  const all = async (): Promise<Result<undefined, Failure>> => {
    for (const [done, item] of items.entries()) {
      const result = await run(item);
      if (result.isErr())
        return err({
          type: 'partly_done',
          message: `${done} of ${items.length} done, then: ${messageOf(result.error)}`,
        });
    }
    return ok(undefined);
  };
  return new ResultAsync(all());
}
