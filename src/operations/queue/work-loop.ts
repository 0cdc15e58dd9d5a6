import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { FunctionHost } from '../../ports/function-host.js';
import type { ReadView, StorageError, TableName, WriteView } from '../../ports/storage.js';
import { leaseEnd, processes, type QueueProcess, renewalAt, type SeenLease } from '../../queue/process.js';
import { day, type Milliseconds, minute, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { messageOf } from '../../shared/values.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { Transaction } from '../write-transaction.js';
import { type Waker, waker } from './waker.js';

/** For how long a process that is alive keeps its rows after its lease: one whose event loop is blocked cannot renew it. */
const longestBlock: Milliseconds = 15 * minute;
/** How often it is checked whether other processes of the machine are alive. */
const lifeCheck: Milliseconds = second / 2;

/** What a turn's write has decided; follows when it is durable. */
export interface TurnWork<Item> {
  /** Taken by this turn, with what their attempts need. */
  readonly claimed: readonly Item[];
  /** More is due than one write takes. */
  readonly isPartial: boolean;
  /** The next time that something is due, by the monotonic clock, and by the wall clock. */
  readonly nextAt: Milliseconds;
  readonly dueAt?: Instant;
  /** Something waits here for a slot or for a rate, so that this process is to be seen as working on it. */
  readonly isBusy: boolean;
}

export interface Ended<Item, End> {
  readonly item: Item;
  readonly end: End;
}

export interface TurnRequest<Item, End> {
  readonly ends: readonly Ended<Item, End>[];
  /** False while it stops. */
  readonly claims: boolean;
}

/**
 * What is under way here. A write whose answer was lost may have claimed other rows for this process: those are taken up. Undefined when
 * none can have.
 */
export type KnownItems = ReadonlySet<string | number> | undefined;

/** The time of a write. */
interface WriteTime {
  readonly now: Instant;
  readonly monotonic: Milliseconds;
  readonly timeline: string;
}

/**
 * What is worked on: its rows, and what it means to try one. What takes a transaction is called within a write, which may run several times:
 * it changes nothing in memory.
 */
export interface QueueKind<Item, End, Work extends TurnWork<Item>> {
  /** The name of the queue in the rows of processes. */
  readonly name: string;
  readonly lease: Milliseconds;
  /** This process on its machine, when that is known. */
  readonly machine?: Pick<FunctionHost, 'identity' | 'lifeOf'> | undefined;
  /** What this process can work on; absent when it takes any row. */
  readonly versions?: QueueProcess['versions'];
  /** The least time between two writes that only record, and the number of ends that does not wait for it. */
  readonly recordWithin: Milliseconds;
  readonly recordBatch: number;
  /** A change of these by anybody else needs a look at the store. */
  readonly tables: readonly TableName[];
  /** Identifies a row. */
  key(item: Item): string | number;
  /** Frees rows that a dead process has left: none, all, or part of them. */
  takeOver(tx: Transaction, process: string): 'none' | 'all' | 'part';
  /** Whether rows are held by the process. */
  isHolding(tx: Transaction, process: string): boolean;
  /** The work of a turn's write: records what has ended, lets time pass, and claims. Either `follow` or `failed` is called after it. */
  turn(request: TurnRequest<Item, End>): (tx: Transaction, known: KnownItems) => Work;
  /** The write of a turn is durable. */
  follow(work: Work, ends: readonly Ended<Item, End>[]): void;
  /** The write of a turn has failed, as far as is known: the same ends come again. */
  failed(): void;
  /** One attempt. Never rejects. Undefined when its end has been noted, or recorded, by other means. */
  perform(item: Item): Promise<End | undefined>;
  /** Ends the attempts whose time is over, and gives when the next one's is, by the monotonic clock. */
  endLate?(now: Milliseconds): Milliseconds;
  /** Something may wait for the end of this attempt, so that it is recorded at once. */
  isAwaited(ended: Ended<Item, End>): boolean;
  /** The store was changed by somebody else. */
  changed(): void;
}

interface Turned<Work> {
  readonly work: Work;
  /** Rows that were claimed without a known answer have been taken up. */
  readonly adopted: boolean;
  /** Index of the last change of the tables before the write, and after it. */
  readonly before: number;
  readonly after: number;
  /** Dead processes have left more than one write takes over. */
  readonly isPartial: boolean;
  /** The next end or renewal of a lease. */
  readonly leaseAt: Milliseconds;
  /** Other processes of this machine that hold rows, by which it is seen when they die. */
  readonly neighbours: readonly string[];
  /** How far the wall clock is ahead of the monotonic one. */
  readonly ahead: Milliseconds;
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
  #waker: Waker;
  /** Claimed and not recorded as ended, by key. */
  readonly #underWay = new Map<string | number, Item>();
  #ends: Ended<Item, End>[] = [];
  /** Attempts whose ends have not come in. */
  #running = 0;
  /** A turn is needed before time asks for one. */
  #isUrgent = true;
  /** A write that failed may have claimed rows all the same. */
  #mayHoldMore = true;
  /** Writes outside of turns that may claim. */
  #claims = 0;
  #lastTurn: Milliseconds = Number.NEGATIVE_INFINITY;
  #nextAt: Milliseconds = Number.NEGATIVE_INFINITY;
  /** The next time that something is due by the wall clock. */
  #dueAt: Instant = Number.POSITIVE_INFINITY;
  /** When the time of an attempt is over. */
  #lateAt: Milliseconds = Number.POSITIVE_INFINITY;
  #pausedUntil: Milliseconds = Number.NEGATIVE_INFINITY;
  /** Changes up to this index are known, and the highest one that was seen. */
  #known = 0;
  #reached = 0;
  #isClosed = false;
  /** The end of this process's lease as it was written or read last. */
  #leaseUntil: Milliseconds = Number.NEGATIVE_INFINITY;
  /** Nothing starts here any more. */
  #isOver = false;
  /** Leases of processes on other timelines. */
  readonly #seen = new Map<string, SeenLease>();
  #neighbours: readonly string[] = [];
  #isWatchingLives = false;
  #watching = new AbortController();
  /** Ends the run. */
  #stopping: AbortSignal | undefined;

  constructor(context: EngineContext, kind: QueueKind<Item, End, Work>) {
    this.#context = context;
    this.#kind = kind;
    this.process = context.ids.next('lease_owner');
    this.#waker = this.#newWaker();
  }

  #newWaker(): Waker {
    return waker(this.#context.clock, () => this.#context.clock.monotonic());
  }

  /** Runs until `signal` aborts and what is under way has ended. It can run again after that. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#isOver) this.#waker = this.#newWaker();
    this.#isOver = false;
    this.#stopping = signal;
    this.#isUrgent = true;
    this.#watching = new AbortController();
    const watching = this.#watching;
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

  /** The attempts under way here, and those whose ends are not recorded. */
  underWay(): Iterable<Item> {
    return this.#underWay.values();
  }

  item(key: string | number): Item | undefined {
    return this.#underWay.get(key);
  }

  /** Whether it is known what this process has claimed. */
  get isCertain(): boolean {
    return !this.#mayHoldMore;
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

  /** Says what this process can work on, without a lease. */
  declare(view: WriteView, time: WriteTime): void {
    if (view.get(processes, [this.#kind.name, this.process]) === undefined) this.#putLease(view, time, 0);
  }

  /** Renews the lease when it is about to end, for a row that is claimed outside of a turn; gives its end. */
  keepLease(view: WriteView, time: WriteTime): Milliseconds {
    const { name, lease } = this.#kind;
    const known = view.get(processes, [name, this.process])?.record.leaseUntil;
    const isLong = known !== undefined && known - time.monotonic > renewalAt(lease);
    this.#leaseUntil = isLong ? known : this.#putLease(view, time, lease);
    return this.#leaseUntil;
  }

  /** Whether what this process has claimed is still its own: it may have been stopped for longer than its lease. */
  get isHeld(): boolean {
    return this.#context.clock.monotonic() < this.#leaseUntil;
  }

  #putLease(view: WriteView, { now, monotonic, timeline }: WriteTime, lease: Milliseconds): Milliseconds {
    const { name, machine, versions } = this.#kind;
    const leaseUntil = monotonic + lease;
    view.put(processes, {
      ...{ queue: name, id: this.process, timeline, leaseUntil, until: now + lease },
      ...(lease > 0 && { lease }),
      ...(machine?.identity === undefined ? {} : { identity: machine.identity }),
      ...(versions === undefined ? {} : { versions }),
    });
    return leaseUntil;
  }

  /** A write outside of a turn may claim rows: `begin` follows. */
  claims(): void {
    this.#claims += 1;
  }

  /** A write outside of a turn has ended, with what it has claimed, which begins; `failed`: it is not known what. */
  begin(items: readonly Item[], failed = false): boolean {
    this.#claims -= 1;
    if (failed) this.#mayHoldMore = true;
    if (this.#mayHoldMore) this.wake();
    // What is claimed after the end is left to those who take over.
    if (this.#isOver) return false;
    this.#start(items);
    // The lease may end before the loop wakes for anything else.
    const renewal = this.#context.clock.monotonic() + this.#kind.lease - renewalAt(this.#kind.lease);
    if (items.length > 0 && this.#nextAt > renewal) {
      this.#nextAt = renewal;
      this.#waker.wake();
    }
    return true;
  }

  /** `endLate` is to be called by then. */
  checkBy(at: Milliseconds): void {
    if (at >= this.#lateAt) return;
    this.#lateAt = at;
    this.#waker.wake();
  }

  /** An attempt has ended, or is given up: its end is recorded by the next turn. */
  end(item: Item, end: End): void {
    this.#running -= 1;
    this.#ends.push({ item, end });
    this.#isUrgent ||= this.#kind.isAwaited({ item, end });
    // The first one sets the time of the write for all that end until then.
    const isLast = this.#running === 0 && this.#stopping?.aborted === true;
    if (this.#isUrgent || this.#ends.length === 1 || this.#ends.length >= this.#kind.recordBatch || isLast)
      this.#waker.wake();
  }

  /** The end of an attempt was recorded by another write, or never will be. */
  settle(item: Item): void {
    this.#running -= 1;
    this.#underWay.delete(this.#kind.key(item));
    this.wake();
  }

  /** Records every change of the store. Those of this process's own writes are known by `note`. */
  async #watch(signal: AbortSignal): Promise<void> {
    let after = 0;
    while (!signal.aborted) {
      try {
        const reached = await this.#context.storage.waitForChange(this.#kind.tables, after, signal);
        if (signal.aborted) return;
        // Otherwise the store is closed, or has lost writes, after which indexes are given out a second time.
        if (reached <= after && (await this.#context.storage.read(() => undefined)).isErr()) return;
        after = reached;
        this.#reached = reached;
        // What this process has written is known when those who waited for it have gone on.
        await new Promise((resolve) => setImmediate(resolve));
        if (this.#reached > this.#known) this.#waker.wake();
      } catch (error) {
        // Only the end of the loop waits for this promise.
        const message = messageOf(error);
        this.#context.logger.error({ error: message, queue: this.#kind.name }, 'Watching a queue failed');
        await this.#context.clock.sleep(second, signal);
      }
    }
  }

  /** One turn, if one is needed. False at the end. */
  async #round(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#context;
    if (this.#reached > this.#known) {
      this.#kind.changed();
      this.#known = this.#reached;
      this.#isUrgent = true;
    }
    this.#endLate();
    if (clock.now() >= this.#dueAt) this.#isUrgent = true;
    const stopping = signal.aborted;
    if (stopping && this.#running === 0 && this.#ends.length === 0) return this.#over();
    if (this.#turnAt(stopping) > clock.monotonic()) return true;
    const isWritten = await this.#turn(stopping);
    // What cannot be recorded at the end is left to those who take over.
    return isWritten || !(this.#isClosed || (stopping && this.#running === 0)) || this.#over(false);
  }

  async #over(leaves = true): Promise<false> {
    this.#isOver = true;
    if (leaves) await this.#leave();
    return false;
  }

  /** When the next turn is to be made. */
  #turnAt(stopping: boolean): Milliseconds {
    const { recordWithin, recordBatch } = this.#kind;
    if (this.#ends.length >= recordBatch || (stopping && this.#ends.length > 0)) return this.#pausedUntil;
    if (this.#isUrgent) return this.#pausedUntil;
    const toRecord = this.#ends.length === 0 ? Number.POSITIVE_INFINITY : this.#lastTurn + recordWithin;
    return Math.max(Math.min(toRecord, this.#nextAt), this.#pausedUntil);
  }

  /** Waits until a turn is needed, or may be. */
  async #rest(signal: AbortSignal): Promise<void> {
    const isDone = signal.aborted && this.#running === 0 && this.#ends.length === 0;
    const next = isDone ? Number.NEGATIVE_INFINITY : Math.min(this.#turnAt(signal.aborted), this.#lateAt);
    const { clock } = this.#context;
    const isDue = clock.now() >= this.#dueAt && this.#pausedUntil <= clock.monotonic();
    if (next > clock.monotonic() && !isDue)
      await this.#waker.rest(next, clock.now() < this.#dueAt ? this.#dueAt : Number.POSITIVE_INFINITY);
    // What ends together is recorded together.
    await new Promise((resolve) => setImmediate(resolve));
  }

  #endLate(): void {
    this.#lateAt = this.#kind.endLate?.(this.#context.clock.monotonic()) ?? Number.POSITIVE_INFINITY;
  }

  /** One write; false when the store failed, after which the same ends are recorded again. */
  async #turn(stopping: boolean): Promise<boolean> {
    const { clock } = this.#context;
    const ends = this.#ends;
    this.#ends = [];
    this.#isUrgent = false;
    this.#lastTurn = clock.monotonic();
    const adopts = this.#mayHoldMore && !stopping;
    for (const { item } of ends) this.#underWay.delete(this.#kind.key(item));
    const work = this.#kind.turn({ ends, claims: !stopping });
    const written = await commit<Turned<Work>, never>(this.#context, hostPrincipal, (tx) =>
      ok(this.#write(tx, work, adopts ? ends : undefined)),
    ).then(
      (result) => result,
      // A row that cannot be worked with must not end the process.
      (thrown: unknown): Result<never, Pick<StorageError, 'message' | 'reason'>> =>
        err({ reason: 'io', message: messageOf(thrown) }),
    );
    if (written.isErr()) {
      this.#ends = [...ends, ...this.#ends];
      for (const { item } of ends) this.#underWay.set(this.#kind.key(item), item);
      this.#failed(written.error, stopping);
      return false;
    }
    this.#follow(written.value.value, ends);
    return true;
  }

  #failed({ reason, message }: Pick<StorageError, 'message' | 'reason'>, stopping: boolean): void {
    const { clock, logger } = this.#context;
    this.#mayHoldMore = true;
    this.#isUrgent = true;
    this.#pausedUntil = clock.monotonic() + second;
    this.#isClosed = reason === 'closed';
    this.#kind.failed();
    if (!this.#isClosed && !stopping)
      logger.error({ reason, error: message, queue: this.#kind.name }, 'Storing outcomes failed; it is retried');
  }

  #follow(
    { work, adopted, before, after, isPartial, leaseAt, neighbours, ahead }: Turned<Work>,
    ends: readonly Ended<Item, End>[],
  ): void {
    if (adopted) this.#mayHoldMore = false;
    this.note({ before, after });
    this.#neighbours = neighbours;
    this.#watchLives();
    this.#kind.follow(work, ends);
    this.#start(work.claimed);
    this.#isUrgent ||= work.isPartial || isPartial;
    this.#dueAt = work.dueAt ?? Number.POSITIVE_INFINITY;
    // Also when the wall clock is set back meanwhile: a turn sees it.
    this.#nextAt = Math.min(work.nextAt, leaseAt, this.#dueAt - ahead);
  }

  /** `adopts`: what ended here, when rows are to be taken up that were claimed without a known answer. */
  #write(
    tx: Transaction,
    kindWork: (tx: Transaction, known: KnownItems) => Work,
    adopts: readonly Ended<Item, End>[] | undefined,
  ): Turned<Work> {
    const before = tablesIndex(tx, this.#kind.tables);
    const others = this.#takeOver(tx);
    // A row that another write claims right now is not under way yet.
    const adopted = adopts !== undefined && this.#claims === 0;
    const work = kindWork(tx, adopted ? this.#knownWith(adopts) : undefined);
    const isHolding = this.#underWay.size + work.claimed.length > 0 || work.isBusy;
    const own = isHolding ? this.keepLease(tx, tx) - renewalAt(this.#kind.lease) : Number.POSITIVE_INFINITY;
    const after = tablesIndex(tx, this.#kind.tables);
    const { isPartial, neighbours } = others;
    const ahead = tx.now - tx.monotonic;
    return { work, adopted, before, after, isPartial, leaseAt: Math.min(own, others.leaseAt), neighbours, ahead };
  }

  /** As it is within the write: others may have begun since it was asked for. */
  #knownWith(ends: readonly Ended<Item, End>[]): KnownItems {
    return new Set([...this.#underWay.keys(), ...ends.map(({ item }) => this.#kind.key(item))]);
  }

  /** Rows of processes that have died, and when the next lease of another process ends. */
  #takeOver(tx: Transaction): Pick<Turned<Work>, 'isPartial' | 'leaseAt' | 'neighbours'> {
    const { lease } = this.#kind;
    const neighbours: string[] = [];
    let leaseAt = Number.POSITIVE_INFINITY;
    let isPartial = false;
    for (const { record: other } of tx.list(processes, { prefix: [this.#kind.name] })) {
      if (other.id === this.process) continue;
      const life = this.#lifeOf(other.identity);
      const until = this.#leaseEnd(tx, other) + (life === 'alive' ? longestBlock : 0);
      if (life !== 'dead' && until > tx.monotonic) {
        // The renewals of another host are seen as they come, so that its last one is timed from when it was made.
        const seenBy = other.timeline === tx.timeline ? until : tx.monotonic + lease - renewalAt(lease);
        leaseAt = Math.min(leaseAt, until, seenBy);
        if (other.identity !== undefined && other.identity !== this.#kind.machine?.identity)
          neighbours.push(other.identity);
      } else if (this.#takeRowsOf(tx, other, life)) isPartial = true;
    }
    return { isPartial, leaseAt, neighbours };
  }

  /** Whether there are more of them. */
  #takeRowsOf(tx: Transaction, other: QueueProcess, life: 'alive' | 'dead' | 'unknown'): boolean {
    const taken = this.#kind.takeOver(tx, other.id);
    // One that held nothing may be idle.
    const mayBeIdle =
      taken === 'none' && life !== 'dead' && other.versions !== undefined && other.until >= tx.now - day;
    if (taken !== 'part' && !mayBeIdle) tx.remove(processes, [other.queue, other.id]);
    return taken === 'part';
  }

  #leaseEnd(tx: Transaction, other: QueueProcess): Milliseconds {
    const { until, seen } = leaseEnd(other, tx, this.#seen.get(other.id), this.#kind.lease);
    // Only what was seen first is kept: a second run of the write finds the same.
    if (seen !== undefined) this.#seen.set(other.id, seen);
    return until;
  }

  #lifeOf(identity: string | undefined): 'alive' | 'dead' | 'unknown' {
    const { machine } = this.#kind;
    // Of another loop in this very process, only the lease says whether it still runs.
    if (identity === undefined || identity === machine?.identity) return 'unknown';
    return machine?.lifeOf(identity) ?? 'unknown';
  }

  /** Looks for changes of the life of other processes of the machine while there are any that hold rows. */
  #watchLives(): void {
    if (this.#isWatchingLives || this.#neighbours.length === 0) return;
    this.#isWatchingLives = true;
    const { signal } = this.#watching;
    const lives = (): string => this.#neighbours.map((each) => `${each} ${this.#lifeOf(each)}`).join();
    const look = async (): Promise<void> => {
      let before = lives();
      while (!signal.aborted && this.#neighbours.length > 0) {
        await this.#context.clock.sleep(lifeCheck, signal);
        const now = lives();
        if (now !== before) this.wake();
        before = now;
      }
      this.#isWatchingLives = false;
    };
    void look();
  }

  #start(items: readonly Item[]): void {
    if (items.length === 0) return;
    for (const item of items) this.#underWay.set(this.#kind.key(item), item);
    this.#running += items.length;
    for (const item of items)
      void this.#kind.perform(item).then((end) => {
        if (end !== undefined) this.end(item, end);
      });
    const { endLate } = this.#kind;
    if (endLate !== undefined) this.checkBy(endLate.call(this.#kind, this.#context.clock.monotonic()));
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
export function tablesIndex(view: ReadView, tables: readonly TableName[]): number {
  return tables.reduce((highest, table) => Math.max(highest, view.tableIndex(table)), 1);
}
