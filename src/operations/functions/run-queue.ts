import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { isLimited } from '../../functions/admission.js';
import { schedules } from '../../functions/declaration.js';
import { type FunctionPolicy, type HostRows, type Json, runsHere } from '../../functions/define-function.js';
import { type AttemptEnd, keysOf, pauses, queueName, runs, type StoredRun, started } from '../../functions/run.js';
import type { FunctionHost } from '../../ports/function-host.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import { messageOf } from '../../shared/values.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { type KnownItems, type QueueKind, type TurnRequest, tablesIndex, WorkLoop } from '../queue/work-loop.js';
import type { Transaction } from '../write-transaction.js';
import { Attempt, type AttemptHost, type AttemptQueue, type NotedEnd, unlessAborted } from './attempt.js';
import { AttemptWatch } from './attempt-watch.js';
import { hostRowsOf, storageWith } from './enqueue.js';
import { LateRuns, ReportLog } from './late-runs.js';
import { MissingFunctions } from './missing-functions.js';
import { RunReports } from './run-reports.js';
import { type Noted, type Resuming, RunTurn, type TurnHost, type TurnPlan } from './run-turn.js';
import { batchSize } from './stored-runs.js';
import { UnderWay } from './under-way.js';

/** From an abort until a handler that does not end is given up. */
const grace: Milliseconds = 5 * second;

/** What the queue needs of its process. */
interface QueueHost {
  /** Gets what has ended here; without a run, when its outcome is that of another process. */
  ended(number: number, run: StoredRun | undefined): void;
  /** Resolves when a run has ended or is no longer kept. */
  untilEnded(number: number): Promise<unknown>;
}

/** How much a process runs, how long its runs are its own, and what is known of its machine. */
export interface QueueLimits {
  readonly concurrency: number;
  readonly lease: Milliseconds;
  readonly machine: FunctionHost | undefined;
}

/** A slot for a run that begins in the write that enqueues it. Either `begin` or `release` is called after that. */
interface Slot {
  /** The run as started by this process, within the write. */
  claim(tx: Transaction, run: StoredRun): StoredRun;
  /** The write is durable. Of a paused function, the run was enqueued without being claimed. */
  begin(run: StoredRun, input: Json | undefined): void;
  /** The write has enqueued nothing; `failed`: it is not known what it did. */
  release(failed: boolean): void;
}

/** The runs of the functions of one process as a queue, see `WorkLoop`. */
export class RunQueue implements QueueKind<Attempt, NotedEnd, RunTurn>, AttemptQueue {
  readonly name = queueName;
  readonly tables = [runs, pauses, schedules];
  readonly lease: Milliseconds;
  readonly recordWithin = 0;
  readonly recordBatch = 1;
  readonly machine: FunctionHost | undefined;
  readonly versions: Readonly<Record<string, number>>;
  readonly loop: WorkLoop<Attempt, NotedEnd, RunTurn>;
  readonly #context: EngineContext;
  readonly #policies: ReadonlyMap<string, FunctionPolicy>;
  readonly #concurrency: number;
  readonly #host: QueueHost;
  readonly #attempts: AttemptHost;
  readonly #watch: AttemptWatch;
  readonly #turnHost: TurnHost;
  readonly #reportLog: ReportLog;
  /** Attempts that have a slot: also those that were given up, until their handlers end. */
  readonly #busy = new Set<Attempt>();
  /** Slots of claims that are being written. */
  #reserved = 0;
  #resuming: Resuming[] = [];
  /** Attempts with notes, and when these are stored. */
  readonly #noted = new Set<Attempt>();
  #notesAt: Milliseconds = Number.POSITIVE_INFINITY;
  /** The last turn left nothing behind that is due. */
  #isCaughtUp = false;
  /** Rows were changed that the last turn may not have seen. */
  #hasUnseen = false;
  #accepts = false;
  /** The turn that is being written, and what it was made from. */
  #plan: TurnPlan | undefined;
  #turn: { readonly tx: Transaction; readonly turn: RunTurn } | undefined;
  #heldUntil: Milliseconds | undefined;
  #ahead: Milliseconds = Number.NEGATIVE_INFINITY;
  #collectedAt: Milliseconds = Number.NEGATIVE_INFINITY;
  readonly #lastKey = new Map<string, string>();
  /** When a failure to record an outcome with rows of the host was logged last, by the monotonic clock. */
  #loggedAt: Milliseconds = Number.NEGATIVE_INFINITY;
  readonly #endings = { all: 0, handedBack: 0 };
  /** Who waits for the next end. */
  #atEnd: (() => void)[] = [];
  #running: { readonly over: AbortController; readonly done: Promise<void> } | undefined;

