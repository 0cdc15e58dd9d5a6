import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { Admission, hasKeys, isLimited, Pauses } from '../../functions/admission.js';
import { type FunctionPolicy, type HostRows, type Json, runsHere } from '../../functions/define-function.js';
import {
  type AttemptEnd,
  afterAttempt,
  type Counts,
  cancellation,
  cancelled,
  comeDue,
  counted,
  type FunctionProcess,
  functionCounts,
  hasEnded,
  type Notes,
  pauses,
  processes,
  rateStates,
  runs,
  type StoredRun,
  setBack,
  started,
} from '../../functions/run.js';
import { schedules } from '../../functions/schedule.js';
import type { FunctionHost } from '../../ports/function-host.js';
import type { ReadView } from '../../ports/storage.js';
import { day, type Milliseconds, minute, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { Attempt } from './attempt.js';
import { type AttemptLoop, ownRun, StoredAttempts, unlessAborted } from './attempt-host.js';
import { AttemptWatch } from './attempt-watch.js';
import { hostRowsOf, storageWith } from './enqueue.js';
import { type LateFunction, LateRuns, noteLaunch, ReportLog } from './late-runs.js';
import { launchDue } from './launches.js';
import { afterEnd } from './run-ends.js';
import { RunReports } from './run-reports.js';
import { batchSize, collect, countsIn, inputOf, putLines, releaseNext, resultApart } from './stored-runs.js';

/** From an abort until a handler that does not end is given up. */
const grace: Milliseconds = 5 * second;
/** For how long a process that is alive keeps its runs after its lease. */
const longestBlock: Milliseconds = 15 * minute;

/** A run that was claimed, with its input. */
interface Claimed {
  readonly run: StoredRun;
  readonly input: Json | undefined;
}

interface Ended {
  readonly attempt: Attempt;
  readonly end: AttemptEnd;
}

/** What an attempt has reported, to be stored. */
interface Noted {
  readonly attempt: Attempt;
  readonly notes: Notes;
}

/** An attempt whose called runs have ended: it continues when it has a slot. */
interface Resuming {
  readonly attempt: Attempt;
  readonly goOn: () => void;
}

/** What the loop needs of its process. */
interface LoopHost {
  /** Gets what has ended here; without a run, when its outcome is that of another process. */
  ended(number: number, run: StoredRun | undefined): void;
  /** Resolves when a run has ended or is no longer kept. */
  untilEnded(number: number): Promise<unknown>;
}

/** Which runs may start. */
interface Search {
  readonly index: 'ready' | 'suspects';
  readonly limit: number;
  readonly paused: Pauses;
  readonly admission: Admission | undefined;
}

/** How much a process runs, how long its runs are its own, and what is known of its machine. */
export interface LoopLimits {
  readonly concurrency: number;
  readonly lease: Milliseconds;
  readonly machine: FunctionHost | undefined;
}

/** What one turn has found and done. */
interface Turn {
  readonly claimed: Claimed[];
  readonly ended: StoredRun[];
  /** Runs under way here that are to be cancelled. */
  readonly cancelling: StoredRun[];
  /** Runs under way here that another process has taken. */
  readonly lost: Attempt[];
  /** Runs that ended here after another process had taken them. */
  readonly taken: number[];
  /** Attempts that have a slot again. */
  readonly resumed: Resuming[];
  /** Functions that have become late. */
  readonly late: LateFunction[];
  /** Functions whose workspace does not exist. */
  unheard: ReadonlyMap<string, string>;
  /** Whether more is due than one write takes. */
  isPartial: boolean;
  /** Nothing that is kept no longer was left. */
  hasCollected: boolean;
  /** The next time something is due, by the wall clock. */
  dueAt: Instant;
  /** How far the wall clock was ahead of the monotonic one. */
  ahead: Milliseconds;
  /** The next end or renewal of a lease, by the monotonic clock. */
  leaseAt: Milliseconds;
  /** Other processes of this machine that have runs, by which it is known when they die. */
  readonly neighbours: string[];
  /** The lease under which all runs under way here were still those of this process. */
  heldUntil: Milliseconds | undefined;
}

interface TurnInput {
  readonly ends: readonly (Ended & Noted)[];
  readonly noted: readonly Noted[];
  readonly free: number;
  readonly adopts: boolean;
}

const newTurn = (): Turn => ({
  claimed: [],
  ended: [],
  cancelling: [],
  lost: [],
  taken: [],
  resumed: [],
  late: [],
  unheard: new Map(),
  neighbours: [],
  isPartial: false,
  hasCollected: false,
  dueAt: Number.POSITIVE_INFINITY,
  ahead: Number.NEGATIVE_INFINITY,
  leaseAt: Number.POSITIVE_INFINITY,
  heldUntil: undefined,
});

function withNotes(run: StoredRun, { progress, lines }: Notes): StoredRun {
  if (progress === undefined && (lines.length === 0 || run.hasLog === true)) return run;
  return { ...run, ...(progress === undefined ? {} : { progress }), ...(lines.length === 0 ? {} : { hasLog: true }) };
}

/** A row that cannot be worked with must not end the process. */
const failureOf = (thrown: unknown): Result<never, { readonly message: string }> =>
  err({ message: thrown instanceof Error ? thrown.message : 'unknown' });

/** Another process has the run, or an earlier try has recorded its outcome. */
const taken = 'taken';

/**
 * Runs the functions of one process. A turn is one write that records what has ended and claims what is due, so that at a high rate
 * one write serves many runs. The rows are the truth; what is in memory can be lost at any time.
 */
export class RunLoop implements AttemptLoop {
  /** Identifies the process in the rows. */
  readonly process: string;
  readonly machine: FunctionHost | undefined;
  readonly #context: EngineContext;
  readonly #policies: readonly FunctionPolicy[];
  readonly #policyOf: ReadonlyMap<string, FunctionPolicy>;
  readonly #concurrency: number;
  /** How long runs belong to a process that shows no sign of life, and with how much left it renews the lease. */
  readonly #leaseTime: Milliseconds;
  readonly #leaseRenewal: Milliseconds;
  readonly #host: LoopHost;
  /** Claimed and not recorded as ended, by number. */
  readonly #underWay = new Map<number, Attempt>();
  /** Attempts whose handlers continue after they were given up: they keep their slots. */
  readonly #abandoned = new Set<Attempt>();
  /** Slots of claims that are being written. */
  #reserved = 0;
  #ends: Ended[] = [];
  #resuming: Resuming[] = [];
  readonly #waiting = new Set<Attempt>();
  /** Outcomes that are being recorded with rows of the host. */
  readonly #committing = new Set<Promise<void>>();
  readonly #attempts: StoredAttempts;
  /** Attempts with notes, and when these are stored. */
  readonly #noted = new Set<Attempt>();
  #notesAt: Milliseconds = Number.POSITIVE_INFINITY;
  /** A write that failed may have claimed runs all the same. */
  #mayHoldMore = true;
  /** The last turn left nothing behind that is due. */
  #isCaughtUp = false;
  #accepts = true;
  /** The lease under which the runs under way here were checked last. */
  #heldUntil: Milliseconds | undefined;
  /** How far the wall clock was ahead of the monotonic one in the last turn. */
  #ahead: Milliseconds = Number.NEGATIVE_INFINITY;
  #collectedAt: Milliseconds = Number.NEGATIVE_INFINITY;
  /** When a failure of the store was logged last. */
  #loggedAt: Milliseconds = Number.NEGATIVE_INFINITY;
  /** Leases of processes on other timelines, and since when they have been the same. */
  readonly #foreign = new Map<string, { readonly leaseUntil: Milliseconds; readonly since: Milliseconds }>();
  /** The key of each function whose turn was last. */
  readonly #lastKey = new Map<string, string>();
  /** Indexes of the enqueues since the last turn that claimed their run in the same write. */
  readonly #claimedBy = new Set<number>();
  readonly #lateRuns: LateRuns;
  readonly #reportLog: ReportLog;
  readonly #watch: AttemptWatch;
  #wake: (() => void) | undefined;
  /** Until when the loop rests unless something happens, by the monotonic clock. */
  #restsUntil: Milliseconds = Number.NEGATIVE_INFINITY;
  /** When it is woken for runs that began while it rested. */
  #alarmAt: Milliseconds = Number.POSITIVE_INFINITY;
  #isWoken = false;
  /** Ends so far, and who waits for the next one. */
  readonly #endings = { all: 0, handedBack: 0 };
  #atEnd: (() => void)[] = [];

  constructor(
    context: EngineContext,
    policies: ReadonlyMap<string, FunctionPolicy>,
    { concurrency, lease, machine }: LoopLimits,
    host: LoopHost,
  ) {
    this.#context = context;
    this.#policyOf = policies;
    this.#lateRuns = new LateRuns(policies);
    this.#reportLog = new ReportLog(context);
    this.#watch = new AttemptWatch(context);
    this.#policies = [...policies.values()].filter(runsHere);
    this.#concurrency = concurrency;
    this.#leaseTime = lease;
    // Whole milliseconds: a clock that counts in them would never reach a part of one.
    this.#leaseRenewal = Math.floor((lease * 2) / 3);
    this.#host = host;
    this.machine = machine;
    this.process = context.ids.next('lease_owner');
    this.#attempts = new StoredAttempts(context, policies, this);
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#accepts = true;
    this.#isCaughtUp = false;
    while (!signal.aborted) {
      this.#isWoken = false;
      const turn = await this.#turn();
      if (turn === undefined) await this.#context.clock.sleep(second, signal);
      else if (!turn.isPartial) await this.#rest(turn, turn.index, signal);
      this.#endLate();
    }
  }

  /** Whether a run is under way here, so that its end will be announced. */
  has(number: number): boolean {
    return this.#underWay.has(number);
  }

  /** Something has changed that a turn should look at. */
  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  get #free(): number {
    const taken = this.#underWay.size - this.#ends.length - this.#waiting.size + this.#abandoned.size + this.#reserved;
    return this.#concurrency - taken;
  }

  /** Takes a slot for a run that the caller is about to enqueue; false when it has to wait for its turn. */
  reserve(name: string): boolean {
    const policy = this.#policyOf.get(name);
    const canStart = this.#accepts && this.#isCaughtUp && !this.#mayHoldMore && this.#free > 0;
    if (!canStart || policy === undefined || !runsHere(policy) || isLimited(policy)) return false;
    this.#reserved += 1;
    return true;
  }

  /** The run as started by this process, within the write that enqueues it. */
  claim(tx: Transaction, run: StoredRun): StoredRun {
    if (tx.get(pauses, [run.function]) !== undefined) return run;
    this.#keepLease(tx);
    return started(run, this.process, tx.now);
  }

  /** The write of a reserved slot has ended: with a run, which begins, or without one. */
  begin(claimed: Claimed | undefined, failed = false): void {
    this.#reserved -= 1;
    this.#announceEnd();
    if (failed) this.#mayHoldMore = true;
    if (claimed === undefined) this.wake();
    // Of a paused function, the run was enqueued without being claimed.
    else if (claimed.run.state === 'running') {
      this.#claimedBy.add(claimed.run.number);
      this.#start(claimed);
    }
  }

  /** Aborts a run of this process at once, without waiting for the next turn. */
  cancel(number: number, reason: string): void {
    this.#underWay.get(number)?.abort('cancelled', this.#context.clock.monotonic() + grace, reason);
    this.wake();
  }

  /** Starts nothing more. Resolves when all handlers have ended, or the time is over; then hands the rest back. */
  async stop(deadline: Milliseconds): Promise<{ readonly ended: number; readonly handedBack: number }> {
    const { clock } = this.#context;
    this.#accepts = false;
    const before = { ...this.#endings };
    // Nothing starts that they could wait for.
    for (const attempt of this.#underWay.values())
      if (attempt.isWaiting) attempt.abort('stopping', clock.monotonic() + second);
    await this.#allEnded(clock.monotonic() + deadline);
    for (const attempt of this.#underWay.values())
      if (!attempt.hasEnded) attempt.abort('stopping', clock.monotonic() + second);
    await this.#allEnded(clock.monotonic() + second);
    const left = [...this.#underWay.values()].filter((attempt) => !attempt.hasEnded);
    for (const attempt of left) this.#giveUp(attempt, { type: 'handed_back' });
    await Promise.all(this.#committing);
    await this.#turn();
    await this.#leave();
    const handedBack = this.#endings.handedBack - before.handedBack;
    return { ended: this.#endings.all - before.all - handedBack, handedBack };
  }

  /** Gives the lease back, if nothing is left under it. */
  async #leave(): Promise<void> {
    const left = await commit(this.#context, hostPrincipal, (tx): Result<void, never> => {
      const hasRuns = tx.list(runs, { index: 'live', prefix: [this.process], limit: 1 }).length > 0;
      if (!hasRuns) tx.remove(processes, [this.process]);
      return ok(undefined);
    });
    if (left.isErr()) this.#context.logger.warn({ error: left.error.message }, 'The lease on runs of functions stays');
  }

  /** Waits until no handler is under way, and no claim is being written. */
  async #allEnded(until: Milliseconds): Promise<void> {
    const { clock } = this.#context;
    while (this.#reserved > 0 || [...this.#underWay.values()].some((attempt) => !attempt.hasEnded)) {
      const left = until - clock.monotonic();
      if (left <= 0) return;
      const over = new AbortController();
      await Promise.race([clock.sleep(left, over.signal), this.#nextEnd()]);
      over.abort('over');
    }
  }

  #nextEnd(): Promise<void> {
    return new Promise((resolve) => this.#atEnd.push(resolve));
  }

  #announceEnd(): void {
    for (const resolve of this.#atEnd.splice(0)) resolve();
  }

  /** Waits until the store has changed, something is due, or a handler has ended. */
  async #rest(turn: Turn, seen: number, signal: AbortSignal): Promise<void> {
    if (this.#isWoken || signal.aborted) return;
    const { clock } = this.#context;
    const over = new AbortController();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
      void this.#changeOfOthers(seen, over.signal).then(() => resolve());
      if (turn.neighbours.length > 0) void this.#changeOfLife(turn.neighbours, over.signal).then(() => resolve());
      if (Number.isFinite(turn.dueAt)) void clock.sleepUntil(turn.dueAt, over.signal).then(() => resolve());
      const due = [...this.#underWay.values()].map((attempt) => this.#dueOf(attempt));
      // Also when the wall clock is set back meanwhile: a turn sees it.
      const dueAt = clock.monotonic() + turn.dueAt - clock.now();
      const at = Math.min(turn.leaseAt, this.#notesAt, dueAt, ...due);
      this.#restsUntil = at;
      if (Number.isFinite(at)) void clock.sleep(at - clock.monotonic(), over.signal).then(() => resolve());
    });
    this.#restsUntil = Number.NEGATIVE_INFINITY;
    this.#wake = undefined;
    over.abort('over');
  }

  /** Resolves when another process of this machine is no longer alive, or one that was stopped continues. */
  async #changeOfLife(neighbours: readonly string[], signal: AbortSignal): Promise<void> {
    const lives = (): string => neighbours.map((each) => this.#lifeOf(each)).join(' ');
    const before = lives();
    while (!signal.aborted && lives() === before) await this.#context.clock.sleep(second / 2, signal);
  }

  /** Resolves when the store has changed by more than an enqueue that has claimed its run for this process: that one needs no turn. */
  async #changeOfOthers(seen: number, signal: AbortSignal): Promise<void> {
    const { storage, turns } = this.#context;
    let index = seen;
    while (!signal.aborted) {
      const changedAt = await storage.waitForChange([runs, processes, pauses, schedules], index, signal);
      // The enqueue, and a handler that ends at once, get their turn of the event loop first.
      await turns.next();
      if (changedAt !== index + 1 || !this.#claimedBy.delete(changedAt)) return;
      index = changedAt;
    }
  }

  /** When an attempt needs a turn at the latest: for its deadline, and for the lease, of which a third may have passed when it began. */
  #dueOf({ deadline }: Attempt): Milliseconds {
    return Math.min(deadline, this.#context.clock.monotonic() + this.#leaseTime - this.#leaseRenewal);
  }

  /** A run that begins with its enqueue may begin while the loop rests for longer than the run allows. */
  #setAlarm(at: Milliseconds): void {
    if (at >= Math.min(this.#restsUntil, this.#alarmAt)) return;
    this.#alarmAt = at;
    const { clock } = this.#context;
    void clock.sleep(at - clock.monotonic(), new AbortController().signal).then(() => {
      if (this.#alarmAt === at) this.#alarmAt = Number.POSITIVE_INFINITY;
      this.wake();
    });
  }

  /** Aborts attempts that take too long, and gives up those that do not end. */
  #endLate(): void {
    const now = this.#context.clock.monotonic();
    for (const attempt of this.#underWay.values()) {
      if (attempt.hasEnded || attempt.deadline > now) continue;
      if (attempt.cause === undefined) attempt.abort('timed_out', now + grace);
      else this.#giveUp(attempt, attempt.ending(undefined, attempt.wait(undefined)));
    }
  }

  #giveUp(attempt: Attempt, end: AttemptEnd): void {
    this.#abandoned.add(attempt);
    this.#note(attempt, end);
  }

  #note(attempt: Attempt, end: AttemptEnd): void {
    attempt.hasEnded = true;
    this.#waiting.delete(attempt);
    this.#watch.ended(attempt.run, end);
    this.#ends.push({ attempt, end });
    this.#endings.all += 1;
    if (end.type === 'handed_back') this.#endings.handedBack += 1;
    this.#announceEnd();
    this.wake();
  }

  #start({ run, input }: Claimed): void {
    const policy = this.#policyOf.get(run.function);
    if (policy === undefined) return;
    const attempt = new Attempt(run, policy, this.#attempts);
    this.#underWay.set(run.number, attempt);
    this.#watch.began(run);
    if (run.limits?.[0] !== undefined) this.#lastKey.set(run.function, run.limits[0]);
    this.#setAlarm(this.#dueOf(attempt));
    void attempt.perform(input).then((end) => {
      if (this.#abandoned.delete(attempt)) this.wake();
      else if (!attempt.hasEnded) this.#over(attempt, end);
    });
  }

  /** A handler has ended. */
  #over(attempt: Attempt, end: AttemptEnd): void {
    if (attempt.rows === undefined || end.type !== 'succeeded') {
      this.#note(attempt, end);
      return;
    }
    attempt.hasEnded = true;
    this.#watch.ended(attempt.run, end);
    const committed = this.#commitWith(attempt, end, attempt.rows).finally(() => this.#committing.delete(committed));
    this.#committing.add(committed);
  }

  /** Records an outcome together with rows of the host, in a separate write: they may be refused. */
  async #commitWith(attempt: Attempt, end: AttemptEnd, rows: HostRows): Promise<void> {
    const { storage, clock } = this.#context;
    const notes = attempt.takeNotes();
    for (;;) {
      const own = hostRowsOf(rows);
      const context = { ...this.#context, storage: storageWith(storage, own.rows) };
      const written = await commit(context, hostPrincipal, (tx): Result<Turn, { readonly message: string }> => {
        const turn = newTurn();
        this.#record(tx, turn, { attempt, end, notes });
        for (const run of turn.ended) RunReports.in(tx).ended(run);
        this.#count(tx, turn);
        return turn.taken.length > 0 ? err({ message: taken }) : ok(turn);
      }).then((result) => result, failureOf);
      if (written.isOk()) return this.#committed(attempt, written.value.value.ended[0]);
      if (own.thrown !== undefined) {
        attempt.returnNotes(notes);
        this.#note(attempt, attempt.failure(own.thrown.error));
        return;
      }
      // An earlier try may have recorded it: whoever waits reads what is stored.
      if (written.error.message === taken) return this.#committed(attempt, undefined);
      this.#logFailure(written.error, 'An outcome with rows of the host cannot be recorded');
      // A stop does not wait for a store that fails: the run is taken again.
      if (!this.#accepts || ('reason' in written.error && written.error.reason === 'closed')) return;
      await clock.sleep(second, new AbortController().signal);
    }
  }

  #committed(attempt: Attempt, run: StoredRun | undefined): void {
    this.#underWay.delete(attempt.run.number);
    this.#endings.all += 1;
    this.#host.ended(attempt.run.number, run);
    this.#announceEnd();
    this.wake();
  }

  // What attempts under way report.

  noted(attempt: Attempt): void {
    this.#noted.add(attempt);
    if (this.#notesAt !== Number.POSITIVE_INFINITY) return;
    this.#notesAt = this.#context.clock.monotonic() + second;
    this.#setAlarm(this.#notesAt);
  }

  waits(attempt: Attempt): void {
    attempt.waits();
    this.#waiting.add(attempt);
    // Nothing starts any more that it could wait for.
    if (!this.#accepts) attempt.abort('stopping', this.#context.clock.monotonic() + second);
    this.wake();
  }

  goesOn(attempt: Attempt): void {
    attempt.goesOn();
    if (!attempt.isWaiting) this.#waiting.delete(attempt);
  }

  async resume(attempt: Attempt): Promise<void> {
    if (attempt.hasOtherCalls) {
      this.goesOn(attempt);
      return;
    }
    const slot = new Promise<void>((resolve) => this.#resuming.push({ attempt, goOn: resolve }));
    this.wake();
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

  /** One write; undefined when the store failed, after which the same ends are recorded again. */
  async #turn(): Promise<(Turn & { readonly index: number }) | undefined> {
    const adopts = this.#mayHoldMore && this.#reserved === 0;
    const free = this.#accepts ? Math.max(0, this.#free) : 0;
    const ends = this.#ends.map((ended) => ({ ...ended, notes: ended.attempt.takeNotes() }));
    this.#ends = [];
    const noted = this.#notesDue();
    this.#claimedBy.clear();
    for (const { attempt } of ends) this.#underWay.delete(attempt.run.number);
    this.#reserved += free;
    const written = await commit<Turn, never>(this.#context, hostPrincipal, (tx) =>
      ok(this.#work(tx, { ends, noted, free, adopts })),
    ).then((result) => result, failureOf);
    this.#reserved -= free;
    this.#announceEnd();
    if (written.isErr()) {
      this.#ends = [...ends, ...this.#ends];
      for (const { attempt } of ends) this.#underWay.set(attempt.run.number, attempt);
      for (const { attempt, notes } of [...ends, ...noted]) attempt.returnNotes(notes);
      for (const { attempt } of noted) this.noted(attempt);
      this.#mayHoldMore = true;
      this.#isCaughtUp = false;
      this.#logFailure(written.error, 'Runs of functions cannot be recorded');
      return undefined;
    }
    if (adopts) this.#mayHoldMore = false;
    this.#follow(written.value.value, free);
    return { ...written.value.value, index: written.value.index };
  }

  /** Once a second at most: a store that fails, fails every outcome that waits for it. */
  #logFailure({ message }: { readonly message: string }, what: string): void {
    const now = this.#context.clock.monotonic();
    if (now - this.#loggedAt < second) return;
    this.#loggedAt = now;
    this.#context.logger.error({ error: message }, what);
  }

  /** What a turn has decided happens once it is durable. */
  #follow(turn: Turn, free: number): void {
    const now = this.#context.clock.monotonic();
    this.#ahead = turn.ahead;
    if (turn.hasCollected) this.#collectedAt = now;
    this.#heldUntil = turn.heldUntil ?? this.#heldUntil;
    for (const attempt of turn.lost) attempt.abort('lost', Number.POSITIVE_INFINITY);
    for (const { number, cancelling } of turn.cancelling)
      this.#underWay.get(number)?.abort('cancelled', now + grace, cancelling);
    for (const { goOn } of turn.resumed) goOn();
    for (const claimed of turn.claimed) this.#start(claimed);
    this.#isCaughtUp = turn.claimed.length + turn.resumed.length < free && !turn.isPartial;
    for (const run of turn.ended) this.#host.ended(run.number, run);
    for (const number of turn.taken) this.#host.ended(number, undefined);
    this.#reportLog.follow(turn);
  }

  /** What attempts under way have reported, once a second. */
  #notesDue(): readonly Noted[] {
    if (this.#notesAt > this.#context.clock.monotonic()) return [];
    this.#notesAt = Number.POSITIVE_INFINITY;
    const due = [...this.#noted].filter((attempt) => !attempt.hasEnded);
    this.#noted.clear();
    return due.map((attempt) => ({ attempt, notes: attempt.takeNotes() }));
  }

  #work(tx: Transaction, { ends, noted, free, adopts }: TurnInput): Turn {
    const turn = newTurn();
    for (const ended of ends) this.#record(tx, turn, ended);
    for (const { attempt, notes } of noted) this.#putNotes(tx, attempt, notes);
    this.#takeOver(tx, turn);
    this.#letTimePass(tx, turn);
    this.#launch(tx, turn);
    const going = [...this.#underWay.values()].filter((attempt) => !attempt.hasEnded);
    if (adopts) this.#adopt(tx, turn, ends);
    const adopted = turn.claimed.length;
    this.#claim(tx, turn, free, going);
    this.#report(tx, turn, adopted);
    if (going.length + turn.claimed.length > 0) {
      const until = this.#keepLease(tx);
      // Whoever renewed it, this turn or an enqueue: it may have ended before.
      if (until !== this.#heldUntil)
        turn.lost.push(...going.filter((attempt) => ownRun(tx, attempt, this.process) === undefined));
      turn.heldUntil = until;
      turn.leaseAt = Math.min(turn.leaseAt, until - this.#leaseRenewal);
      const asked = tx.list(runs, { index: 'cancelling', prefix: [this.process] });
      turn.cancelling.push(...asked.map(({ record }) => record));
    }
    this.#count(tx, turn);
    return turn;
  }

  /** What workspaces are notified of is written with what it is about. */
  #report(tx: Transaction, turn: Turn, adopted: number): void {
    const reports = RunReports.in(tx);
    for (const run of turn.ended) reports.ended(run);
    for (const [at, { run }] of turn.claimed.entries()) {
      if (at < adopted) reports.resumed(run);
      else reports.started(run);
    }
    turn.dueAt = Math.min(turn.dueAt, reports.wait(), this.#lateRuns.check(tx, turn.late));
    turn.unheard = reports.unheard;
  }

  /** An outcome counts for the start that is stored: of a run that was taken away, nothing is recorded. */
  #record(tx: Transaction, turn: Turn, { attempt, end, notes }: Ended & Noted): void {
    const stored = ownRun(tx, attempt, this.process);
    if (stored === undefined) {
      turn.taken.push(attempt.run.number);
      return;
    }
    putLines(tx, stored, notes.lines);
    this.#put(tx, turn, afterAttempt(withNotes(stored, notes), end, tx.now));
  }

  #putNotes(tx: Transaction, attempt: Attempt, notes: Notes): void {
    const stored = ownRun(tx, attempt, this.process);
    if (stored === undefined) return;
    putLines(tx, stored, notes.lines);
    const noted = withNotes(stored, notes);
    if (noted !== stored) tx.put(runs, noted);
  }

  #put(tx: Transaction, turn: Turn, run: StoredRun): void {
    const kept = resultApart(tx, run);
    tx.put(runs, kept);
    if (!hasEnded(kept)) return;
    turn.ended.push(kept);
    releaseNext(tx, kept);
  }

  /** Runs of processes that have died. */
  #takeOver(tx: Transaction, turn: Turn): void {
    for (const { record: other } of tx.list(processes)) {
      if (other.id === this.process) continue;
      const life = this.#lifeOf(other.identity);
      // One whose event loop is blocked cannot renew its lease, and has its runs all the same.
      const until = this.#leaseEnd(tx, other) + (life === 'alive' ? longestBlock : 0);
      if (life === 'dead' || until <= tx.monotonic) this.#takeRunsOf(tx, turn, other, life === 'dead');
      else {
        turn.leaseAt = Math.min(turn.leaseAt, until);
        if (other.identity !== undefined && other.identity !== this.machine?.identity)
          turn.neighbours.push(other.identity);
      }
    }
  }

  #takeRunsOf(tx: Transaction, turn: Turn, other: FunctionProcess, isDead: boolean): void {
    const left = tx.list(runs, { index: 'live', prefix: [other.id], limit: batchSize });
    for (const { record } of left) {
      // One that only waited is not to blame.
      const type = record.state === 'waiting' ? 'handed_back' : 'interrupted';
      this.#put(tx, turn, afterAttempt(record, { type }, tx.now));
    }
    if (left.length === batchSize) turn.isPartial = true;
    // One that had no runs under way may be idle.
    else if (isDead || left.length > 0 || other.until < tx.now - day) {
      tx.remove(processes, [other.id]);
      this.#foreign.delete(other.id);
    }
  }

  #lifeOf(identity: string | undefined): 'alive' | 'dead' | 'unknown' {
    // Of another loop in this very process, only the lease says whether it still runs.
    if (identity === undefined || identity === this.machine?.identity) return 'unknown';
    return this.machine?.lifeOf(identity) ?? 'unknown';
  }

  /** When a lease ends by the monotonic clock of this process; of another host, after it has been the same for its length. */
  #leaseEnd(
    tx: Transaction,
    other: { readonly id: string; readonly timeline: string; readonly leaseUntil: number },
  ): number {
    if (other.timeline === tx.timeline) return other.leaseUntil;
    const known = this.#foreign.get(other.id);
    if (known?.leaseUntil === other.leaseUntil) return known.since + this.#leaseTime;
    this.#foreign.set(other.id, { leaseUntil: other.leaseUntil, since: tx.monotonic });
    return tx.monotonic + this.#leaseTime;
  }

  /** Renews the lease when it is about to end; gives its end. */
  #keepLease(tx: Transaction): Milliseconds {
    const known = tx.get(processes, [this.process])?.record.leaseUntil;
    if (known !== undefined && known - tx.monotonic > this.#leaseRenewal) return known;
    return this.#putLease(tx, this.#leaseTime);
  }

  /** Says at the start which functions run here. Without a lease: nobody waits for its end. */
  declare(tx: Transaction): void {
    if (tx.get(processes, [this.process]) === undefined) this.#putLease(tx, 0);
  }

  #putLease(tx: Transaction, time: Milliseconds): Milliseconds {
    const leaseUntil = tx.monotonic + time;
    const functions = Object.fromEntries(this.#policies.map(({ name, version }) => [name, version]));
    const identity = this.machine?.identity;
    tx.put(processes, {
      ...{ id: this.process, timeline: tx.timeline, leaseUntil, until: tx.now + time, functions },
      ...(identity === undefined ? {} : { identity }),
    });
    return leaseUntil;
  }

  #letTimePass(tx: Transaction, turn: Turn): void {
    const expired = tx.list(runs, { index: 'expiring', to: [tx.now + 1], limit: batchSize });
    for (const { record } of expired) {
      const over = cancelled(record, 'expired', tx.now);
      if (over !== undefined) this.#put(tx, turn, { ...over, error: cancellation('expired') });
    }
    turn.ahead = tx.now - tx.monotonic;
    // A wait that began later than now: the clock was set back.
    const early = tx.list(runs, { index: 'waits', from: [tx.now + 1], limit: batchSize });
    for (const { record } of early) tx.put(runs, setBack(record, tx.now, this.#ahead - turn.ahead));
    if (early.length === batchSize) turn.ahead = this.#ahead;
    const over = tx.list(runs, { index: 'due', to: [tx.now + 1], limit: batchSize });
    for (const { record } of over) tx.put(runs, comeDue(record));
    if ([expired, early, over].some(({ length }) => length === batchSize)) turn.isPartial = true;
    const next = [
      tx.list(runs, { index: 'expiring', limit: 1 })[0]?.record.expiresAt,
      tx.list(runs, { index: 'due', limit: 1 })[0]?.record.dueAt,
    ];
    turn.dueAt = Math.min(...next.map((at) => at ?? Number.POSITIVE_INFINITY));
  }

  /** Runs that a failed write has claimed all the same: they begin now. */
  #adopt(tx: Transaction, turn: Turn, ends: readonly Ended[]): void {
    const ending = new Set(ends.map(({ attempt }) => attempt.run.number));
    for (const { record } of tx.list(runs, { index: 'live', prefix: [this.process] })) {
      if (this.#underWay.has(record.number) || ending.has(record.number)) continue;
      turn.claimed.push({ run: record, input: inputOf(tx, record) });
    }
  }

  /** Runs of schedules that are due, in the write that moves the schedule on: a launch is made once. */
  #launch(tx: Transaction, turn: Turn): void {
    for (const policy of this.#policies) {
      const due = tx.list(schedules, { index: 'due', prefix: [policy.name], limit: batchSize });
      for (const { record: schedule } of due) {
        if (schedule.dueAt > tx.now || (schedule.version ?? 0) > policy.version) continue;
        noteLaunch(tx, schedule, turn.late);
        launchDue(tx, policy, schedule);
      }
      const next = tx.list(schedules, { index: 'due', prefix: [policy.name], limit: 1 })[0]?.record.dueAt;
      if (next !== undefined && next > tx.now) turn.dueAt = Math.min(turn.dueAt, next);
    }
  }

  #claim(tx: Transaction, turn: Turn, free: number, going: readonly Attempt[]): void {
    if (free <= turn.claimed.length) return;
    const admission = this.#policies.some(isLimited) ? this.#admission(tx) : undefined;
    this.#resume(tx, turn, free - turn.claimed.length, admission);
    const room = free - turn.claimed.length - turn.resumed.length;
    if (room <= 0) return;
    const paused = new Pauses(tx.list(pauses).map(({ record }) => record));
    const active = this.#policies.filter(({ name }) => !paused.has(name));
    const search = { paused, admission };
    const hasSuspect = going.some(({ run, isWaiting }) => run.interruptions > 0 && !isWaiting);
    // Runs that their process may have died of, the first of each function: one of them runs beside no other.
    const suspects = hasSuspect ? [] : this.#first(tx, active, { ...search, index: 'suspects', limit: 1 });
    const ready = this.#first(tx, active, { ...search, index: 'ready', limit: room });
    const begin = (candidates: readonly StoredRun[], most: number): void => {
      for (const run of candidates) {
        if (turn.claimed.length >= most) break;
        const policy = this.#policyOf.get(run.function);
        if (policy !== undefined) this.#begin(tx, turn, run, isLimited(policy) ? { policy, admission } : undefined);
      }
    };
    begin(suspects, turn.claimed.length + 1);
    begin(ready, free - turn.resumed.length);
    for (const state of admission?.changedRates ?? []) tx.put(rateStates, state);
    turn.dueAt = Math.min(turn.dueAt, admission?.until ?? Number.POSITIVE_INFINITY);
  }

  /** Attempts whose calls have ended continue before anything new starts. */
  #resume(tx: Transaction, turn: Turn, room: number, admission: Admission | undefined): void {
    for (const each of this.#resuming) {
      if (turn.resumed.length >= room) break;
      const { attempt } = each;
      const stored = attempt.cause === undefined ? ownRun(tx, attempt, this.process) : undefined;
      if (stored === undefined || admission?.readmits(attempt.policy, stored) === false) continue;
      tx.put(runs, { ...stored, state: 'running' });
      turn.resumed.push(each);
    }
  }

  #begin(
    tx: Transaction,
    turn: Turn,
    run: StoredRun,
    counted: { readonly policy: FunctionPolicy; readonly admission: Admission | undefined } | undefined,
  ): void {
    if (counted !== undefined && counted.admission?.admits(counted.policy, run) !== true) return;
    const begun = started(run, this.process, tx.now);
    tx.put(runs, begun);
    turn.claimed.push({ run: begun, input: inputOf(tx, begun) });
    // The same key, or the next one, may have more.
    if (counted !== undefined) turn.isPartial = true;
  }

  #admission(tx: Transaction): Admission {
    const live = tx.list(runs, { index: 'live' }).map(({ record }) => record);
    const stored = (name: string) => tx.get(rateStates, [name])?.record;
    return new Admission(live, (name) => this.#policyOf.get(name), stored, tx.now);
  }

  /** The first runs by priority, due time and number that the code of this process may take. */
  #first(tx: Transaction, policies: readonly FunctionPolicy[], search: Search): readonly StoredRun[] {
    const { index, limit, paused, admission } = search;
    const found = policies.flatMap((policy) => {
      const mayTake = (run: StoredRun): boolean =>
        run.version <= policy.version && !this.#underWay.has(run.number) && paused.keyOf(run) === undefined;
      if (isLimited(policy) && admission?.isClosed(policy) === true) return [];
      if (hasKeys(policy)) return this.#ofKeys(tx, policy, search, mayTake);
      return firstOf(tx, index, [policy.name], { limit, mayTake });
    });
    if (policies.length > 1) found.sort((a, b) => b.priority - a.priority || a.dueAt - b.dueAt || a.number - b.number);
    return found;
  }

  /**
   * The first run of each key, beginning with the key after the last one that had a turn. Keys at their limit or rate, and paused
   * ones, are passed over.
   */
  #ofKeys(tx: Transaction, policy: FunctionPolicy, search: Search, mayTake: (run: StoredRun) => boolean): StoredRun[] {
    const { name } = policy;
    const found: StoredRun[] = [];
    const began = this.#lastKey.get(name) ?? '';
    const { index, limit } = search;
    // Up to the last key, and then from the first one to where it began.
    for (const hasWrapped of [false, true]) {
      let after: Key = hasWrapped ? [name] : [name, began, 101];
      while (found.length < limit) {
        const [row] = tx.list(runs, { index, prefix: [name], from: after, limit: 1 });
        const key = row?.record.limits?.[0] ?? '';
        if (row === undefined || (hasWrapped && key > began)) break;
        after = [name, key, 101];
        const first = firstOfKey(tx, policy, row.record, { ...search, mayTake });
        if (first !== undefined) found.push(first);
      }
    }
    return found;
  }

  /** Counts what has ended, and removes what is kept no longer. */
  #count(tx: Transaction, turn: Turn): void {
    const touched = new Map<string, Counts>();
    for (const run of turn.ended) {
      const counts = touched.get(run.function) ?? countsIn(tx, run.function);
      touched.set(run.function, counted({ ...counts, unfinished: counts.unfinished - 1 }, run, 1));
    }
    const collects = touched.size > 0 && tx.monotonic - this.#collectedAt >= minute;
    for (const [name, counts] of touched) {
      const policy = collects ? this.#policyOf.get(name) : undefined;
      const left = policy === undefined ? { counts, isPartial: false } : collect(tx, policy, counts);
      if (left.isPartial) turn.isPartial = true;
      tx.put(functionCounts, { function: name, ...left.counts });
    }
    for (const run of turn.ended) if (afterEnd(tx, run, this.#policyOf)) turn.isPartial = true;
    turn.hasCollected = collects && !turn.isPartial;
  }
}

