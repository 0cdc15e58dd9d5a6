import { Admission, hasKeys, isLimited, Pauses } from '../../functions/admission.js';
import { schedules } from '../../functions/declaration.js';
import type { FunctionPolicy } from '../../functions/define-function.js';
import {
  afterAttempt,
  type Counts,
  cancellation,
  cancelled,
  comeDue,
  counted,
  functionCounts,
  hasEnded,
  type Notes,
  pauses,
  queueName,
  runs,
  type StoredRun,
  setBack,
  started,
} from '../../functions/run.js';
import type { ReadView } from '../../ports/storage.js';
import { processes } from '../../queue/process.js';
import { storedRates } from '../../queue/token-bucket.js';
import { type Milliseconds, minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { Transaction } from '../commit.js';
import type { Ended, KnownItems, TurnWork } from '../queue/work-loop.js';
import { type Attempt, type NotedEnd, ownRun } from './attempt.js';
import { type LateFunction, type LateRuns, noteLaunch } from './late-runs.js';
import { closeKeys, hasItsKeys, launchDue } from './launches.js';
import type { MissingFunctions } from './missing-functions.js';
import { afterEnd } from './run-ends.js';
import { RunReports } from './run-reports.js';
import { batchSize, collect, countsIn, inputOf, putLines, releaseNext, resultApart } from './stored-runs.js';

/** What an attempt has reported, to be stored. */
export interface Noted {
  readonly attempt: Attempt;
  readonly notes: Notes;
}

/** An attempt whose called runs have ended: it continues when it has a slot. */
export interface Resuming {
  readonly attempt: Attempt;
  readonly goOn: () => void;
}

/** What a turn's write is made from. Nothing of it changes while it is written. */
export interface TurnPlan {
  readonly process: string;
  readonly policies: ReadonlyMap<string, FunctionPolicy>;
  /** Those that this process runs. */
  readonly active: readonly FunctionPolicy[];
  readonly ends: readonly Ended<Attempt, NotedEnd>[];
  readonly noted: readonly Noted[];
  readonly resuming: readonly Resuming[];
  /** Attempts under way here, and those whose outcomes are being recorded by another write. */
  readonly underWay: readonly Attempt[];
  /** Slots. */
  readonly free: number;
  /** The key of each function whose turn was last. */
  readonly lastKey: ReadonlyMap<string, string>;
  /** How far the wall clock was ahead of the monotonic one in the last turn. */
  readonly ahead: Milliseconds;
  readonly collectedAt: Milliseconds;
  /** The lease under which the attempts under way were checked last. */
  readonly heldUntil: Milliseconds | undefined;
  readonly lateRuns: LateRuns;
  readonly missing: MissingFunctions;
  keepLease(tx: Transaction): Milliseconds;
  newAttempt(run: StoredRun, input: ReturnType<typeof inputOf>): Attempt | undefined;
}

/** Which runs may start. */
interface Search {
  readonly index: 'ready' | 'suspects';
  readonly limit: number;
  readonly paused: Pauses;
  readonly admission: Admission | undefined;
}

/** One write of the loop, see `WorkLoop`: what it has found and done. */
export class RunTurn implements TurnWork<Attempt> {
  readonly claimed: Attempt[] = [];
  readonly ended: StoredRun[] = [];
  /** Runs under way here that are to be cancelled. */
  readonly cancelling: StoredRun[] = [];
  /** Attempts under way here whose runs another process has taken. */
  readonly lost: Attempt[] = [];
  /** Runs that ended here after another process had taken them. */
  readonly taken: number[] = [];
  /** Attempts that have a slot again. */
  readonly resumed: Resuming[] = [];
  /** Functions that have become late. */
  readonly late: LateFunction[] = [];
  /** Functions whose workspace does not exist. */
  unheard: ReadonlyMap<string, string> = new Map();
  isPartial = false;
  readonly isBusy = false;
  /** When what is kept no longer was removed last, without leaving any. */
  collectedAt: Milliseconds;
  readonly nextAt = Number.POSITIVE_INFINITY;
  dueAt: Instant = Number.POSITIVE_INFINITY;
  ahead: Milliseconds;
  /** The lease under which the attempts under way were checked last. */
  heldUntil: Milliseconds | undefined;
  readonly #tx: Transaction;
  readonly #plan: TurnPlan;
  readonly #known = new Set<number>();
  /** Attempts whose handlers are under way here. */
  readonly #going: readonly Attempt[];

  constructor(tx: Transaction, plan: TurnPlan) {
    this.#tx = tx;
    this.#plan = plan;
    this.ahead = tx.now - tx.monotonic;
    this.collectedAt = plan.collectedAt;
    this.heldUntil = plan.heldUntil;
    this.#going = plan.underWay.filter(({ hasEnded }) => !hasEnded);
    for (const { run } of plan.underWay) this.#known.add(run.number);
  }

  work(known: KnownItems): this {
    const { ends, noted } = this.#plan;
    for (const { item, end } of ends) this.record(item, end);
    for (const each of noted) this.#putNotes(each);
    if (known !== undefined) this.#adopt(known);
    const adopted = this.claimed.length;
    this.#letTimePass();
    this.#launch();
    if (closeKeys(this.#tx, this.#plan.active)) this.isPartial = true;
    this.#claim();
    this.#report(adopted);
    if (this.#going.length + this.claimed.length > 0) this.#hold();
    this.count();
    return this;
  }

  /** An outcome counts for the start that is stored: of a run that was taken away, nothing is recorded. */
  record(attempt: Attempt, { end, notes }: NotedEnd): void {
    const stored = ownRun(this.#tx, attempt);
    if (stored === undefined) {
      this.taken.push(attempt.run.number);
      return;
    }
    putLines(this.#tx, stored, notes.lines);
    this.#put(afterAttempt(withNotes(stored, notes), end, this.#tx.now));
  }

  /** Runs that a dead process has left; how many there are, up to one batch. */
  takeOver(process: string): number {
    const left = this.#tx.list(runs, { index: 'live', prefix: [process], limit: batchSize });
    for (const { record } of left) this.#takeOver(record);
    return left.length;
  }

  #takeOver(run: StoredRun): void {
    // One that only waited is not to blame.
    const type = run.state === 'waiting' ? 'handed_back' : 'interrupted';
    this.#put(afterAttempt(run, { type }, this.#tx.now));
  }

  /** Counts what has ended, and removes what is kept no longer. */
  count(): void {
    const { policies, collectedAt } = this.#plan;
    const tx = this.#tx;
    const touched = new Map<string, Counts>();
    for (const run of this.ended) {
      const counts = touched.get(run.function) ?? countsIn(tx, run.function);
      touched.set(run.function, counted({ ...counts, unfinished: counts.unfinished - 1 }, run, 1));
    }
    const collects = touched.size > 0 && tx.monotonic - collectedAt >= minute;
    let isPartial = false;
    for (const [name, counts] of touched) {
      const policy = collects ? policies.get(name) : undefined;
      const left = policy === undefined ? { counts, isPartial: false } : collect(tx, policy, counts);
      isPartial ||= left.isPartial;
      tx.put(functionCounts, { function: name, ...left.counts });
    }
    for (const run of this.ended) if (afterEnd(tx, run, policies)) this.isPartial = true;
    if (isPartial) this.isPartial = true;
    else if (collects) this.collectedAt = tx.monotonic;
  }

  #putNotes({ attempt, notes }: Noted): void {
    const stored = ownRun(this.#tx, attempt);
    if (stored === undefined) return;
    putLines(this.#tx, stored, notes.lines);
    const noted = withNotes(stored, notes);
    if (noted !== stored) this.#tx.put(runs, noted);
  }

  #put(run: StoredRun): void {
    const kept = resultApart(this.#tx, run);
    this.#tx.put(runs, kept);
    if (!hasEnded(kept)) return;
    this.ended.push(kept);
    releaseNext(this.#tx, kept);
  }

  /** Runs that a failed write has claimed all the same: they begin now. And those of processes that are not known any more. */
  #adopt(known: NonNullable<KnownItems>): void {
    const { process } = this.#plan;
    const holders = new Set(this.#tx.list(processes, { prefix: [queueName] }).map(({ record }) => record.id));
    for (const { record } of this.#tx.list(runs, { index: 'live' })) {
      if (record.holder !== process) {
        if (!holders.has(record.holder ?? '')) this.#takeOver(record);
      } else if (!known.has(record.number)) this.#start(record);
    }
  }

  #start(run: StoredRun): void {
    const attempt = this.#plan.newAttempt(run, inputOf(this.#tx, run));
    if (attempt !== undefined) this.claimed.push(attempt);
  }

  #letTimePass(): void {
    const tx = this.#tx;
    const expired = tx.list(runs, { index: 'expiring', to: [tx.now + 1], limit: batchSize });
    for (const { record } of expired) {
      const over = cancelled(record, 'expired', tx.now);
      if (over !== undefined) this.#put({ ...over, error: cancellation('expired') });
    }
    // A wait that began later than now: the clock was set back.
    const early = tx.list(runs, { index: 'waits', from: [tx.now + 1], limit: batchSize });
    for (const { record } of early) tx.put(runs, setBack(record, tx.now, this.#plan.ahead - this.ahead));
    if (early.length === batchSize) this.ahead = this.#plan.ahead;
    const over = tx.list(runs, { index: 'due', to: [tx.now + 1], limit: batchSize });
    for (const { record } of over) tx.put(runs, comeDue(record));
    if ([expired, early, over].some(({ length }) => length === batchSize)) this.isPartial = true;
    this.#nextDue(tx.list(runs, { index: 'expiring', limit: 1 })[0]?.record.expiresAt);
    this.#nextDue(tx.list(runs, { index: 'due', limit: 1 })[0]?.record.dueAt);
  }

  #nextDue(at: Instant | undefined): void {
    if (at !== undefined && at < this.dueAt) this.dueAt = at;
  }

  /** Runs of schedules that are due, in the write that moves the schedule on: a launch is made once. */
  #launch(): void {
    const tx = this.#tx;
    for (const policy of this.#plan.active) {
      const due = tx.list(schedules, { index: 'due', prefix: [policy.name], limit: batchSize });
      for (const { record: schedule } of due) {
        if (schedule.dueAt > tx.now || (schedule.version ?? 0) > policy.version) continue;
        noteLaunch(tx, schedule, this.late);
        launchDue(tx, policy, schedule);
      }
      const next = tx.list(schedules, { index: 'due', prefix: [policy.name], limit: 1 })[0]?.record.dueAt;
      if (next !== undefined && next > tx.now) this.#nextDue(next);
    }
  }

  #claim(): void {
    const { free, active, policies } = this.#plan;
    if (free <= this.claimed.length) return;
    const tx = this.#tx;
    const admission = active.some(isLimited) ? this.#admission() : undefined;
    this.#resume(free - this.claimed.length, admission);
    const room = free - this.claimed.length - this.resumed.length;
    if (room <= 0) return;
    const paused = new Pauses(tx.list(pauses).map(({ record }) => record));
    const search = { paused, admission };
    const hasSuspect = this.#going.some(({ run, isWaiting }) => run.interruptions > 0 && !isWaiting);
    // Runs that their process may have died of, the first of each function: one of them runs beside no other.
    const suspects = hasSuspect ? [] : this.#first({ ...search, index: 'suspects', limit: 1 });
    const ready = this.#first({ ...search, index: 'ready', limit: room });
    const begin = (candidates: readonly StoredRun[], most: number): void => {
      for (const run of candidates) {
        if (this.claimed.length >= most) break;
        const policy = policies.get(run.function);
        if (policy !== undefined) this.#begin(run, policy, admission);
      }
    };
    begin(suspects, this.claimed.length + 1);
    begin(ready, free - this.resumed.length);
    for (const [key, { tokens, at }] of admission?.changedRates ?? []) tx.put(storedRates, { key, tokens, at });
    this.#nextDue(admission?.until);
  }

  /** Attempts whose calls have ended continue before anything new starts. */
  #resume(room: number, admission: Admission | undefined): void {
    for (const each of this.#plan.resuming) {
      if (this.resumed.length >= room) break;
      const { attempt } = each;
      const stored = attempt.cause === undefined ? ownRun(this.#tx, attempt) : undefined;
      if (stored === undefined || admission?.readmits(attempt.policy, stored) === false) continue;
      this.#tx.put(runs, { ...stored, state: 'running' });
      this.resumed.push(each);
    }
  }

  #begin(run: StoredRun, policy: FunctionPolicy, admission: Admission | undefined): void {
    const isCounted = isLimited(policy);
    if (isCounted && admission?.admits(policy, run) !== true) return;
    const begun = started(run, this.#plan.process, this.#tx.now);
    this.#tx.put(runs, begun);
    this.#start(begun);
    // The same key, or the next one, may have more.
    if (isCounted) this.isPartial = true;
  }

  #admission(): Admission {
    const tx = this.#tx;
    const live = tx.list(runs, { index: 'live' }).map(({ record }) => record);
    const stored = (key: string) => tx.get(storedRates, [key])?.record;
    return new Admission(live, (name) => this.#plan.policies.get(name), stored, tx.now);
  }

  /** The first runs by priority, due time and number that the code of this process may take. */
  #first(search: Search): readonly StoredRun[] {
    const { index, limit, paused, admission } = search;
    const active = this.#plan.active.filter(({ name }) => !paused.has(name));
    const found = active.flatMap((policy) => {
      const mayTake = (run: StoredRun): boolean =>
        run.version <= policy.version &&
        !this.#known.has(run.number) &&
        paused.keyOf(run) === undefined &&
        hasItsKeys(run, policy);
      if (isLimited(policy) && admission?.isClosed(policy) === true) return [];
      if (hasKeys(policy)) return this.#ofKeys(policy, search, mayTake);
      return firstOf(this.#tx, index, [policy.name], { limit, mayTake });
    });
    if (active.length > 1) found.sort((a, b) => b.priority - a.priority || a.dueAt - b.dueAt || a.number - b.number);
    return found;
  }

  /**
   * The first run of each key, beginning with the key after the last one that had a turn. Keys at their limit or rate, and paused
   * ones, are passed over.
   */
  #ofKeys(policy: FunctionPolicy, search: Search, mayTake: (run: StoredRun) => boolean): StoredRun[] {
    const { name } = policy;
    const found: StoredRun[] = [];
    const began = this.#plan.lastKey.get(name) ?? '';
    const { index, limit } = search;
    // Up to the last key, and then from the first one to where it began.
    for (const hasWrapped of [false, true]) {
      let after: Key = hasWrapped ? [name] : [name, began, 101];
      while (found.length < limit) {
        const [row] = this.#tx.list(runs, { index, prefix: [name], from: after, limit: 1 });
        const key = row?.record.limits?.[0] ?? '';
        if (row === undefined || (hasWrapped && key > began)) break;
        after = [name, key, 101];
        const first = firstOfKey(this.#tx, policy, row.record, { ...search, mayTake });
        if (first !== undefined) found.push(first);
      }
    }
    return found;
  }

  /** What workspaces are notified of is written with what it is about. */
  #report(adopted: number): void {
    const reports = RunReports.in(this.#tx);
    for (const run of this.ended) reports.ended(run);
    for (const [at, { run }] of this.claimed.entries()) {
      if (at < adopted) reports.resumed(run);
      else reports.started(run);
    }
    this.#nextDue(reports.wait());
    const isBusy = this.claimed.length > 0 && this.claimed.length + this.resumed.length >= this.#plan.free;
    this.#nextDue(this.#plan.lateRuns.check(this.#tx, this.late, isBusy));
    this.#nextDue(this.#plan.missing.check(this.#tx));
    this.unheard = reports.unheard;
  }

  /** What is under way here stays that of this process. */
  #hold(): void {
    const tx = this.#tx;
    const { process, heldUntil, keepLease } = this.#plan;
    this.heldUntil = keepLease(tx);
    // Whoever renewed it, this turn or an enqueue: it may have ended before.
    if (this.heldUntil !== heldUntil)
      this.lost.push(...this.#going.filter((attempt) => ownRun(tx, attempt) === undefined));
    const asked = tx.list(runs, { index: 'cancelling', prefix: [process] });
    this.cancelling.push(...asked.map(({ record }) => record));
  }
}

function withNotes(run: StoredRun, { progress, lines }: Notes): StoredRun {
  if (progress === undefined && (lines.length === 0 || run.hasLog === true)) return run;
  return { ...run, ...(progress === undefined ? {} : { progress }), ...(lines.length === 0 ? {} : { hasLog: true }) };
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
