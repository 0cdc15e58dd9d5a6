import { type StoredSchedule, schedules } from '../../functions/declaration.js';
import { type FunctionPolicy, runsHere } from '../../functions/define-function.js';
import { functionReports, lateAfter, lateness, waitsSince, waitText } from '../../functions/reports.js';
import { pauses, runId, runs, type StoredRun } from '../../functions/run.js';
import { type Milliseconds, minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { EngineContext } from '../context/engine-context.js';
import type { Transaction } from '../write-transaction.js';
import { RunReports, warnOfWorkspace } from './run-reports.js';

/** The most groups of waiting runs, of one function, key and priority each, that one check reads. */
const mostGroups = 1000;
/** Checks are so far apart. */
const checkEvery: Milliseconds = minute;

/** The oldest run or launch of a function that is due. */
interface Waiting {
  readonly since: Instant;
  readonly run?: StoredRun;
  readonly schedule?: StoredSchedule;
}

/** A function that has become late, for the log. */
export interface LateFunction {
  readonly function: string;
  readonly reason: string;
}

/**
 * Finds functions whose due runs are not started, and launches that no process makes. Each process looks at all functions of the store,
 * also at those that no process has any more; the row of a function says whether that has been reported.
 */
export class LateRuns {
  readonly #policies: ReadonlyMap<string, FunctionPolicy>;
  /** By the monotonic clock. */
  #checkedAt: Milliseconds = Number.NEGATIVE_INFINITY;
  /** When the next function may become late. */
  #nextAt: Instant = Number.POSITIVE_INFINITY;
  /** The group at which the next check begins, when there were more than it read. */
  #from: Key | undefined;

  constructor(policies: ReadonlyMap<string, FunctionPolicy>) {
    this.#policies = policies;
  }

  /** One check, at most once a minute. Gives when the next one is due, by the wall clock. `isBusy`: more runs may be due than have a slot. */
  check(tx: Transaction, late: LateFunction[], isBusy: boolean): Instant {
    const passed = tx.monotonic - this.#checkedAt;
    // Work that the store runs again has the same time.
    if (passed > 0 && passed < checkEvery) {
      const soon = tx.now + checkEvery - passed;
      return isBusy || this.#mayChange(tx) ? soon : Math.max(this.#nextAt, soon);
    }
    this.#checkedAt = tx.monotonic;
    const waiting = new Map<string, Waiting>();
    const isWhole = this.#readRuns(tx, waiting);
    this.#readLaunches(tx, waiting);
    this.#nextAt = Number.POSITIVE_INFINITY;
    for (const [name, oldest] of waiting) this.#look(tx, late, name, oldest);
    if (isWhole) endLateness(tx, waiting);
    return Math.max(this.#nextAt, tx.now + checkEvery);
  }

  #look(tx: Transaction, late: LateFunction[], name: string, oldest: Waiting): void {
    const reports = RunReports.in(tx);
    const row = reports.of(name);
    const change = lateness(row ?? {}, oldest.since, tx.now);
    if (change === undefined && row?.lateSince === undefined)
      this.#nextAt = Math.min(this.#nextAt, oldest.since + lateAfter);
    if (change !== 'begins') return;
    reports.put({ function: name, version: 0, workspace: null, ...row, lateSince: oldest.since });
    const reason = this.#reasonOf(tx, name, oldest);
    late.push({ function: name, reason });
    reports.late(subjectOf(name, oldest), reason, { since: oldest.since, hasRun: oldest.run !== undefined });
  }

  /** Whether a run waits, or a function is known to be late: the next check may find a change. */
  #mayChange(tx: Transaction): boolean {
    const hasWaiting = ['ready', 'suspects'].some((index) => tx.list(runs, { index, limit: 1 }).length > 0);
    if (hasWaiting || tx.tableIndex(functionReports) <= 1) return hasWaiting;
    return tx.list(functionReports, { index: 'late', limit: 1 }).length > 0;
  }

  /** The oldest run of each function, from the first run of each of its keys and priorities; whether that is all of them. */
  #readRuns(tx: Transaction, waiting: Map<string, Waiting>): boolean {
    let left = mostGroups;
    for (const index of ['suspects', 'ready']) {
      let from: Key | undefined = index === 'ready' ? this.#from : undefined;
      const isWhole = from === undefined;
      for (; left > 0; left -= 1) {
        const [row] = tx.list(runs, { index, ...(from === undefined ? {} : { from }), limit: 1 });
        if (row === undefined) break;
        const { record: run } = row;
        note(waiting, run.function, { since: waitsSince(run), run });
        from = [run.function, run.limits?.[0] ?? '', 100 - run.priority, Number.MAX_VALUE];
      }
      if (index === 'ready') this.#from = left > 0 ? undefined : from;
      if (left === 0 || !isWhole) return false;
    }
    return true;
  }

  /** Launches that are due, except those that this process makes in the same write. */
  #readLaunches(tx: Transaction, waiting: Map<string, Waiting>): void {
    let from: Key | undefined;
    for (let left = mostGroups; left > 0; left -= 1) {
      const [row] = tx.list(schedules, { index: 'due', ...(from === undefined ? {} : { from }), limit: 1 });
      if (row === undefined) return;
      const { record: schedule } = row;
      if (!this.#launches(schedule)) note(waiting, schedule.function, { since: schedule.dueAt, schedule });
      from = [schedule.function, Number.MAX_VALUE];
    }
  }

  #launches({ function: name, version }: StoredSchedule): boolean {
    const policy = this.#policies.get(name);
    return policy !== undefined && runsHere(policy) && (version ?? 0) <= policy.version;
  }

  #reasonOf(tx: Transaction, name: string, { since, run, schedule }: Waiting): string {
    const wait = waitText(tx.now - since);
    if (schedule !== undefined) return `the launch of ${timeText(since)} was not made for ${wait}: no process makes it`;
    const version = run?.version ?? 1;
    const policy = this.#policies.get(name);
    const why = (): string => {
      if (tx.list(pauses, { prefix: [name], limit: 1 }).length > 0) return 'it is paused';
      if (policy === undefined || !runsHere(policy) || policy.version < version)
        return `no process has begun it in version ${version}`;
      return 'a limit or rate holds it, or all processes are busy';
    };
    return `the oldest due run has waited for ${wait}: ${why()}`;
  }
}

