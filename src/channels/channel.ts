import { decodeItem, encodeItem, type Frame, type Item } from './frame.js';

/** Limits of one connection. Both ends use the same. */
export interface ChannelBounds {
  /** Bytes of a channel that may be in flight or wait for the reader. */
  readonly window: number;
  /** Maximum bytes of an item. */
  readonly item: number;
  /** Maximum bytes of a message. */
  readonly part: number;
  /** Maximum number of simultaneously open channels. */
  readonly channels: number;
}

export const channelBounds: ChannelBounds = {
  window: 256 * 1024,
  item: 2 * 1024 * 1024,
  part: 32 * 1024,
  channels: 128,
};

/** A channel ended prematurely; `message` says why. */
export class ChannelBroken extends Error {
  override readonly name = 'ChannelBroken';
}

/** The connection, as a channel uses it. */
export interface Carrier {
  readonly bounds: ChannelBounds;
  /** Resolves when the message has been sent; returns false when the connection has ended. */
  write(frame: Frame): Promise<boolean>;
  /** The channel has ended on both sides. */
  forget(id: number): void;
}

/**
 * One conversation on a connection: items in both directions, each with flow control by its reader. For one reader and one sender
 * at a time.
 */
export class Channel implements AsyncIterable<Item> {
  readonly id: number;
  readonly #carrier: Carrier;
  readonly #gone = new AbortController();
  /** Parts of an incomplete item, and their bytes. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  /** Number of these bytes that have not been credited to the sender's window. */
  #held = 0;
  /** Items for the reader, with the bytes to credit to the sender when they are taken; and all uncredited bytes. */
  readonly #waiting: { readonly item: Item; readonly cost: number }[] = [];
  #unread = 0;
  #credit: number;
  #hasEnded = false;
  #otherHasEnded = false;
  #broken: string | undefined;
  #wakeReader = nothing;
  #wakeSender = nothing;

  constructor(id: number, carrier: Carrier) {
    this.id = id;
    this.#carrier = carrier;
    this.#credit = carrier.bounds.window;
  }

  /** Aborts when the peer resets the channel, or the connection ends. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Resolves when the window allows the next item; false when the peer accepts no more. An oversized item resets
   * the channel.
   */
  async send(item: Item): Promise<boolean> {
    const { bounds } = this.#carrier;
    const encoded = encodeItem(item);
    if (encoded.length > bounds.item) {
      this.reset(`an answer is longer than ${bounds.item} bytes`);
      return false;
    }
    for (let from = 0; from < encoded.length; from += bounds.part) {
      const bytes = encoded.subarray(from, from + bounds.part);
      while (this.#credit < bytes.length && this.#isOpen()) await this.#credited();
      if (!this.#isOpen()) return false;
      this.#credit -= bytes.length;
      const isLast = from + bounds.part >= encoded.length;
      if (!(await this.#carrier.write({ type: 'part', channel: this.id, bytes, isLast }))) return false;
    }
    return true;
  }

  /** This end sends no further items. */
  end(): void {
    if (!this.#isOpen()) return;
    this.#hasEnded = true;
    void this.#carrier.write({ type: 'end', channel: this.id });
    this.#wakeSender();
    if (this.#otherHasEnded) this.#carrier.forget(this.id);
  }

  /** Breaks the channel off. Safe to call at any time. */
  reset(reason: string): void {
    if (this.#broken !== undefined || (this.#hasEnded && this.#otherHasEnded)) return;
    void this.#carrier.write({ type: 'reset', channel: this.id, reason });
    this.#break(reason);
    this.#carrier.forget(this.id);
  }

  /** Throws a `ChannelBroken` when the channel is broken off. Ending early breaks it off. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    try {
      for (;;) {
        const next = this.#waiting.shift();
        if (next !== undefined) {
          this.#giveBack(next.cost + (this.#waiting.length === 0 ? this.#takeHeld() : 0));
          yield next.item;
        } else if (this.#broken !== undefined) throw new ChannelBroken(this.#broken);
        else if (this.#otherHasEnded) return;
        else await this.#arrival();
      }
    } finally {
      if (!this.#otherHasEnded) this.reset('the reader has left');
    }
  }

  /** Handles an incoming part. Returns false when the peer has exceeded the window. */
  receive(bytes: Uint8Array, isLast: boolean): boolean {
    if (this.#otherHasEnded || this.#unread + bytes.length > this.#carrier.bounds.window) return false;
    this.#partBytes += bytes.length;
    if (this.#partBytes > this.#carrier.bounds.item) return false;
    this.#parts.push(bytes);
    this.#unread += bytes.length;
    this.#held += bytes.length;
    if (!isLast) {
      // An item may be longer than the window: its reader waits for the rest.
      if (this.#waiting.length === 0) this.#giveBack(this.#takeHeld());
      return true;
    }
    const item = decodeItem(joined(this.#parts, this.#partBytes));
    this.#parts = [];
    this.#partBytes = 0;
    if (item === undefined) return false;
    this.#waiting.push({ item, cost: this.#takeHeld() });
    this.#wakeReader();
    return true;
  }

  receiveCredit(bytes: number): void {
    this.#credit = Math.min(this.#carrier.bounds.window, this.#credit + bytes);
    this.#wakeSender();
  }

  receiveEnd(): void {
    this.#otherHasEnded = true;
    this.#wakeReader();
    if (this.#hasEnded) this.#carrier.forget(this.id);
  }

  /** The peer or the connection has ended. Items that arrived before can still be read. */
  receiveBreak(reason: string): void {
    this.#break(reason);
    this.#carrier.forget(this.id);
  }

  #break(reason: string): void {
    this.#broken ??= reason;
    this.#wakeReader();
    this.#wakeSender();
    this.#gone.abort();
  }

  #takeHeld(): number {
    const held = this.#held;
    this.#held = 0;
    return held;
  }

  #giveBack(bytes: number): void {
    this.#unread -= bytes;
    void this.#carrier.write({ type: 'credit', channel: this.id, bytes });
  }

  #isOpen(): boolean {
    return this.#broken === undefined && !this.#hasEnded;
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeReader = resolve;
    });
  }

  #credited(): Promise<void> {
    return new Promise((resolve) => {
      this.#wakeSender = resolve;
    });
  }
}

function nothing(): void {}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
