import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView, StorageError, TableName, WriteView } from '../../ports/storage.js';
import { leaseEnd, processes, renewalAt, type SeenLease, type TimelinePoint } from '../../queue/process.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { type Waker, waker } from './waker.js';

/** What a turn's write has decided; follows when it is durable. */
export interface TurnWork<Item> {
  /** Taken by this turn, with what their attempts need. */
  readonly claimed: readonly Item[];
  /** More is due than one write takes. */
  readonly isPartial: boolean;
  /** The next time that something is due, by the monotonic clock. */
  readonly nextAt: Milliseconds;
  /** Something waits here for a slot or for a rate, so that this process is to be seen as working on it. */
  readonly isBusy: boolean;
}

export interface Ended<Item, End> {
  readonly item: Item;
  readonly end: End;
}

export interface TurnRequest<Item, End> {
  /** This process, as the rows name it. */
  readonly process: string;
  readonly ends: readonly Ended<Item, End>[];
  /** False while it stops. */
  readonly claims: boolean;
  /**
   * What is under way here. A write whose answer was lost may have claimed other rows for this process: those are taken up. Undefined when
   * none can have.
   */
  readonly known: ReadonlySet<string> | undefined;
}

/**
 * What is worked on: its rows, and what it means to try one. What takes a transaction is called within a write, which may run several times:
 * it changes nothing in memory.
 */
export interface QueueKind<Item, End, Work extends TurnWork<Item>> {
  /** The name of the queue in the rows of processes. */
  readonly name: string;
  readonly lease: Milliseconds;
  /** The least time between two writes that only record, and the number of ends that does not wait for it. */
  readonly recordWithin: Milliseconds;
  readonly recordBatch: number;
  /** A change of these by anybody else needs a look at the store. */
  readonly tables: readonly TableName[];
  /** Identifies a row. */
  key(item: Item): string;
  /** Frees rows that a dead process has left; whether there are more. */
  takeOver(tx: Transaction, process: string): boolean;
  /** Whether rows are held by the process. */
  isHolding(tx: Transaction, process: string): boolean;
  /** Records what has ended, lets time pass, and claims. */
  turn(tx: Transaction, request: TurnRequest<Item, End>): Work;
  /** The write of a turn is durable. */
  follow(work: Work, ends: readonly Ended<Item, End>[]): void;
  /** One attempt. Never rejects. */
  perform(item: Item): Promise<End>;
  /** Something may wait for the end of this attempt, so that it is recorded at once. */
  isAwaited(ended: Ended<Item, End>): boolean;
  /** The store was changed by somebody else. */
  changed(): void;
}

interface Turned<Work> {
  readonly work: Work;
  /** Index of the last change of the tables before the write, and after it. */
  readonly before: number;
  readonly after: number;
  /** Dead processes have left more than one write takes over. */
  readonly isPartial: boolean;
  readonly leaseAt: Milliseconds;
}

/**
 * Works on the rows of one queue. A turn is one write that records what has ended and claims what may start, so that under load one write
 * serves many rows. The rows are the truth; what is in memory can be lost at any time.
 */
export class WorkLoop<Item, End, Work extends TurnWork<Item>> {
  /** Identifies this process in the rows. */
  readonly process: string;
  readonly #context: EngineContext;
  readonly #kind: QueueKind<Item, End, Work>;
  readonly #waker: Waker;
  /** Claimed and not recorded as ended, by key. */
  readonly #underWay = new Map<string, Item>();
  #ends: Ended<Item, End>[] = [];
  /** Attempts whose ends have not come in. */
  #running = 0;
  /** A turn is needed before time asks for one. */
  #isUrgent = true;
  /** A write that failed may have claimed rows all the same. */
  #mayHoldMore = true;
  #lastTurn: Milliseconds = Number.NEGATIVE_INFINITY;
  #nextAt: Milliseconds = Number.NEGATIVE_INFINITY;
  #pausedUntil: Milliseconds = Number.NEGATIVE_INFINITY;
  /** Changes up to this index are known, and the highest one that was seen. */
  #known = 0;
  #reached = 0;
  #isClosed = false;
  /** Nothing starts here any more. */
  #isOver = false;
  /** Leases of processes on other timelines. */
  readonly #seen = new Map<string, SeenLease>();

  constructor(context: EngineContext, kind: QueueKind<Item, End, Work>) {
    this.#context = context;
    this.#kind = kind;
    this.process = context.ids.next('lease_owner');
    this.#waker = waker(context.clock, () => context.clock.monotonic());
  }