  constructor(
    context: EngineContext,
    policies: ReadonlyMap<string, FunctionPolicy>,
    { concurrency, lease, machine }: QueueLimits,
    host: QueueHost,
  ) {
    this.#context = context;
    this.#policies = policies;
    const active = [...policies.values()].filter(runsHere);
    this.versions = Object.fromEntries(active.map(({ name, version }) => [name, version]));
    this.#concurrency = concurrency;
    this.lease = lease;
    this.machine = machine;
    this.#host = host;
    this.#watch = new AttemptWatch(context);
    this.#reportLog = new ReportLog(context);
    this.loop = new WorkLoop(context, this);
    this.#turnHost = {
      process: this.loop.process,
      policies,
      active,
      lastKey: this.#lastKey,
      live: active.some(isLimited) ? new UnderWay(policies) : undefined,
      lateRuns: new LateRuns(policies),
      missing: new MissingFunctions(policies),
      keepLease: (tx) => this.loop.keepLease(tx, tx),
      newAttempt: (run, input) => this.#newAttempt(run, input),
    };
    this.#attempts = { context, policies, queue: this };
  }

  start(): void {
    this.#accepts = true;
    this.#isCaughtUp = false;
    const over = new AbortController();
    this.#running = { over, done: this.loop.run(over.signal) };
  }

  /** Starts nothing more. Resolves when all handlers have ended, or the time is over; then hands the rest back. */
  async stop(deadline: Milliseconds): Promise<{ readonly ended: number; readonly handedBack: number }> {
    const { clock } = this.#context;
    this.#accepts = false;
    this.#running?.over.abort('over');
    const before = { ...this.#endings };
    // Nothing starts that they could wait for.
    for (const attempt of this.#underWay())
      if (attempt.isWaiting) attempt.abort('stopping', clock.monotonic() + second);
    await this.#allEnded(clock.monotonic() + deadline);
    for (const attempt of this.#underWay()) attempt.abort('stopping', clock.monotonic() + second);
    await this.#allEnded(clock.monotonic() + second);
    for (const attempt of this.#underWay()) this.#giveUp(attempt, { type: 'handed_back' });
    await this.#running?.done;
    const handedBack = this.#endings.handedBack - before.handedBack;
    return { ended: this.#endings.all - before.all - handedBack, handedBack };
  }

  // For those who enqueue.

  /** A write of this process has changed what may start: until a turn has seen it, no new run begins ahead of those that wait. */
  wake(): void {
    this.#hasUnseen = true;
    this.loop.wake();
  }

  /** A slot for a run that the caller is about to enqueue; undefined when the run has to wait for its turn. */
  reserve(name: string): Slot | undefined {
    const policy = this.#policies.get(name);
    const canStart = this.#accepts && this.#isCaughtUp && !this.#hasUnseen && this.loop.isCertain && this.#free > 0;
    // What a rate has left is shared by turns.
    if (!canStart || policy === undefined || !runsHere(policy) || policy.rates.length > 0) return undefined;
    this.#reserved += 1;
    this.loop.claims();
    let before = 0;
    return {
      claim: (tx, run) => {
        const begun = started(run, this.loop.process, tx.now);
        before = tablesIndex(tx, this.tables);
        if (isPaused(tx, run) || !this.#mayBegin(tx, policy, { queued: run, begun })) return run;
        this.loop.keepLease(tx, tx);
        return begun;
      },
      begin: (run, input) => {
        this.#reserved -= 1;
        const attempt = run.state === 'running' ? this.#newAttempt(run, input) : undefined;
        if (attempt !== undefined) this.loop.note({ before, after: run.number });
        if (this.loop.begin(attempt === undefined ? [] : [attempt]) && attempt !== undefined) this.#busy.add(attempt);
        this.#announceEnd();
      },
      release: (failed) => {
        this.#reserved -= 1;
        this.loop.begin([], failed);
        this.loop.wake();
        this.#announceEnd();
      },
    };
  }

  /** Whether a new run may begin ahead of those that wait. */
  #mayBegin(tx: Transaction, policy: FunctionPolicy, run: Record<'queued' | 'begun', StoredRun>): boolean {
    if (!isLimited(policy)) return true;
    // An attempt that has given its place up takes it again before others.
    return this.#resuming.length === 0 && this.#turnHost.live?.begins(tx, policy, run) === true;
  }

  /** Aborts a run of this process at once, without waiting for the next turn. */
  cancel(number: number, reason: string): void {
    this.loop.item(number)?.abort('cancelled', this.#now + grace, reason);
    this.loop.wake();
  }

  /** Whether a run is under way here, so that its end will be announced. */
  has(number: number): boolean {
    return this.loop.item(number) !== undefined;
  }

  // The queue.

  key({ run }: Attempt): number {
    return run.number;
  }

  changed(): void {
    // A turn reads all that it needs.
  }

  isAwaited(): boolean {
    return true;
  }

  isHolding(tx: Transaction, process: string): boolean {
    return tx.list(runs, { index: 'live', prefix: [process], limit: 1 }).length > 0;
  }

  takeOver(tx: Transaction, process: string): 'none' | 'all' | 'part' {
    const left = this.#turnIn(tx).takeOver(process);
    if (left === 0) return 'none';
    return left < batchSize ? 'all' : 'part';
  }

  turn({ ends, claims }: TurnRequest<Attempt, NotedEnd>): (tx: Transaction, known: KnownItems) => RunTurn {
    const free = claims ? Math.max(0, this.#free) : 0;
    this.#reserved += free;
    this.#hasUnseen = false;
    const resuming = [...this.#resuming];
    this.#plan = { ...this.#outline(), ends, free, noted: this.#notesDue(), resuming };
    return (tx, known) => this.#turnIn(tx).work(known);
  }

  /** What a write starts from. */
  #outline(): Omit<TurnPlan, 'ends' | 'noted' | 'resuming' | 'free'> {
    return {
      host: this.#turnHost,
      underWay: [...this.loop.underWay()],
      ahead: this.#ahead,
      collectedAt: this.#collectedAt,
      heldUntil: this.#heldUntil,
    };
  }

  /** The turn of one run of the write. */
  #turnIn(tx: Transaction): RunTurn {
    if (this.#turn?.tx !== tx) this.#turn = { tx, turn: new RunTurn(tx, this.#plan as TurnPlan) };
    return this.#turn.turn;
  }

  failed(): void {
    for (const { attempt, notes } of this.#plan?.noted ?? []) {
      attempt.returnNotes(notes);
      this.noted(attempt);
    }
    this.#isCaughtUp = false;
    this.#endTurn();
  }

  /** What a turn has decided happens once it is durable. */
  follow(turn: RunTurn): void {
    this.#isCaughtUp = turn.isCaughtUp;
    this.#endTurn();
    this.#ahead = turn.ahead;
    this.#collectedAt = turn.collectedAt;
    this.#heldUntil = turn.heldUntil;
    for (const attempt of turn.lost) attempt.abort('lost', Number.POSITIVE_INFINITY);
    for (const { number, cancelling } of turn.cancelling)
      this.loop.item(number)?.abort('cancelled', this.#now + grace, cancelling);
    for (const { attempt, goOn } of turn.resumed) {
      this.#busy.add(attempt);
      goOn();
    }
    for (const attempt of turn.claimed) this.#claimed(attempt);
    for (const run of turn.ended) this.#host.ended(run.number, run);
    for (const number of turn.taken) this.#host.ended(number, undefined);
    this.#reportLog.follow(turn);
  }

  #claimed(attempt: Attempt): void {
    const { function: name, limits: [key] = [] } = attempt.run;
    this.#busy.add(attempt);
    if (key !== undefined) this.#lastKey.set(name, key);
  }

  #endTurn(): void {
    this.#reserved -= this.#plan?.free ?? 0;
    this.#plan = undefined;
    this.#turn = undefined;
    this.#announceEnd();
  }

  async perform(attempt: Attempt): Promise<NotedEnd | undefined> {
    // Another process may have it after a pause since the claim: a limit of one would be exceeded.
    if (!this.loop.isHeld) {
      this.#busy.delete(attempt);
      return this.#ended(attempt, { type: 'handed_back' });
    }
    this.#watch.began(attempt.run);
    attempt.begin();
    const end = await attempt.perform();
    this.#busy.delete(attempt);
    if (attempt.hasEnded) {
      // It was given up before: its slot is free now.
      this.loop.wake();
      return undefined;
    }
    if (attempt.rows !== undefined && end.type === 'succeeded') return this.#commitWith(attempt, end, attempt.rows);
    return this.#ended(attempt, end);
  }

  /** Aborts attempts that take too long, and gives up those that do not end. */
  endLate(now: Milliseconds): Milliseconds {
    // The turn that stores notes is not made by a deadline.
    if (this.#notesAt <= now) this.loop.wake();
    let next = this.#notesAt > now ? this.#notesAt : Number.POSITIVE_INFINITY;
    for (const attempt of this.#underWay()) {
      if (attempt.deadline <= now) {
        if (attempt.cause === undefined) attempt.abort('timed_out', now + grace);
        else this.#giveUp(attempt, attempt.ending(undefined, attempt.wait(undefined)));
      }
      if (!attempt.hasEnded) next = Math.min(next, attempt.deadline);
    }
    return next;
  }

  #giveUp(attempt: Attempt, end: AttemptEnd): void {
    this.loop.end(attempt, this.#ended(attempt, end));
  }

  #ended(attempt: Attempt, end: AttemptEnd): NotedEnd {
    attempt.hasEnded = true;
    this.#watch.ended(attempt.run, end);
    this.#endings.all += 1;
    if (end.type === 'handed_back') this.#endings.handedBack += 1;
    this.#announceEnd();
    return { end, notes: attempt.takeNotes() };
  }

  /** Now and then: a store that fails, fails every such outcome once a second. */
  #logFailure({ message }: { readonly message: string }): void {
    const { clock, logger } = this.#context;
    if (clock.monotonic() - this.#loggedAt < 10 * second) return;
    this.#loggedAt = clock.monotonic();
    logger.error({ error: message }, 'Outcomes with rows of the host cannot be recorded');
  }

  /** Records an outcome together with rows of the host, in a separate write: they may be refused. */
  async #commitWith(attempt: Attempt, end: AttemptEnd, rows: HostRows): Promise<NotedEnd | undefined> {
    const { storage, clock } = this.#context;
    attempt.hasEnded = true;
    const notes = attempt.takeNotes();
    for (;;) {
      const own = hostRowsOf(rows);
      const context = { ...this.#context, storage: storageWith(storage, own.rows) };
      const written = await commit(context, hostPrincipal, (tx): Result<RunTurn, { readonly message: string }> => {
        own.isReached = false;
        const turn = new RunTurn(tx, { ...this.#outline(), ends: [], noted: [], resuming: [], free: 0 });
        turn.record(attempt, { end, notes });
        for (const run of turn.ended) RunReports.in(tx).ended(run);
        turn.count();
        this.#turnHost.live?.counted(tx, false);
        return turn.taken.length > 0 ? err({ message: taken }) : ok(turn);
      }).then((result) => result, failureOf);
      if (written.isOk()) return this.#committed(attempt, end, written.value.value.ended[0]);
      if (own.isReached && 'thrown' in written.error) {
        attempt.returnNotes(notes);
        return this.#ended(attempt, attempt.failure(written.error.thrown));
      }
      // An earlier try may have recorded it: whoever waits reads what is stored.
      if (written.error.message === taken) return this.#committed(attempt, end, undefined);
      this.#logFailure(written.error);
      // A stop does not wait for a store that fails: the run is taken again.
      if (!this.#accepts || ('reason' in written.error && written.error.reason === 'closed')) {
        this.loop.settle(attempt);
        return undefined;
      }
      await clock.sleep(second, new AbortController().signal);
    }
  }

  #committed(attempt: Attempt, end: AttemptEnd, run: StoredRun | undefined): undefined {
    this.#watch.ended(attempt.run, end);
    this.loop.settle(attempt);
    this.#endings.all += 1;
    this.#host.ended(attempt.run.number, run);
    this.#announceEnd();
    return undefined;
  }

  // What attempts under way report.

  noted(attempt: Attempt): void {
    this.#noted.add(attempt);
    if (this.#notesAt !== Number.POSITIVE_INFINITY) return;
    this.#notesAt = this.#now + second;
    this.loop.checkBy(this.#notesAt);
  }

  waits(attempt: Attempt): void {
    attempt.waits();
    this.#busy.delete(attempt);
    // Nothing starts any more that it could wait for.
    if (!this.#accepts) attempt.abort('stopping', this.#now + second);
    this.loop.wake();
  }

  goesOn(attempt: Attempt): void {
    attempt.goesOn();
    if (attempt.isWaiting || attempt.hasEnded) return;
    this.#busy.add(attempt);
    this.loop.checkBy(attempt.deadline);
  }

  async resume(attempt: Attempt): Promise<void> {
    if (attempt.hasOtherCalls) {
      this.goesOn(attempt);
      return;
    }
    const slot = new Promise<void>((resolve) => this.#resuming.push({ attempt, goOn: resolve }));
    this.loop.wake();
    try {
      await unlessAborted(attempt, slot);
    } finally {
      this.#resuming = this.#resuming.filter((each) => each.attempt !== attempt);
      this.goesOn(attempt);
    }
  }

  untilEnded(number: number): Promise<unknown> {
    return this.#host.untilEnded(number);
  }

  get #now(): Milliseconds {
    return this.#context.clock.monotonic();
  }

  get #free(): number {
    return this.#concurrency - this.#busy.size - this.#reserved;
  }

  #underWay(): Attempt[] {
    return [...this.loop.underWay()].filter(({ hasEnded }) => !hasEnded);
  }

  #newAttempt(run: StoredRun, input: Json | undefined): Attempt | undefined {
    const policy = this.#policies.get(run.function);
    return policy === undefined ? undefined : new Attempt({ run, input }, policy, this.#attempts);
  }

  /** What attempts under way have reported, once a second. */
  #notesDue(): readonly Noted[] {
    if (this.#notesAt > this.#now) return [];
    this.#notesAt = Number.POSITIVE_INFINITY;
    const due = [...this.#noted].filter((attempt) => !attempt.hasEnded);
    this.#noted.clear();
    return due.map((attempt) => ({ attempt, notes: attempt.takeNotes() }));
  }

  /** Waits until no handler is under way, and no claim is being written. */
  async #allEnded(until: Milliseconds): Promise<void> {
    const { clock } = this.#context;
    while (this.#reserved > 0 || this.#underWay().length > 0) {
      const left = until - clock.monotonic();
      if (left <= 0) return;
      const over = new AbortController();
      await Promise.race([clock.sleep(left, over.signal), new Promise<void>((resolve) => this.#atEnd.push(resolve))]);
      over.abort('over');
    }
  }

  #announceEnd(): void {
    for (const resolve of this.#atEnd.splice(0)) resolve();
  }
}

/** Whether the function of a run is paused, or one of its keys. */
function isPaused(view: ReadView, { function: name, limits }: StoredRun): boolean {
  if (view.tableIndex(pauses) <= 1) return false;
  return [[name], ...keysOf({ limits: limits ?? [] }).map((key) => [name, key])].some(
    (key) => view.get(pauses, key) !== undefined,
  );
}

/** Another process has the run, or an earlier try has recorded its outcome. */
const taken = 'taken';

/** A row that cannot be worked with must not end the process. */
const failureOf = (thrown: unknown): Result<never, Pick<StorageError, 'message'> & { readonly thrown: unknown }> =>
  err({ message: messageOf(thrown), thrown });
