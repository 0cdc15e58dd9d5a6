import { type Lent, Session } from './session.js';

/** How often it is checked that notifications arrive, and how long one may take, in milliseconds. */
const proof = { every: 10_000, within: 2000 };
const reconnectMs = 500;

/**
 * Hints from other processes that they have committed, over a separate connection. A hint that is lost costs the time of a poll: poolers may
 * swallow all of them, so it is proven by notifying itself.
 */
export class Listener {
  readonly #session: Session;
  readonly #channel: string;
  readonly #onHint: () => void;
  readonly #onSilence: () => void;
  /**
   * The process of the server that it is connected to. A pooler names another one: in transaction mode its own notifications arrive with the
   * answer, by chance, and those of others do not.
   */
  #own: number | undefined;
  /** Whether a notification has arrived a short time ago. */
  isProven = false;
  #isStarted = false;
  #isOpen = true;
  #isListening = false;
  /** They were not heard the last time. */
  #isSilent = false;
  #proofs = 0;
  /** A notification is to be sent, and one is under way. */
  #isWanted = false;
  #isSending = false;
  #arrived: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `onSilence`: notifications do not arrive, as from now on. */
  constructor(
    connect: () => Promise<Lent>,
    channel: string,
    on: { readonly hint: () => void; readonly silence: () => void },
  ) {
    this.#channel = `"${channel}"`;
    this.#onHint = on.hint;
    this.#onSilence = on.silence;
    this.#session = new Session(async () => {
      const lent = await connect();
      // A new session listens to nothing.
      this.#isListening = false;
      lent.client.on('notification', (message: { readonly processId?: number }) => this.#heard(message));
      this.#own = lent.client.processID ?? undefined;
      const lost = (): void => {
        if (this.#isListening) this.#lost();
      };
      lent.client.on('error', lost);
      lent.client.on('end', lost);
      return lent;
    }, proof.within);
  }

  /** Listens from now on. */
  start(): void {
    if (this.#isStarted || !this.#isOpen) return;
    this.#isStarted = true;
    void this.#prove();
  }

  /** Notifies the others that something was committed. */
  notify(): void {
    this.start();
    this.#isWanted = true;
    if (this.#isListening && !this.#isSending) void this.#send();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#arrived?.();
    // Not given back: it would still listen.
    if (!this.#isSending) this.#session.abandon();
  }

  #heard({ processId }: { readonly processId?: number }): void {
    if (processId === this.#own) this.#arrived?.();
    else this.#onHint();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    try {
      while (this.#isWanted && this.#isOpen) {
        this.#isWanted = false;
        await this.#session.run([{ text: `NOTIFY ${this.#channel}` }]);
      }
    } catch {
      this.#lost();
    }
    this.#isSending = false;
    if (!this.#isOpen) this.#session.abandon();
  }

  /** Connects if it has to, and waits for its own notification. */
  async #prove(): Promise<void> {
    if (!this.#isOpen) return;
    this.#proofs += 1;
    const current = this.#proofs;
    try {
      // Also when the last one was not heard: what swallows notifications may have swallowed the request to listen.
      if (!this.#isListening || !this.isProven) {
        await this.#session.run([{ text: `LISTEN ${this.#channel}` }]);
        this.#isListening = true;
        // What was committed before is not notified any more.
        this.#onHint();
      }
      const arrived = new Promise<boolean>((resolve) => {
        this.#arrived = () => resolve(true);
        setTimeout(() => resolve(false), proof.within).unref();
      });
      this.notify();
      const isHeard = await arrived;
      if (!this.#isOpen || current !== this.#proofs) return;
      if (!isHeard && !this.#isSilent) this.#onSilence();
      this.#isSilent = !isHeard;
      this.isProven = isHeard;
      this.#later(proof.every);
    } catch {
      this.#lost();
    }
  }

  #lost(): void {
    this.isProven = false;
    this.#isListening = false;
    this.#later(reconnectMs);
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isOpen) this.#timer = setTimeout(() => void this.#prove(), ms).unref();
  }
}