/** The first runs of an index that a process may take: those that it may not take stand among the others. */
function firstOf(
  view: ReadView,
  index: Search['index'],
  prefix: Key,
  { limit, mayTake }: { readonly limit: number; readonly mayTake: (run: StoredRun) => boolean },
): readonly StoredRun[] {
  for (let most = limit; ; most *= 4) {
    const rows = view.list(runs, { index, prefix, limit: most }).map(({ record }) => record);
    const found = rows.filter(mayTake);
    if (found.length >= limit || rows.length < most) return found.slice(0, limit);
  }
}

/** The first run of a key that may start, of which `head` is the first that is queued. */
function firstOfKey(
  view: ReadView,
  policy: FunctionPolicy,
  head: StoredRun,
  { index, paused, admission, mayTake }: Search & { readonly mayTake: (run: StoredRun) => boolean },
): StoredRun | undefined {
  const { name } = policy;
  const [key = ''] = head.limits ?? [];
  if (paused.keyOf({ function: name, limits: [key] }) !== undefined) return undefined;
  // Behind the first run may be others that another key, or a later version of the code, does not hold.
  const run = mayTake(head) ? head : firstOf(view, index, [name, key], { limit: 1, mayTake })[0];
  return run === undefined || admission?.blockOf(policy, run) !== undefined ? undefined : run;
}
