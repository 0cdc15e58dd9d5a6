import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { Admission, hasKeys, isLimited } from '../../functions/admission.js';
import type { FunctionPolicy, Json } from '../../functions/define-function.js';
import {
  type AttemptEnd,
  afterAttempt,
  cancellation,
  cancelled,
  counted,
  type EndedCounts,
  functionCounts,
  hasEnded,
  pauses,
  processes,
  rateStates,
  runs,
  type StoredRun,
  started,
  steps,
} from '../../functions/run.js';
import { schedules } from '../../functions/schedule.js';
import type { ReadView } from '../../ports/storage.js';
import { type Milliseconds, minute, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { Attempt } from './attempt.js';
import { launchDue } from './launches.js';
import { batchSize, collect, endedCountsOf, inputOf, resultApart } from './stored-runs.js';

/** From an abort until a handler that does not end is given up. */
const grace: Milliseconds = 5 * second;
/** A run that was claimed, with its input. */
interface Claimed {
  readonly run: StoredRun;
  readonly input: Json | undefined;
}

interface Ended {
  readonly attempt: Attempt;
  readonly end: AttemptEnd;
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
  /** Whether more is due than one write takes. */
  isPartial: boolean;
  /** Nothing that is kept no longer was left. */
  hasCollected: boolean;
  /** The next time something is due, by the wall clock. */
  dueAt: Instant;
  /** The next end or renewal of a lease, by the monotonic clock. */
  leaseAt: Milliseconds;
  /** The lease under which all runs under way here were still those of this process. */
  heldUntil: Milliseconds | undefined;
}

/**
 * Runs the functions of one process. A turn is one write that records what has ended and claims what is due, so that at a high rate
 * one write serves many runs. The rows are the truth; what is in memory can be lost at any time.
 */
export class RunLoop {
  /** Identifies the process in the rows. */
  readonly process: string;
  readonly #context: EngineContext;
  readonly #policies: readonly FunctionPolicy[];
  readonly #policyOf: ReadonlyMap<string, FunctionPolicy>;
  readonly #concurrency: number;
  /** How long runs belong to a process that shows no sign of life, and with how much left it renews the lease. */
  readonly #leaseTime: Milliseconds;
  readonly #leaseRenewal: Milliseconds;
  /** Gets what has ended here; without a run, when its outcome is that of another process. */
  readonly #onEnded: (number: number, run: StoredRun | undefined) => void;
  /** Claimed and not recorded as ended, by number. */
  readonly #underWay = new Map<number, Attempt>();
  /** Attempts whose handlers continue after they were given up: they keep their slots. */
  readonly #abandoned = new Set<Attempt>();
  /** Slots of claims that are being written. */
  #reserved = 0;
  #ends: Ended[] = [];
  /** A write that failed may have claimed runs all the same. */
  #mayHoldMore = true;
  /** The last turn left nothing behind that is due. */
  #isCaughtUp = false;
  #accepts = true;
  /** The lease under which the runs under way here were checked last. */
  #heldUntil: Milliseconds | undefined;
  #collectedAt: Milliseconds = Number.NEGATIVE_INFINITY;
  /** Leases of processes on other timelines, and since when they have been the same. */
  readonly #foreign = new Map<string, { readonly leaseUntil: Milliseconds; readonly since: Milliseconds }>();
  /** The key of each function whose turn was last. */
  readonly #lastKey = new Map<string, string>();
  /** Indexes of the enqueues since the last turn that claimed their run in the same write. */
  readonly #claimedBy = new Set<number>();
  #wake: (() => void) | undefined;
  /** Until when the loop rests unless something happens, by the monotonic clock. */
  #restsUntil: Milliseconds = Number.NEGATIVE_INFINITY;
  /** When it is woken for runs that began while it rested. */
  #alarmAt: Milliseconds = Number.POSITIVE_INFINITY;
  #isWoken = false;
  /** Ends so far, and who waits for the next one. */
  readonly #noted = { all: 0, handedBack: 0 };
  #atEnd: (() => void)[] = [];

  constructor(
    context: EngineContext,
    policies: ReadonlyMap<string, FunctionPolicy>,
    { concurrency, lease }: { readonly concurrency: number; readonly lease: Milliseconds },
    onEnded: (number: number, run: StoredRun | undefined) => void,
  ) {
    this.#context = context;
    this.#policyOf = policies;
    this.#policies = [...policies.values()].filter(({ handler }) => handler !== undefined);
    this.#concurrency = concurrency;
    this.#leaseTime = lease;
    this.#leaseRenewal = (lease * 2) / 3;
    this.#onEnded = onEnded;
    this.process = context.ids.next('lease_owner');
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
    return this.#concurrency - this.#underWay.size + this.#ends.length - this.#abandoned.size - this.#reserved;
  }

  /** Takes a slot for a run that the caller is about to enqueue; false when it has to wait for its turn. */
  reserve(name: string): boolean {
    const policy = this.#policyOf.get(name);
    const canStart = this.#accepts && this.#isCaughtUp && !this.#mayHoldMore && this.#free > 0;
    if (!canStart || policy?.handler === undefined || isLimited(policy)) return false;
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
    const before = { ...this.#noted };
    await this.#allEnded(clock.monotonic() + deadline);
    for (const attempt of this.#underWay.values())
      if (!attempt.hasEnded) attempt.abort('stopping', clock.monotonic() + second);
    await this.#allEnded(clock.monotonic() + second);
    const left = [...this.#underWay.values()].filter((attempt) => !attempt.hasEnded);
    for (const attempt of left) this.#giveUp(attempt, { type: 'handed_back' });
    await this.#turn();
    await this.#leave();
    const handedBack = this.#noted.handedBack - before.handedBack;
    return { ended: this.#noted.all - before.all - handedBack, handedBack };
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
      if (Number.isFinite(turn.dueAt)) void clock.sleepUntil(turn.dueAt, over.signal).then(() => resolve());
      const due = [...this.#underWay.values()].map((attempt) => this.#dueOf(attempt));
      const at = Math.min(turn.leaseAt, ...due);
      this.#restsUntil = at;
      if (Number.isFinite(at)) void clock.sleep(at - clock.monotonic(), over.signal).then(() => resolve());
    });
    this.#restsUntil = Number.NEGATIVE_INFINITY;
    this.#wake = undefined;
    over.abort('over');
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
      else this.#giveUp(attempt, attempt.ending(undefined, attempt.wait(this.#context, undefined)));
    }
  }

  #giveUp(attempt: Attempt, end: AttemptEnd): void {
    this.#abandoned.add(attempt);
    this.#note(attempt, end);
  }

  #note(attempt: Attempt, end: AttemptEnd): void {
    attempt.hasEnded = true;
    this.#ends.push({ attempt, end });
    this.#noted.all += 1;
    if (end.type === 'handed_back') this.#noted.handedBack += 1;
    this.#announceEnd();
    this.wake();
  }

  #start({ run, input }: Claimed): void {
    const policy = this.#policyOf.get(run.function);
    if (policy === undefined) return;
    const attempt = new Attempt(run, policy, this.#context.clock.monotonic());
    this.#underWay.set(run.number, attempt);
    if (run.limits?.[0] !== undefined) this.#lastKey.set(run.function, run.limits[0]);
    this.#setAlarm(this.#dueOf(attempt));
    const tools = { finished: () => this.#finishedSteps(run), keep: this.#keepStep(attempt) };
    void attempt.perform(this.#context, input, tools).then((end) => {
      if (this.#abandoned.delete(attempt)) this.wake();
      else if (!attempt.hasEnded) this.#note(attempt, end);
    });
  }

  async #finishedSteps({ number }: StoredRun): Promise<Map<string, Json | undefined>> {
    const read = await this.#context.storage.read((view) => view.list(steps, { prefix: [number] }));
    if (read.isErr()) throw new Error(`the steps of the run cannot be read: ${read.error.message}`);
    return new Map(read.value.map(({ record: { name, value } }) => [name, value]));
  }

  #keepStep(attempt: Attempt): (name: string, value: Json | undefined) => Promise<void> {
    return async (name, value) => {
      const written = await commit(this.#context, hostPrincipal, (tx): Result<boolean, never> => {
        const isOurs = this.#isOurs(tx, attempt);
        if (isOurs) tx.put(steps, { run: attempt.run.number, name, ...(value === undefined ? {} : { value }) });
        return ok(isOurs);
      });
      if (written.isErr()) throw new Error(`the step '${name}' cannot be stored: ${written.error.message}`);
      if (written.value.value) return;
      attempt.abort('lost', Number.POSITIVE_INFINITY);
      throw new Error(`the step '${name}' is not stored: another process has the run`);
    };
  }

  #isOurs(view: ReadView, { run }: Attempt): boolean {
    const stored = view.get(runs, [run.number])?.record;
    return stored?.holder === this.process && stored.starts === run.starts;
  }

  /** One write; undefined when the store failed, after which the same ends are recorded again. */
  async #turn(): Promise<(Turn & { readonly index: number }) | undefined> {
    const adopts = this.#mayHoldMore && this.#reserved === 0;
    const free = this.#accepts ? Math.max(0, this.#free) : 0;
    const ends = this.#ends;
    this.#ends = [];
    this.#claimedBy.clear();
    for (const { attempt } of ends) this.#underWay.delete(attempt.run.number);
    this.#reserved += free;
    const written = await commit<Turn, never>(this.#context, hostPrincipal, (tx) =>
      ok(this.#work(tx, ends, free, adopts)),
    ).then(
      (result) => result,
      // A row that cannot be worked with must not end the process.
      (thrown: unknown) => err({ message: thrown instanceof Error ? thrown.message : 'unknown' }),
    );
    this.#reserved -= free;
    this.#announceEnd();
    if (written.isErr()) {
      this.#ends = [...ends, ...this.#ends];
      for (const { attempt } of ends) this.#underWay.set(attempt.run.number, attempt);
      this.#mayHoldMore = true;
      this.#isCaughtUp = false;
      this.#context.logger.error({ error: written.error.message }, 'Runs of functions cannot be recorded');
      return undefined;
    }
    if (adopts) this.#mayHoldMore = false;
    this.#follow(written.value.value, free);
    return { ...written.value.value, index: written.value.index };
  }

  /** What a turn has decided happens once it is durable. */
  #follow(turn: Turn, free: number): void {
    const now = this.#context.clock.monotonic();
    if (turn.hasCollected) this.#collectedAt = now;
    this.#heldUntil = turn.heldUntil ?? this.#heldUntil;
    for (const attempt of turn.lost) attempt.abort('lost', Number.POSITIVE_INFINITY);
    for (const { number, cancelling } of turn.cancelling)
      this.#underWay.get(number)?.abort('cancelled', now + grace, cancelling);
    for (const claimed of turn.claimed) this.#start(claimed);
    this.#isCaughtUp = turn.claimed.length < free && !turn.isPartial;
    for (const run of turn.ended) this.#onEnded(run.number, run);
    for (const number of turn.taken) this.#onEnded(number, undefined);
  }

  #work(tx: Transaction, ends: readonly Ended[], free: number, adopts: boolean): Turn {
    const turn: Turn = {
      claimed: [],
      ended: [],
      cancelling: [],
      lost: [],
      taken: [],
      isPartial: false,
      hasCollected: false,
      dueAt: Number.POSITIVE_INFINITY,
      leaseAt: Number.POSITIVE_INFINITY,
      heldUntil: undefined,
    };
    for (const { attempt, end } of ends) this.#record(tx, turn, attempt, end);
    this.#takeOver(tx, turn);
    this.#letTimePass(tx, turn);
    this.#launch(tx, turn);
    const going = [...this.#underWay.values()].filter((attempt) => !attempt.hasEnded);
    if (adopts) this.#adopt(tx, turn, ends);
    this.#claim(tx, turn, free, going);
    if (going.length + turn.claimed.length > 0) {
      const until = this.#keepLease(tx);
      // Whoever renewed it, this turn or an enqueue: it may have ended before.
      if (until !== this.#heldUntil) turn.lost.push(...going.filter((attempt) => !this.#isOurs(tx, attempt)));
      turn.heldUntil = until;
      turn.leaseAt = Math.min(turn.leaseAt, until - this.#leaseRenewal);
      const asked = tx.list(runs, { index: 'cancelling', prefix: [this.process] });
      turn.cancelling.push(...asked.map(({ record }) => record));
    }
    this.#count(tx, turn);
    return turn;
  }

  /** An outcome counts for the start that is stored: of a run that was taken away, nothing is recorded. */
  #record(tx: Transaction, turn: Turn, attempt: Attempt, end: AttemptEnd): void {
    const stored = tx.get(runs, [attempt.run.number])?.record;
    if (stored?.holder === this.process && stored.starts === attempt.run.starts)
      this.#put(tx, turn, afterAttempt(stored, end, tx.now));
    else turn.taken.push(attempt.run.number);
  }

  #put(tx: Transaction, turn: Turn, run: StoredRun): void {
    const kept = resultApart(tx, run);
    tx.put(runs, kept);
    if (hasEnded(kept)) turn.ended.push(kept);
  }

  /** Runs of processes that have died. */
  #takeOver(tx: Transaction, turn: Turn): void {
    for (const { record: other } of tx.list(processes)) {
      if (other.id === this.process) continue;
      const until = this.#leaseEnd(tx, other);
      if (until > tx.monotonic) {
        turn.leaseAt = Math.min(turn.leaseAt, until);
        continue;
      }
      const left = tx.list(runs, { index: 'live', prefix: [other.id], limit: batchSize });
      for (const { record } of left) this.#put(tx, turn, afterAttempt(record, { type: 'interrupted' }, tx.now));
      if (left.length === batchSize) turn.isPartial = true;
      else {
        tx.remove(processes, [other.id]);
        this.#foreign.delete(other.id);
      }
    }
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
    const leaseUntil = tx.monotonic + this.#leaseTime;
    tx.put(processes, { id: this.process, timeline: tx.timeline, leaseUntil });
    return leaseUntil;
  }

  #letTimePass(tx: Transaction, turn: Turn): void {
    const expired = tx.list(runs, { index: 'expiring', to: [tx.now + 1], limit: batchSize });
    for (const { record } of expired) {
      const over = cancelled(record, 'expired', tx.now);
      if (over !== undefined) this.#put(tx, turn, { ...over, error: cancellation('expired') });
    }
    const due = tx.list(runs, { index: 'due', to: [tx.now + 1], limit: batchSize });
    for (const { record } of due) tx.put(runs, { ...record, state: 'queued' });
    if (expired.length === batchSize || due.length === batchSize) turn.isPartial = true;
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
        if (schedule.dueAt <= tx.now && (schedule.version ?? 0) <= policy.version) launchDue(tx, policy, schedule);
      }
      const next = tx.list(schedules, { index: 'due', prefix: [policy.name], limit: 1 })[0]?.record.dueAt;
      if (next !== undefined && next > tx.now) turn.dueAt = Math.min(turn.dueAt, next);
    }
  }

  #claim(tx: Transaction, turn: Turn, free: number, going: readonly Attempt[]): void {
    const room = free - turn.claimed.length;
    if (room <= 0) return;
    const active = this.#active(tx);
    const suspects = this.#suspects(tx, active, going);
    const ready = this.#first(tx, active, 'ready', room);
    const admission = active.some(isLimited) ? this.#admission(tx) : undefined;
    const begin = (candidates: readonly StoredRun[], most: number): void => {
      for (const run of candidates) {
        if (turn.claimed.length >= most) break;
        const policy = this.#policyOf.get(run.function);
        if (policy !== undefined) this.#begin(tx, turn, run, isLimited(policy) ? { policy, admission } : undefined);
      }
    };
    begin(suspects, turn.claimed.length + 1);
    begin(ready, free);
    for (const state of admission?.changedRates ?? []) tx.put(rateStates, state);
    turn.dueAt = Math.min(turn.dueAt, admission?.until ?? Number.POSITIVE_INFINITY);
  }

  /** Runs that their process may have died of, the first of each function: one of them runs beside no other. */
  #suspects(tx: Transaction, active: readonly FunctionPolicy[], going: readonly Attempt[]): readonly StoredRun[] {
    return going.some(({ run }) => run.interruptions > 0) ? [] : this.#first(tx, active, 'suspects', 1);
  }

  /** The functions that are not paused. */
  #active(view: ReadView): readonly FunctionPolicy[] {
    const paused = new Set(view.list(pauses).map(({ record }) => record.function));
    return paused.size === 0 ? this.#policies : this.#policies.filter(({ name }) => !paused.has(name));
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
  #first(
    tx: Transaction,
    policies: readonly FunctionPolicy[],
    index: 'ready' | 'suspects',
    limit: number,
  ): readonly StoredRun[] {
    const found = policies.flatMap((policy) => {
      const mayTake = ({ version, number }: StoredRun): boolean =>
        version <= policy.version && !this.#underWay.has(number);
      if (hasKeys(policy)) return this.#ofKeys(tx, policy, index, limit).filter(mayTake);
      // Runs of a later version of the code stand among the others.
      for (let most = limit; ; most *= 4) {
        const rows = tx.list(runs, { index, prefix: [policy.name], limit: most }).map(({ record }) => record);
        const mine = rows.filter(mayTake);
        if (mine.length >= limit || rows.length < most) return mine.slice(0, limit);
      }
    });
    if (policies.length > 1) found.sort((a, b) => b.priority - a.priority || a.dueAt - b.dueAt || a.number - b.number);
    return found;
  }

  /** The first run of each key, beginning with the key after the last one that was looked at. */
  #ofKeys(tx: Transaction, { name }: FunctionPolicy, index: 'ready' | 'suspects', limit: number): StoredRun[] {
    const found: StoredRun[] = [];
    const began = this.#lastKey.get(name) ?? '';
    let hasWrapped = false;
    let after: Key = [name, began, 101];
    // Keys that are at their limit or rate are passed over, so more are looked at than there is room for.
    while (found.length < limit + batchSize) {
      const [row] = tx.list(runs, { index, prefix: [name], from: after, limit: 1 });
      const key = row?.record.limits?.[0] ?? '';
      if (row === undefined || (hasWrapped && key > began)) {
        if (hasWrapped) break;
        hasWrapped = true;
        after = [name];
        continue;
      }
      found.push(row.record);
      after = [name, key, 101];
      if (hasWrapped && key === began) break;
    }
    return found;
  }

  /** Counts what has ended, and removes what is kept no longer. */
  #count(tx: Transaction, turn: Turn): void {
    const touched = new Map<string, EndedCounts>();
    for (const run of turn.ended)
      touched.set(run.function, counted(touched.get(run.function) ?? endedCountsOf(tx, run.function), run, 1));
    const collects = touched.size > 0 && tx.monotonic - this.#collectedAt >= minute;
    for (const [name, counts] of touched) {
      const policy = collects ? this.#policyOf.get(name) : undefined;
      const left = policy === undefined ? { counts, isPartial: false } : collect(tx, policy, counts);
      if (left.isPartial) turn.isPartial = true;
      tx.put(functionCounts, { function: name, ...left.counts });
    }
    turn.hasCollected = collects && !turn.isPartial;
  }
}