/** A launch that is made late, by a process that was not there in time, is reported unless that was done before. */
export function noteLaunch(tx: Transaction, schedule: StoredSchedule, late: LateFunction[]): void {
  const reports = RunReports.in(tx);
  const wait = tx.now - schedule.dueAt;
  if (wait < lateAfter || reports.of(schedule.function)?.lateSince !== undefined) return;
  const reason = `the launch of ${timeText(schedule.dueAt)} was not made for ${waitText(wait)}: no process was there`;
  late.push({ function: schedule.function, reason });
  const since = schedule.dueAt;
  reports.late(subjectOf(schedule.function, { since, schedule }), reason, { since, hasRun: false });
}

function note(waiting: Map<string, Waiting>, name: string, found: Waiting): void {
  const known = waiting.get(name);
  if (known === undefined || found.since < known.since) waiting.set(name, found);
}

/** Functions that were late and are not any more. */
function endLateness(tx: Transaction, waiting: ReadonlyMap<string, Waiting>): void {
  for (const { record: row } of tx.list(functionReports, { index: 'late' })) {
    if (lateness(row, waiting.get(row.function)?.since, tx.now) !== 'ends') continue;
    const { lateSince: _, ...rest } = RunReports.in(tx).of(row.function) ?? row;
    RunReports.in(tx).put(rest);
  }
}

function subjectOf(name: string, { since, run, schedule }: Waiting) {
  const id = run === undefined ? `${name}/${schedule?.id ?? 'cron'}` : runId(run);
  return { id, function: name, createdAt: run?.enqueuedAt ?? since };
}

const timeText = (at: Instant): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Writes to the log what keeps runs from being started, and what nobody is notified of. */
export class ReportLog {
  readonly #context: EngineContext;
  /** When the missing workspace of a function was logged, by the monotonic clock. */
  readonly #warnedAt = new Map<string, Milliseconds>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  follow({ late, unheard }: { readonly late: readonly LateFunction[]; readonly unheard: ReadonlyMap<string, string> }) {
    const { logger, clock } = this.#context;
    for (const fields of late) logger.warn({ ...fields }, 'Runs of a function are late');
    for (const [name, workspace] of unheard) {
      const now = clock.monotonic();
      if (now - (this.#warnedAt.get(name) ?? Number.NEGATIVE_INFINITY) < lateAfter) continue;
      this.#warnedAt.set(name, now);
      warnOfWorkspace(this.#context, name, workspace);
    }
  }
}
