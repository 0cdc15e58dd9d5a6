import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { type RelayEnd, relayMessages, relaySessions } from '../../agent/link/relay.js';
import type { MessageSocket, SocketEnd } from '../../api/message-socket.js';
import type { ReadView } from '../../ports/storage.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { Transaction } from '../write-transaction.js';

/** The maximum number of messages read at once. */
const batch = 64;

/**
 * One end of a relay session: a message socket whose messages are rows of the store. It ends for both ends when the session is removed.
 * Back-pressure is left to the channels above it, whose windows bound what is stored.
 */
export class StoreSocket implements MessageSocket {
  readonly closed: Promise<SocketEnd>;
  readonly #context: EngineContext;
  readonly #session: string;
  readonly #end: RelayEnd;
  readonly #over = new AbortController();
  readonly #heard = new AbortController();
  #settle: (end: SocketEnd) => void = () => undefined;
  #sent = 0;

  constructor(context: EngineContext, session: string, end: RelayEnd) {
    this.#context = context;
    this.#session = session;
    this.#end = end;
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Aborts when the first message of the other end arrives, or when the socket ends. */
  get heard(): AbortSignal {
    return this.#heard.signal;
  }

  get messages(): AsyncIterable<Uint8Array> {
    return this.#read();
  }

  async send(message: string | Uint8Array): Promise<boolean> {
    if (this.#over.signal.aborted) return false;
    this.#sent += 1;
    const data = this.#sealed(Buffer.from(message).toString('base64'));
    const row = { session: this.#session, sender: this.#end, number: this.#sent, data };
    const written = await commit<boolean, never>(this.#context, hostPrincipal, (tx) => {
      const isOpen = tx.get(relaySessions, [this.#session]) !== undefined;
      if (isOpen) tx.put(relayMessages, row);
      return ok(isOpen);
    });
    const isSent = written.isOk() && written.value.value;
    if (!isSent) this.#finish(1006, 'the connection is lost');
    return isSent;
  }

  close(code = 1000, reason = ''): void {
    if (this.#over.signal.aborted) return;
    this.#finish(code, reason);
    void this.#remove();
  }

  cut(): void {
    this.close(1006);
  }

  async #remove(): Promise<void> {
    const removed = await commit<void, never>(this.#context, hostPrincipal, (tx) =>
      ok(removeSession(tx, this.#session)),
    );
    // The relay loop removes abandoned sessions.
    if (removed.isErr())
      this.#context.logger.warn({ reason: removed.error.reason }, 'Removing a relayed command failed');
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    const { storage } = this.#context;
    const { signal } = this.#over;
    while (!signal.aborted) {
      const looked = await storage.read((view) => this.#arrived(view));
      if (looked.isErr()) return this.close(1006, looked.error.message);
      const { index, isOpen, numbers, messages } = looked.value;
      if (messages.length > 0) {
        this.#heard.abort();
        await this.#take(numbers);
        for (const data of messages) {
          const bytes = this.#opened(data);
          if (bytes === undefined) return this.close(1006, 'a message cannot be decrypted');
          yield bytes;
        }
      } else if (isOpen) await storage.waitForChange([relaySessions, relayMessages], index, signal);
      else this.#finish(1006, 'the connection is lost');
    }
  }

  #arrived(view: ReadView) {
    const prefix = [this.#session, this.#end === 'from' ? 'to' : 'from'];
    const rows = view.list(relayMessages, { prefix, limit: batch }).map(({ record }) => record);
    return {
      index: view.index,
      isOpen: view.get(relaySessions, [this.#session]) !== undefined,
      numbers: rows.map(({ session, sender, number }) => [session, sender, number] as const),
      messages: rows.map(({ data }) => data),
    };
  }

  /** A message that cannot be removed would be read twice, so the socket ends instead. */
  async #take(keys: readonly (readonly [string, RelayEnd, number])[]): Promise<void> {
    const taken = await commit<void, never>(this.#context, hostPrincipal, (tx) => {
      for (const key of keys) tx.remove(relayMessages, key);
      return ok();
    });
    if (taken.isErr()) this.close(1006, taken.error.message);
  }

  #finish(code: number, reason: string): void {
    this.#settle({ code, reason });
    this.#over.abort();
    this.#heard.abort();
  }

  #sealed(data: string): string {
    return this.#context.cipher?.seal(data) ?? data;
  }

  #opened(data: string): Uint8Array | undefined {
    const { cipher } = this.#context;
    if (cipher === undefined) return Buffer.from(data, 'base64');
    return cipher.open(data).match(
      (plain) => Buffer.from(plain, 'base64'),
      () => undefined,
    );
  }
}

/** Removes a session with its unread messages. */
export function removeSession(tx: Transaction, session: string): void {
  tx.remove(relaySessions, [session]);
  for (const { record } of tx.list(relayMessages, { prefix: [session] })) {
    tx.remove(relayMessages, [session, record.sender, record.number]);
  }
}
