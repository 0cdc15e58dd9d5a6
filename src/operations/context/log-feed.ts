import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { awayMessage } from '../../storage/records.js';
import { untilFirst } from '../waiting/until-change.js';

/** Levels of log entries, lowest first. `trace`: every fact; only for readers of the monitor. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

export interface LogEntry {
  readonly at: Instant;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The most entries that wait for a slow reader; beyond them it gets the number of dropped entries. */
const mostWaiting = 512;
const heartbeat = 10_000;
/** All that depends on the store fails while its server is away: the host's log gets one of these entries in so many milliseconds. */
const outageEvery = 2 * second;

interface Reader {
  readonly least: number;
  readonly waiting: LogEntry[];
  missed: number;
  wake: () => void;
}

/** The log of the host and the readers of the monitor. Entries are kept only for connected readers. */
export class LogFeed implements Logger {
  readonly #host: Logger;
  readonly #clock: Clock;
  readonly #readers = new Set<Reader>();
  #outageAt = Number.NEGATIVE_INFINITY;

  constructor(host: Logger, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
  }

  debug(fields: LogEntry['fields'], message: string): void {
    this.#host.debug(fields, message);
    this.#emit('debug', fields, message);
  }

  info(fields: LogEntry['fields'], message: string): void {
    this.#host.info(fields, message);
    this.#emit('info', fields, message);
  }

  warn(fields: LogEntry['fields'], message: string): void {
    if (this.#isNews(fields)) this.#host.warn(fields, message);
    this.#emit('warn', fields, message);
  }

  error(fields: LogEntry['fields'], message: string): void {
    if (this.#isNews(fields)) this.#host.error(fields, message);
    this.#emit('error', fields, message);
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0;
  }

  /** Emits a fact to the readers of the monitor, not to the host's log. Costs nothing without readers. */
  trace(fields: unknown, message: string): void {
    if (this.#readers.size === 0) return;
    this.#emit('trace', typeof fields === 'object' && fields !== null ? { ...fields } : {}, message);
  }

  /** Emits an entry to the readers of the monitor, not to the host's log. Its fields are computed only if there are readers. */
  note(level: LogLevel, fields: () => LogEntry['fields'], message: string): void {
    if (this.#readers.size > 0) this.#emit(level, fields(), message);
  }

  /** The entries from now on, of the level or above; `undefined` is a heartbeat, sent at once and every 10 seconds. */
  async *entries(level: LogLevel, signal: AbortSignal): AsyncGenerator<LogEntry | undefined> {
    const reader: Reader = { least: logLevels.indexOf(level), waiting: [], missed: 0, wake: () => undefined };
    this.#readers.add(reader);
    try {
      yield undefined;
      while (!signal.aborted) {
        const next = reader.waiting.shift();
        if (next !== undefined) yield next;
        else if (reader.missed > 0) yield this.#missed(reader);
        else if (!(await this.#more(reader, signal))) yield undefined;
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  #isNews({ error }: LogEntry['fields']): boolean {
    if (typeof error !== 'string' || !error.includes(awayMessage)) return true;
    const now = this.#clock.monotonic();
    if (now - this.#outageAt < outageEvery) return false;
    this.#outageAt = now;
    return true;
  }

  #missed(reader: Reader): LogEntry {
    const fields = { entries: reader.missed };
    reader.missed = 0;
    return { at: this.#clock.now(), level: 'warn', message: 'The reader was too slow and missed entries', fields };
  }

  /** Waits for the next entry; false when there was none for a while. */
  async #more(reader: Reader, signal: AbortSignal): Promise<boolean> {
    await untilFirst(signal, (either) => [
      new Promise<void>((resolve) => {
        reader.wake = resolve;
        either.addEventListener('abort', () => resolve(), { once: true });
        if (reader.waiting.length > 0) resolve();
      }),
      this.#clock.sleep(heartbeat, either),
    ]);
    return reader.waiting.length > 0;
  }

  #emit(level: LogLevel, fields: LogEntry['fields'], message: string): void {
    const rank = logLevels.indexOf(level);
    for (const reader of this.#readers) {
      if (rank < reader.least) continue;
      if (reader.waiting.length < mostWaiting) reader.waiting.push({ at: this.#clock.now(), level, message, fields });
      else reader.missed += 1;
      reader.wake();
    }
  }
}