  /** Runs until `signal` aborts and what is under way has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const watching = new AbortController();
    const wake = (): void => this.#waker.wake();
    signal.addEventListener('abort', wake, { once: true });
    const watcher = this.#watch(watching.signal);
    try {
      while (await this.#round(signal)) await this.#rest(signal);
    } finally {
      signal.removeEventListener('abort', wake);
      watching.abort();
      this.#waker.close();
      await watcher;
    }
  }

  /** The attempts under way here. */
  underWay(): Iterable<Item> {
    return this.#underWay.values();
  }

  /** Something has changed that a turn is needed for. */
  wake(): void {
    this.#isUrgent = true;
    this.#waker.wake();
  }

  /** A write of this process has changed the tables, and nobody needs to look at the store for it. */
  note({ before, after }: { readonly before: number; readonly after: number }): void {
    if (before <= this.#known) this.#known = Math.max(this.#known, after);
  }

  /** Whether everything that this process holds, and every change up to this index, is known here. */
  knows(index: number): boolean {
    return index <= this.#known && !this.#mayHoldMore;
  }

  /** Renews the lease when it is about to end, for a row that is claimed outside of a turn; gives its end. */
  keepLease(view: WriteView, { monotonic, timeline }: TimelinePoint): Milliseconds {
    const { name, lease } = this.#kind;
    const known = view.get(processes, [name, this.process])?.record.leaseUntil;
    if (known !== undefined && known - monotonic > renewalAt(lease)) return known;
    const leaseUntil = monotonic + lease;
    view.put(processes, { queue: name, id: this.process, timeline, leaseUntil });
    return leaseUntil;
  }

  /** The write that claimed these has ended; `failed`: it is not known how. */
  begin(items: readonly Item[], failed = false): void {
    if (failed) {
      this.#mayHoldMore = true;
      this.wake();
    }
    // What is claimed after the end is left to those who take over.
    if (this.#isOver) return;
    this.#start(items);
    // The lease may end before the loop wakes for anything else.
    const renewal = this.#context.clock.monotonic() + renewalAt(this.#kind.lease) / 2;
    if (items.length > 0 && this.#nextAt > renewal) {
      this.#nextAt = renewal;
      this.#waker.wake();
    }
  }

  /** Records every change of the store. Those of this process's own writes are known by `note`. */
  async #watch(signal: AbortSignal): Promise<void> {
    let after = 0;
    while (!signal.aborted) {
      try {
        const reached = await this.#context.storage.waitForChange(this.#kind.tables, after, signal);
        if (signal.aborted || reached <= after) return;
        after = reached;
        this.#reached = reached;
        // What this process has written is known when those who waited for it have gone on.
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#reached > this.#known) this.#waker.wake();
      } catch (error) {
        // Only the end of the loop waits for this promise.
        const message = error instanceof Error ? error.message : 'unknown';
        this.#context.logger.error({ error: message, queue: this.#kind.name }, 'Watching a queue failed');
        await this.#context.clock.sleep(second, signal);
      }
    }
  }

  /** One turn, if one is needed. False at the end. */
  async #round(signal: AbortSignal): Promise<boolean> {
    const now = this.#context.clock.monotonic();
    if (this.#reached > this.#known) {
      this.#kind.changed();
      this.#known = this.#reached;
      this.#isUrgent = true;
    }
    const stopping = signal.aborted;
    if (stopping && this.#running === 0 && this.#ends.length === 0) {
      this.#isOver = true;
      await this.#leave();
      return false;
    }
    if (this.#turnAt(stopping) > now) return true;
    const isWritten = await this.#turn(stopping);
    return isWritten || !(stopping || this.#isClosed);
  }

  /** When the next turn is to be made. */
  #turnAt(stopping: boolean): Milliseconds {
    const { recordWithin, recordBatch } = this.#kind;
    if (this.#ends.length >= recordBatch || (stopping && this.#ends.length > 0)) return this.#pausedUntil;
    if (this.#isUrgent && !stopping) return this.#pausedUntil;
    const toRecord = this.#ends.length === 0 ? Number.POSITIVE_INFINITY : this.#lastTurn + recordWithin;
    return Math.max(Math.min(toRecord, this.#nextAt), this.#pausedUntil);
  }

  /** Waits until a turn is needed, or may be. */
  async #rest(signal: AbortSignal): Promise<void> {
    const isDone = signal.aborted && this.#running === 0 && this.#ends.length === 0;
    const next = isDone ? Number.NEGATIVE_INFINITY : this.#turnAt(signal.aborted);
    if (next > this.#context.clock.monotonic()) await this.#waker.rest(next);
    // What ends together is recorded together.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** One write; false when the store failed, after which the same ends are recorded again. */
  async #turn(stopping: boolean): Promise<boolean> {
    const { clock, logger } = this.#context;
    const adopts = this.#mayHoldMore && !stopping;
    const ends = this.#ends;
    this.#ends = [];
    this.#isUrgent = false;
    this.#lastTurn = clock.monotonic();
    for (const { item } of ends) this.#underWay.delete(this.#kind.key(item));
    const written = await commit<Turned<Work>, never>(this.#context, hostPrincipal, (tx) =>
      ok(this.#write(tx, ends, { adopts, stopping })),
    ).then(
      (result) => result,
      // A row that cannot be worked with must not end the process.
      (thrown: unknown): Result<never, Pick<StorageError, 'message' | 'reason'>> =>
        err({ reason: 'io', message: thrown instanceof Error ? thrown.message : 'unknown' }),
    );
    if (written.isErr()) {
      this.#ends = [...ends, ...this.#ends];
      for (const { item } of ends) this.#underWay.set(this.#kind.key(item), item);
      this.#mayHoldMore = true;
      this.#isUrgent = true;
      this.#pausedUntil = clock.monotonic() + second;
      this.#isClosed = written.error.reason === 'closed';
      if (!this.#isClosed && !stopping) {
        const { reason, message } = written.error;
        logger.error({ reason, error: message, queue: this.#kind.name }, 'Storing outcomes failed; it is retried');
      }
      return false;
    }
    const { work, before, after, isPartial, leaseAt } = written.value.value;
    if (adopts) this.#mayHoldMore = false;
    this.note({ before, after });
    this.#kind.follow(work, ends);
    this.#start(work.claimed);
    this.#isUrgent ||= work.isPartial || isPartial;
    this.#nextAt = Math.min(work.nextAt, leaseAt);
    return true;
  }

  #write(
    tx: Transaction,
    ends: readonly Ended<Item, End>[],
    { adopts, stopping }: { readonly adopts: boolean; readonly stopping: boolean },
  ): Turned<Work> {
    const before = indexOf(tx, this.#kind.tables);
    const known = adopts
      ? new Set([...this.#underWay.keys(), ...ends.map(({ item }) => this.#kind.key(item))])
      : undefined;
    const others = this.#takeOver(tx);
    const work = this.#kind.turn(tx, { process: this.process, ends, claims: !stopping, known });
    const isHolding = this.#underWay.size + work.claimed.length > 0 || work.isBusy;
    const own = isHolding ? this.keepLease(tx, tx) - renewalAt(this.#kind.lease) : Number.POSITIVE_INFINITY;
    const after = indexOf(tx, this.#kind.tables);
    return { work, before, after, isPartial: others.isPartial, leaseAt: Math.min(own, others.leaseAt) };
  }

  /** Rows of processes that have died, and when the next lease of another process ends. */
  #takeOver(tx: Transaction): { readonly isPartial: boolean; readonly leaseAt: Milliseconds } {
    const { name, lease } = this.#kind;
    let leaseAt = Number.POSITIVE_INFINITY;
    let isPartial = false;
    for (const { record: other } of tx.list(processes, { prefix: [name] })) {
      if (other.id === this.process) continue;
      const { until, seen } = leaseEnd(other, tx, this.#seen.get(other.id), lease);
      // Only what was seen first is kept: a second run of the write finds the same.
      if (seen !== undefined) this.#seen.set(other.id, seen);
      if (until > tx.monotonic) leaseAt = Math.min(leaseAt, until);
      else if (this.#kind.takeOver(tx, other.id)) isPartial = true;
      else tx.remove(processes, [name, other.id]);
    }
    return { isPartial, leaseAt };
  }

  #start(items: readonly Item[]): void {
    if (items.length === 0) return;
    for (const item of items) this.#underWay.set(this.#kind.key(item), item);
    this.#running += items.length;
    // Whoever waits for the write is answered first.
    setImmediate(() => {
      for (const item of items) void this.#kind.perform(item).then((end) => this.#note(item, end));
    });
  }

  #note(item: Item, end: End): void {
    this.#running -= 1;
    this.#ends.push({ item, end });
    this.#isUrgent ||= this.#kind.isAwaited({ item, end });
    // The first one sets the time of the write for all that end until then.
    if (this.#isUrgent || this.#ends.length === 1 || this.#ends.length >= this.#kind.recordBatch || this.#running === 0)
      this.#waker.wake();
  }

  /** Gives the lease back. */
  async #leave(): Promise<void> {
    const { name } = this.#kind;
    const left = await commit(this.#context, hostPrincipal, (tx): Result<void, never> => {
      const isThere = tx.get(processes, [name, this.process]) !== undefined;
      if (isThere && !this.#kind.isHolding(tx, this.process)) tx.remove(processes, [name, this.process]);
      return ok(undefined);
    });
    if (left.isErr())
      this.#context.logger.warn({ error: left.error.message, queue: name }, 'A lease was not given back');
  }
}

/** Index of the last change of any of the tables. */
export function indexOf(view: ReadView, tables: readonly TableName[]): number {
  return tables.reduce((highest, table) => Math.max(highest, view.tableIndex(table)), 1);
}
