import { err, ok, type Result } from 'neverthrow';
import type { MessageSocket, SocketEnd } from '../api/message-socket.js';
import type { TaggedError } from './client.js';
import { aborted, type Unreachable } from './client-error.js';

/** The members of a WebSocket that are used: browsers, Node 22 and the package `ws` have them. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  send(data: string | ArrayBuffer): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: string, listener: (event: never) => void): void;
}

/** A constructor of WebSockets, as in browsers and the package `ws`. */
export type WebSocketConstructor = new (url: string) => WebSocketLike;

interface OpenOptions {
  readonly WebSocket: WebSocketConstructor;
  readonly url: string;
  /** Sent first: browsers cannot send the token in a header. */
  readonly hello: string;
  readonly signal: AbortSignal | undefined;
}

/** Buffered bytes beyond which a sender waits, and how often it checks, in milliseconds. */
const highWater = 1024 * 1024;
const lookAgain = 20;

/** Opens a socket with the platform's WebSocket. A refusal of the server arrives as the end of an opened socket. */
export function openBrowserSocket(options: OpenOptions): Promise<Result<MessageSocket, TaggedError>> {
  const { WebSocket, url, hello, signal } = options;
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve(err(aborted));
    let socket: WebSocketLike;
    try {
      socket = new WebSocket(url);
    } catch (cause) {
      return resolve(err(unreachable(url, cause)));
    }
    socket.binaryType = 'arraybuffer';
    const opened = new BrowserSocket(socket);
    signal?.addEventListener('abort', () => opened.close(1000, 'closed by the caller'), { once: true });
    socket.addEventListener('open', () => {
      socket.send(hello);
      resolve(ok(opened));
    });
    // Has no effect once the socket is open.
    void opened.closed.then(() => resolve(err(signal?.aborted === true ? aborted : unreachable(url, undefined))));
  });
}

function unreachable(url: string, cause: unknown): Unreachable {
  return { type: 'unreachable', message: `${new URL(url).host} did not open a socket`, cause };
}

class BrowserSocket implements MessageSocket {
  readonly messages: AsyncIterable<string | Uint8Array>;
  readonly closed: Promise<SocketEnd>;
  readonly #socket: WebSocketLike;
  readonly #waiting: (string | Uint8Array)[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(socket: WebSocketLike) {
    this.#socket = socket;
    this.messages = { [Symbol.asyncIterator]: () => this.#read() };
    socket.addEventListener('message', ({ data }: { readonly data: string | ArrayBuffer }) => {
      this.#waiting.push(typeof data === 'string' ? data : new Uint8Array(data));
      this.#wake();
    });
    // A close follows every error.
    socket.addEventListener('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }: SocketEnd) => {
        this.#ended = true;
        this.#wake();
        resolve({ code, reason });
      });
    });
  }

  async send(message: string | Uint8Array): Promise<boolean> {
    if (this.#ended) return false;
    this.#socket.send(typeof message === 'string' ? message : new Uint8Array(message).buffer);
    while (!this.#ended && this.#socket.bufferedAmount > highWater) {
      await new Promise((resolve) => setTimeout(resolve, lookAgain));
    }
    return !this.#ended;
  }

  close(code = 1000, reason = ''): void {
    this.#socket.close(code, reason);
  }

  /** Browsers always send a close frame. */
  cut(): void {
    this.close();
  }

  async *#read(): AsyncGenerator<string | Uint8Array> {
    for (;;) {
      const message = this.#waiting.shift();
      if (message !== undefined) yield message;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
