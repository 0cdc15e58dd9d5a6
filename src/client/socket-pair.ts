import type { MessageSocket, SocketEnd } from '../api/message-socket.js';

/** Messages that one side may send before the other has read any. */
const mostWaiting = 64;

/** Two connected sockets without a network: each receives the messages of the other. */
export function socketPair(): readonly [MessageSocket, MessageSocket] {
  const left = new PairedSocket();
  const right = new PairedSocket();
  left.join(right);
  right.join(left);
  return [left, right];
}

class PairedSocket implements MessageSocket {
  readonly messages: AsyncIterable<string | Uint8Array>;
  readonly closed: Promise<SocketEnd>;
  readonly #waiting: (string | Uint8Array)[] = [];
  #other: PairedSocket | undefined;
  #ended = false;
  #tellClosed: (end: SocketEnd) => void = () => undefined;
  #wakeReader: () => void = () => undefined;
  #wakeSenders: (() => void)[] = [];

  constructor() {
    this.messages = { [Symbol.asyncIterator]: () => this.#read() };
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
  }

  join(other: PairedSocket): void {
    this.#other = other;
  }

  async send(message: string | Uint8Array): Promise<boolean> {
    const other = this.#other;
    if (this.#ended || other === undefined) return false;
    other.#waiting.push(message);
    other.#wakeReader();
    if (other.#waiting.length < mostWaiting) return true;
    await new Promise<void>((resolve) => other.#wakeSenders.push(resolve));
    return !this.#ended;
  }

  close(code = 1000, reason = ''): void {
    this.#end({ code, reason });
    if (this.#other !== undefined) this.#other.#end({ code, reason });
  }

  cut(): void {
    this.close(1006);
  }

  #end(end: SocketEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#wakeReader();
    this.#letSendersGo();
    this.#tellClosed(end);
  }

  async *#read(): AsyncGenerator<string | Uint8Array> {
    try {
      for (;;) {
        const message = this.#waiting.shift();
        if (message !== undefined) {
          if (this.#waiting.length < mostWaiting) this.#letSendersGo();
          yield message;
        } else if (this.#ended) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      this.#waiting.length = 0;
      this.#letSendersGo();
    }
  }

  #letSendersGo(): void {
    for (const go of this.#wakeSenders.splice(0)) go();
  }
}
