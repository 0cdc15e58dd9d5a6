import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { MessageSocket, SocketEnd } from '../../../src/api/message-socket.js';

/** Limits of one socket, in bytes and milliseconds. */
export interface SocketBounds {
  /** The most bytes of a message; a longer one closes the socket with 1009. Default: 1 MiB. */
  readonly maximumMessageBytes: number;
  /** Buffered bytes in each direction beyond which the sender is paused. Default: 1 MiB. */
  readonly maximumQueuedBytes: number;
  /** Silence after which a peer counts as disconnected; it is pinged after half of this time. Default: one minute. */
  readonly idleTimeout: number;
  /** Time within which a peer must accept sent data. Default: 30 seconds. */
  readonly stallTimeout: number;
}

const queuedMessages = 256;
/** How much a sender that does not wait for room may have on its way, as a multiple of the bound. */
const burstFactor = 8;

/** A WebSocket that answers the peer's close frame with its code alone. */
interface ServedSocket extends WebSocket {
  /** Closes it from this side. */
  closeWith(code: number, reason: string): void;
}

type ServedSocketClass = new (...parameters: ConstructorParameters<typeof WebSocket>) => ServedSocket;

/**
 * The class of the `ws` package as a server uses it: `ws` answers a close frame by its own `close`, with the peer's reason, which
 * is the peer's to give.
 */
export function servedSocket(base: typeof WebSocket): typeof WebSocket & ServedSocketClass {
  return class extends base implements ServedSocket {
    override close(code?: number): void {
      super.close(code);
    }

    closeWith(code: number, reason: string): void {
      super.close(code, reason);
    }
  };
}

/** A WebSocket of the `ws` package, with bounds. `socket` is the connection below it. */
export function boundedSocket(webSocket: ServedSocket, socket: Duplex, bounds: SocketBounds): MessageSocket {
  return new BoundedSocket(webSocket, socket, bounds);
}

class BoundedSocket implements MessageSocket {
  readonly messages: MessageQueue;
  readonly closed: Promise<SocketEnd>;
  readonly #webSocket: ServedSocket;
  readonly #socket: Duplex;
  readonly #bounds: SocketBounds;
  #heardAt = performance.now();

  constructor(webSocket: ServedSocket, socket: Duplex, bounds: SocketBounds) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#bounds = bounds;
    this.messages = new MessageQueue({
      bounds: { messages: queuedMessages, bytes: bounds.maximumQueuedBytes },
      onFull: () => webSocket.pause(),
      onRoom: () => webSocket.resume(),
    });
    const asking = setInterval(() => this.#askAfterPeer(), bounds.idleTimeout / 2);
    asking.unref();
    this.closed = new Promise((resolve) => {
      webSocket.on('close', (code, reason) => {
        clearInterval(asking);
        this.messages.end();
        resolve({ code, reason: reason.toString() });
      });
    });
    webSocket.on('message', (data, isBinary) => {
      this.#heard();
      this.messages.push(isBinary ? bytesOf(data) : bytesOf(data).toString());
    });
    webSocket.on('pong', () => this.#heard());
    webSocket.on('ping', () => {
      this.#heard();
      // Each ping is answered; a peer that sends them and takes no answers must not fill the memory.
      if (webSocket.bufferedAmount > bounds.maximumQueuedBytes) webSocket.terminate();
    });
    // The close code reports the protocol error to the peer; a close follows every error.
    webSocket.on('error', ignore);
  }

  send(message: string | Uint8Array): Promise<boolean> {
    const { maximumQueuedBytes, stallTimeout } = this.#bounds;
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return Promise.resolve(false);
    if (this.#webSocket.bufferedAmount > maximumQueuedBytes * burstFactor) {
      this.#webSocket.terminate();
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      let stallTimer: NodeJS.Timeout | undefined;
      this.#webSocket.send(message, (error) => {
        clearTimeout(stallTimer);
        resolve(error === undefined || error === null);
      });
      if (this.#webSocket.bufferedAmount < maximumQueuedBytes) resolve(true);
      else stallTimer = setTimeout(() => this.#webSocket.terminate(), stallTimeout);
    });
  }

  close(code = 1000, reason = ''): void {
    // A peer that no longer reads its messages still reads the close frame; ours must be able to come in.
    this.#webSocket.resume();
    this.#webSocket.closeWith(code, cutText(reason, 123));
  }

  cut(): void {
    this.#socket.end();
  }

  #heard(): void {
    this.#heardAt = performance.now();
  }

  /** A peer under back-pressure may be silent. It is pinged all the same: only what is written shows that a connection is gone. */
  #askAfterPeer(): void {
    if (this.#webSocket.isPaused) this.#heard();
    else if (performance.now() - this.#heardAt > this.#bounds.idleTimeout) this.#webSocket.terminate();
    if (this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.ping();
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/** Truncates to this number of UTF-8 bytes, without a broken character at the end. */
function cutText(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && ((whole[end] as number) & 0xc0) === 0x80) end -= 1;
  return whole.subarray(0, end).toString();
}

const ignore = (): void => undefined;

/** The most unread messages and bytes of a queue. */
interface QueueBounds {
  readonly messages: number;
  readonly bytes: number;
}

interface MessageQueueOptions {
  readonly bounds: QueueBounds;
  /** Called when the queue has reached its limits, and when it has shrunk to half of them. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
}

/** Messages for one reader, which consumes them as an async iterable. */
class MessageQueue implements AsyncIterable<string | Uint8Array> {
  readonly #options: MessageQueueOptions;
  readonly #waiting: (string | Uint8Array)[] = [];
  #bytes = 0;
  #full = false;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(options: MessageQueueOptions) {
    this.#options = options;
  }

  push(message: string | Uint8Array): void {
    if (this.#ended) return;
    this.#waiting.push(message);
    this.#bytes += message.length;
    const { bounds, onFull } = this.#options;
    if (!this.#full && (this.#waiting.length >= bounds.messages || this.#bytes >= bounds.bytes)) {
      this.#full = true;
      onFull();
    }
    this.#wake?.();
  }

  /** Ends the queue after the messages in it. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array> {
    try {
      for (;;) {
        const message = this.#take();
        if (message !== undefined) yield message;
        else if (this.#ended) return;
        else await this.#arrival();
      }
    } finally {
      // The reader has ended: further messages are dropped without back-pressure.
      this.#ended = true;
      this.#waiting.length = 0;
      this.#options.onRoom();
    }
  }

  #take(): string | Uint8Array | undefined {
    const message = this.#waiting.shift();
    if (message === undefined) return undefined;
    this.#bytes -= message.length;
    const { bounds, onRoom } = this.#options;
    if (this.#full && this.#waiting.length <= bounds.messages / 2 && this.#bytes <= bounds.bytes / 2) {
      this.#full = false;
      onRoom();
    }
    return message;
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
