import type { MessageSocket } from '../api/message-socket.js';
import type { Clock } from '../ports/clock.js';
import { type Carrier, Channel, type ChannelBounds, channelBounds } from './channel.js';
import { decodeFrame, encodeFrame, type Frame } from './frame.js';

interface ChannelsOptions {
  readonly socket: MessageSocket;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Receives each channel that the peer opens. If absent, the peer may open none. */
  readonly onOpen?: (channel: Channel) => void;
  readonly bounds?: ChannelBounds;
}

/** Milliseconds between two heartbeats, and milliseconds of silence after which the connection counts as lost. */
const pingPause = 10_000;
const longestSilence = 35_000;

/** Many conversations over one socket. One end opens them, the other one answers. */
export class Channels {
  readonly #socket: MessageSocket;
  readonly #clock: ChannelsOptions['clock'];
  readonly #onOpen: ChannelsOptions['onOpen'];
  readonly #bounds: ChannelBounds;
  readonly #carrier: Carrier;
  readonly #open = new Map<number, Channel>();
  readonly #over = new AbortController();
  #lastId = 0;
  #heardAt: number;
  /** Messages are sent one after the other, so that the total of bytes in flight stays bounded. */
  #writing: Promise<boolean> = Promise.resolve(true);

  constructor({ socket, clock, onOpen, bounds = channelBounds }: ChannelsOptions) {
    this.#socket = socket;
    this.#clock = clock;
    this.#onOpen = onOpen;
    this.#bounds = bounds;
    this.#heardAt = clock.monotonic();
    this.#carrier = {
      bounds,
      write: (frame) => this.#write(frame),
      forget: (id) => this.#open.delete(id),
    };
  }

  /** Undefined at the limit of open channels, or when the connection has ended. */
  open(): Channel | undefined {
    if (this.#over.signal.aborted || this.#open.size >= this.#bounds.channels) return undefined;
    this.#lastId += 1;
    void this.#write({ type: 'open', channel: this.#lastId });
    return this.#add(this.#lastId);
  }

  /** Reads until the socket ends, which breaks off every channel. Never rejects. */
  async run(): Promise<void> {
    const watching = this.#watch();
    const over = new Promise<void>((resolve) => {
      this.#over.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    // A connection without heartbeats may take long to end; this does not wait for it.
    await Promise.race([this.#read(), over]);
    this.#over.abort();
    for (const channel of [...this.#open.values()]) channel.receiveBreak('the connection is lost');
    await watching;
  }

  async #read(): Promise<void> {
    try {
      for await (const message of this.#socket.messages) {
        if (this.#over.signal.aborted) return;
        this.#heardAt = this.#clock.monotonic();
        const frame = decodeFrame(message);
        if (frame === undefined || !this.#take(frame)) {
          return this.#socket.close(1008, 'this is not how channels are used');
        }
      }
    } catch {
      this.#socket.cut();
    }
  }

  #add(id: number): Channel {
    const channel = new Channel(id, this.#carrier);
    this.#open.set(id, channel);
    return channel;
  }

  /** False for a message that violates the protocol. */
  #take(frame: Frame): boolean {
    if (frame.type === 'pong') return true;
    if (frame.type === 'ping') {
      void this.#write({ type: 'pong' });
      return true;
    }
    if (frame.type === 'open') return this.#takeOpen(frame.channel);
    // A channel that this end has broken off may still receive messages that were in flight.
    const channel = this.#open.get(frame.channel);
    if (channel === undefined) return true;
    switch (frame.type) {
      case 'part':
        if (!channel.receive(frame.bytes, frame.isLast)) channel.reset('the peer sent more than the window allows');
        return true;
      case 'credit':
        channel.receiveCredit(frame.bytes);
        return true;
      case 'end':
        channel.receiveEnd();
        return true;
      case 'reset':
        channel.receiveBreak(frame.reason);
        return true;
    }
  }

  #takeOpen(id: number): boolean {
    if (this.#onOpen === undefined || id <= this.#lastId) return false;
    this.#lastId = id;
    // When both ends close a channel at the same time, the peer no longer counts it.
    if (this.#open.size >= 2 * this.#bounds.channels) {
      void this.#write({ type: 'reset', channel: id, reason: 'too much is asked at once' });
    } else this.#onOpen(this.#add(id));
    return true;
  }

  #write(frame: Frame): Promise<boolean> {
    this.#writing = this.#writing.then(() => this.#socket.send(encodeFrame(frame)));
    return this.#writing;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    for (;;) {
      await this.#clock.sleep(pingPause, signal);
      if (signal.aborted) return;
      if (this.#clock.monotonic() - this.#heardAt > longestSilence) {
        this.#socket.close(1001, 'no sign of life');
        return this.#over.abort();
      }
      void this.#write({ type: 'ping' });
    }
  }
}
