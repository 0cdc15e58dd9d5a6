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
export class MessageQueue implements AsyncIterable<string | Uint8Array> {
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
