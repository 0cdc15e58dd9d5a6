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
import type { ReadView, Row } from '../../ports/storage.js';
import { storedRates } from '../../queue/limits.js';
import { processes } from '../../queue/process.js';
import { type Milliseconds, minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { Ended, KnownItems, TurnWork } from '../queue/work-loop.js';
import type { Transaction } from '../write-transaction.js';
import { type Attempt, type NotedEnd, ownRun } from './attempt.js';
import { type LateFunction, type LateRuns, noteLaunch } from './late-runs.js';
import { closeKeys, hasItsKeys, launchDue } from './launches.js';
import type { MissingFunctions } from './missing-functions.js';
import { afterEnds } from './run-ends.js';
import { RunReports } from './run-reports.js';
import { batchSize, collect, countsIn, inputOf, putLines, releaseNext, resultApart } from './stored-runs.js';
import type { UnderWay } from './under-way.js';

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

/** The process of a turn. */
export interface TurnHost {
  readonly process: string;
  readonly policies: ReadonlyMap<string, FunctionPolicy>;
  /** Those that this process runs. */
  readonly active: readonly FunctionPolicy[];
  /** The key of each function whose turn was last. */
  readonly lastKey: ReadonlyMap<string, string>;
  /** What is under way, if a function of this process has limits or rates. */
  readonly live: UnderWay | undefined;
  readonly lateRuns: LateRuns;
  readonly missing: MissingFunctions;
  keepLease(tx: Transaction): Milliseconds;
  newAttempt(run: StoredRun, input: ReturnType<typeof inputOf>): Attempt | undefined;
}

/** What a turn's write is made from. Nothing of it changes while it is written. */
export interface TurnPlan {
  readonly host: TurnHost;
  readonly ends: readonly Ended<Attempt, NotedEnd>[];
  readonly noted: readonly Noted[];
  readonly resuming: readonly Resuming[];
  /** Attempts under way here, and those whose outcomes are being recorded by another write. */
  readonly underWay: readonly Attempt[];
  /** Slots. */
  readonly free: number;
  /** How far the wall clock was ahead of the monotonic one in the last turn. */
  readonly ahead: Milliseconds;
  readonly collectedAt: Milliseconds;
  /** The lease under which the attempts under way were checked last. */
  readonly heldUntil: Milliseconds | undefined;
}

/** Which runs may start. */
interface Search {
  readonly index: 'ready' | 'suspects';
  readonly limit: number;
  readonly paused: Pauses;
  readonly admission: Admission | undefined;
}

/** The most rows of keys that take turns that are read at once. */
const mostOfKeys = 128;

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
  readonly #host: TurnHost;
  readonly #known = new Set<number>();
  /** The keys that have had a turn in this write, by function. */
  readonly #lastKey = new Map<string, string>();
  /** Attempts whose handlers are under way here. */
  readonly #going: readonly Attempt[];

  constructor(tx: Transaction, plan: TurnPlan) {
    this.#tx = tx;
    this.#plan = plan;
    this.#host = plan.host;
    this.ahead = tx.now - tx.monotonic;
    this.collectedAt = plan.collectedAt;
    this.heldUntil = plan.heldUntil;
    this.#going = plan.underWay.filter(({ hasEnded }) => !hasEnded);
    for (const { run } of plan.underWay) this.#known.add(run.number);
  }

  work(known: KnownItems): this {
    const { ends, noted } = this.#plan;
    // Before anything is changed: lists of a table with changes cost more.
    this.#letTimePass();
    const mayBeCancelled = this.#tx.list(runs, { index: 'cancelling', limit: 1 }).length > 0;
    for (const { item, end } of ends) this.record(item, end);
    for (const each of noted) this.#putNotes(each);
    if (known !== undefined) this.#adopt(known);
    const adopted = this.claimed.length;
    this.#launch();
    if (closeKeys(this.#tx, this.#host.active)) this.isPartial = true;
    this.#claim();
    this.#report(adopted);
    if (this.#going.length + this.claimed.length > 0) this.#hold(mayBeCancelled);
    this.count();
    this.#host.live?.counted(this.#tx, this.isCaughtUp);
    return this;
  }

  /** Whether no run is left that could start here. */
  get isCaughtUp(): boolean {
    return this.claimed.length + this.resumed.length < this.#plan.free && !this.isPartial;
  }

  /** An outcome counts for the start that is stored: of a run that was taken away, nothing is recorded. */
  record(attempt: Attempt, { end, notes }: NotedEnd): void {
    const stored = ownRun(this.#tx, attempt);
    if (stored === undefined) {
      this.taken.push(attempt.run.number);
      return;
    }
    putLines(this.#tx, stored, notes.lines);
    this.#put(afterAttempt(withNotes(stored, notes), end, this.#tx.now), stored);
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
    this.#put(afterAttempt(run, { type }, this.#tx.now), run);
  }

  /** Counts what has ended, and removes what is kept no longer. */
  count(): void {
    const { policies } = this.#host;
    const { collectedAt } = this.#plan;
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
    if (afterEnds(tx, this.ended, policies)) this.isPartial = true;
    if (isPartial) this.isPartial = true;
    else if (collects) this.collectedAt = tx.monotonic;
  }

  #putNotes({ attempt, notes }: Noted): void {
    const stored = ownRun(this.#tx, attempt);
    if (stored === undefined) return;
    putLines(this.#tx, stored, notes.lines);
    const noted = withNotes(stored, notes);
    if (noted !== stored) this.#store(noted, stored);
  }

  /** Stores a run that has changed. */
  #store(run: StoredRun, before: StoredRun): void {
    this.#host.live?.change(this.#tx, before, run);
    this.#tx.put(runs, run);
  }

  #put(run: StoredRun, before: StoredRun): void {
    const kept = resultApart(this.#tx, run);
    this.#store(kept, before);
    if (kept.state === 'scheduled') this.#nextDue(kept.dueAt);
    if (!hasEnded(kept)) return;
    this.ended.push(kept);
    releaseNext(this.#tx, kept);
  }

  /** Runs that a failed write has claimed all the same: they begin now. And those of processes that are not known any more. */
  #adopt(known: NonNullable<KnownItems>): void {
    const { process } = this.#host;
    const holders = new Set(this.#tx.list(processes, { prefix: [queueName] }).map(({ record }) => record.id));
    for (const { record } of this.#tx.list(runs, { index: 'live' })) {
      if (record.holder !== process) {
        if (!holders.has(record.holder ?? '')) this.#takeOver(record);
      } else if (!known.has(record.number)) this.#start(record);
    }
  }

  #start(run: StoredRun): void {
    const attempt = this.#host.newAttempt(run, inputOf(this.#tx, run));
    if (attempt !== undefined) this.claimed.push(attempt);
  }

  #letTimePass(): void {
    const tx = this.#tx;
    const expired = this.#passed('expiring', ({ expiresAt }) => expiresAt);
    for (const record of expired) {
      const over = cancelled(record, 'expired', tx.now);
      if (over !== undefined) this.#put({ ...over, error: cancellation('expired') }, record);
    }
    // A wait that began later than now: the clock was set back.
    const early = tx.list(runs, { index: 'waits', from: [tx.now + 1], limit: batchSize });
    for (const { record } of early) tx.put(runs, setBack(record, tx.now, this.#plan.ahead - this.ahead));
    if (early.length === batchSize) this.ahead = this.#plan.ahead;
    const over = this.#passed('due', ({ dueAt }) => dueAt);
    for (const record of over) tx.put(runs, comeDue(record));
    if ([expired, early, over].some(({ length }) => length === batchSize)) this.isPartial = true;
  }

  /** The runs of an index of times whose time has come, up to one batch; notes when the next one's does. */
  #passed(index: 'expiring' | 'due', timeOf: (run: StoredRun) => Instant | undefined): readonly StoredRun[] {
    const { now } = this.#tx;
    const isOpen = (run: StoredRun): boolean => (timeOf(run) ?? 0) >= now + 1;
    const read = (limit: number): StoredRun[] => this.#tx.list(runs, { index, limit }).map(({ record }) => record);
    // Most of the time none is due.
    const first = read(1);
    const found = first.some(isOpen) || first.length === 0 ? first : read(batchSize + 1);
    const next = found.find(isOpen);
    if (next !== undefined) this.#nextDue(timeOf(next));
    return found.filter((run) => !isOpen(run)).slice(0, batchSize);
  }

  #nextDue(at: Instant | undefined): void {
    if (at !== undefined && at < this.dueAt) this.dueAt = at;
  }

  /** Runs of schedules that are due, in the write that moves the schedule on: a launch is made once. */
  #launch(): void {
    const tx = this.#tx;
    // A table that was never written has no rows.
    if (tx.tableIndex(schedules) <= 1) return;
    for (const policy of this.#host.active) {
      const ofFunction = { index: 'due', prefix: [policy.name] };
      const next = (): Instant | undefined => tx.list(schedules, { ...ofFunction, limit: 1 })[0]?.record.dueAt;
      let dueAt = next();
      if (dueAt !== undefined && dueAt <= tx.now) {
        for (const { record: schedule } of tx.list(schedules, { ...ofFunction, limit: batchSize })) {
          if (schedule.dueAt > tx.now || (schedule.version ?? 0) > policy.version) continue;
          noteLaunch(tx, schedule, this.late);
          launchDue(tx, policy, schedule);
        }
        dueAt = next();
      }
      if (dueAt !== undefined && dueAt > tx.now) this.#nextDue(dueAt);
    }
  }

  #claim(): void {
    const { live } = this.#host;
    if (this.#room <= 0) return;
    const tx = this.#tx;
    const stored = (key: string) => tx.get(storedRates, [key])?.record;
    const admission = live === undefined ? undefined : new Admission(live.in(tx), stored, tx.now);
    this.#resume(admission);
    if (this.#room <= 0) return;
    const search = { paused: pausesIn(tx), admission };
    const hasSuspect = this.#going.some(({ run, isWaiting }) => run.interruptions > 0 && !isWaiting);
    // Runs that their process may have died of, the first of each function: one of them runs beside no other.
    if (!hasSuspect) this.#begin(this.#first({ ...search, index: 'suspects', limit: 1 }), admission, 1);
    // The first of each key, and again as long as one of their keys, or the next key, may have more.
    while (this.#begin(this.#first({ ...search, index: 'ready', limit: this.#room }), admission));
    for (const [key, { tokens, at }] of admission?.changedRates ?? []) tx.put(storedRates, { key, tokens, at });
    this.#nextDue(admission?.until);
  }

  /** Slots that are left. */
  get #room(): number {
    return this.#plan.free - this.claimed.length - this.resumed.length;
  }

  /** Attempts whose calls have ended continue before anything new starts. */
  #resume(admission: Admission | undefined): void {
    for (const each of this.#plan.resuming) {
      if (this.#room <= 0) break;
      const { attempt } = each;
      const stored = attempt.cause === undefined ? ownRun(this.#tx, attempt) : undefined;
      if (stored === undefined || admission?.isFull(attempt.policy, stored) === true) continue;
      this.#store({ ...stored, state: 'running' }, stored);
      this.resumed.push(each);
    }
  }

  /** Begins those that limits and rates admit, one after the other; whether others may begin after that. */
  #begin(candidates: readonly StoredRun[], admission: Admission | undefined, most = this.#room): boolean {
    const before = this.claimed.length;
    let hasMore = false;
    for (const run of candidates) {
      if (this.claimed.length - before >= most) break;
      const policy = this.#host.policies.get(run.function) as FunctionPolicy;
      const isAdmitted = !isLimited(policy) || admission?.admits(policy, run) === true;
      if (isAdmitted) this.#take(run);
      // Of its key, or of another one in its place.
      hasMore ||= hasKeys(policy) && !(isAdmitted && isLast(policy, run, admission));
    }
    return hasMore && this.claimed.length > before && this.#room > 0;
  }

  #take(run: StoredRun): void {
    const taken = started(run, this.#host.process, this.#tx.now);
    this.#store(taken, run);
    this.#start(taken);
    const [key] = run.limits ?? [];
    if (key !== undefined) this.#lastKey.set(run.function, key);
  }

  /** The first runs by priority, due time and number that the code of this process may take. */
  #first(search: Search): readonly StoredRun[] {
    const { index, limit, paused, admission } = search;
    const active = this.#host.active.filter(({ name }) => !paused.has(name));
    // Most of the time nothing waits for any of them.
    if (this.#tx.list(runs, { index, limit: 1 }).length === 0) return [];
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
   * ones, are passed over. A page has as many rows as its keys take turns to read: of keys with many runs, one row is read of each.
   */
  #ofKeys(policy: FunctionPolicy, search: Search, mayTake: (run: StoredRun) => boolean): StoredRun[] {
    const { name } = policy;
    const found: StoredRun[] = [];
    const began = this.#lastKey.get(name) ?? this.#host.lastKey.get(name) ?? '';
    const { index, limit } = search;
    const ofLast: Key = [name, began, 101];
    let size = Math.min(4, limit);
    // Up to the last key, and then from the first one to where it began.
    for (const range of [{ from: ofLast }, { from: [name], to: ofLast }]) {
      let from: Key = range.from;
      for (let isOver = false; !isOver && found.length < limit; ) {
        const rows = this.#tx.list(runs, { index, prefix: [name], ...range, from, limit: size });
        const heads = headsOf(rows);
        for (const [key, head] of heads) {
          if (found.length === limit) return found;
          const first = firstOfKey(this.#tx, policy, head, { ...search, mayTake });
          if (first !== undefined) found.push(first);
          from = [name, key, 101];
        }
        isOver = rows.length < size;
        size = heads.size === rows.length ? Math.min(2 * size, mostOfKeys) : Math.max(1, heads.size);
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
    this.#nextDue(this.#host.lateRuns.check(this.#tx, this.late, isBusy));
    this.#nextDue(this.#host.missing.check(this.#tx));
    this.unheard = reports.unheard;
  }

  /** What is under way here stays that of this process. */
  #hold(mayBeCancelled: boolean): void {
    const tx = this.#tx;
    const { process } = this.#host;
    const { heldUntil } = this.#plan;
    this.heldUntil = this.#host.keepLease(tx);
    // Whoever renewed it, this turn or an enqueue: it may have ended before.
    if (this.heldUntil !== heldUntil)
      this.lost.push(...this.#going.filter((attempt) => ownRun(tx, attempt) === undefined));
    if (!mayBeCancelled) return;
    const asked = tx.list(runs, { index: 'cancelling', prefix: [process] });
    this.cancelling.push(...asked.map(({ record }) => record));
  }
}

function withNotes(run: StoredRun, { progress, lines }: Notes): StoredRun {
  if (progress === undefined && (lines.length === 0 || run.hasLog === true)) return run;
  return { ...run, ...(progress === undefined ? {} : { progress }), ...(lines.length === 0 ? {} : { hasLog: true }) };
}

/** Whether no other run with the keys of one that has begun may begin beside it. */
const isLast = (policy: FunctionPolicy, run: StoredRun, admission: Admission | undefined): boolean =>
  policy.rates.length === 0 && admission?.isFull(policy, run) === true;

const nonePaused = new Pauses([]);

/** What is paused. A table that was never written has no rows. */
const pausesIn = (view: ReadView): Pauses =>
  view.tableIndex(pauses) <= 1 ? nonePaused : new Pauses(view.list(pauses).map(({ record }) => record));

/** The first of some rows of each key. */
function headsOf(rows: readonly Row<StoredRun>[]): ReadonlyMap<string, StoredRun> {
  const heads = new Map<string, StoredRun>();
  for (const { record } of rows) {
    const [key = ''] = record.limits ?? [];
    if (!heads.has(key)) heads.set(key, record);
  }
  return heads;
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
