import { declarations, type FunctionDeclaration, schedules } from '../../functions/declaration.js';
import { functionReports } from '../../functions/reports.js';
import { functionCounts, pauses, queueName, runs } from '../../functions/run.js';
import type { ReadView } from '../../ports/storage.js';
import { processes } from '../../queue/process.js';
import { day, hour, type Milliseconds, minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { readFunctionJob } from '../records/function-jobs.js';
import { removeJob } from '../records/jobs/job-rows.js';
import type { Transaction } from '../write-transaction.js';
import { collect, countsIn } from './stored-runs.js';

/** Checks are so far apart, and while a function is missing, at most this far. */
const checkEvery: Milliseconds = 10 * minute;
const wakeEvery: Milliseconds = hour;
/** How long a function is kept that no process has: for as long as a process that has given no sign of life. */
const keptFor: Milliseconds = day;
/** The most functions without a process that one check changes. */
const mostChanged = 100;

/**
 * Functions whose code no process has any more. The declaration says since when; its ended runs are removed as it asks for, and it is
 * removed with the last of them, at the earliest after a day. What somebody has asked for keeps it: runs that have not ended, pauses, and
 * schedules that are data.
 */
export class MissingFunctions {
  /** Functions that this process has. */
  readonly #own: ReadonlyMap<string, unknown>;
  /** By the monotonic clock. */
  #checkedAt: Milliseconds = Number.NEGATIVE_INFINITY;
  #isMissingAny = false;

  constructor(own: ReadonlyMap<string, unknown>) {
    this.#own = own;
  }

  /** One check, at most every ten minutes. Gives when the next one is due, by the wall clock: never while no function is missing. */
  check(tx: Transaction): Instant {
    const passed = tx.monotonic - this.#checkedAt;
    // Work that the store runs again has the same time.
    if (passed <= 0 || passed >= checkEvery) {
      this.#checkedAt = tx.monotonic;
      this.#isMissingAny = this.#look(tx);
    }
    if (!this.#isMissingAny) return Number.POSITIVE_INFINITY;
    return tx.now + wakeEvery - Math.max(0, tx.monotonic - this.#checkedAt);
  }

  /** Whether a function is missing. */
  #look(tx: Transaction): boolean {
    const present = namesOfProcesses(tx);
    let left = mostChanged;
    for (const { record: declared } of tx.list(declarations)) {
      if (present.has(declared.name) || this.#own.has(declared.name)) {
        const { missingSince, ...rest } = declared;
        if (missingSince !== undefined) tx.put(declarations, rest);
        continue;
      }
      if (left === 0) return true;
      left -= 1;
      this.#age(tx, declared);
    }
    return left < mostChanged;
  }

  #age(tx: Transaction, declared: FunctionDeclaration): void {
    const { name, missingSince } = declared;
    // With a clock that was set back, it has been missing since now.
    if (missingSince === undefined || missingSince > tx.now)
      tx.put(declarations, { ...declared, missingSince: tx.now });
    const before = countsIn(tx, name);
    const { counts } = collect(tx, declared, before);
    if (counts !== before) tx.put(functionCounts, { function: name, ...counts });
    if ((missingSince ?? tx.now) + keptFor <= tx.now && !isNeeded(tx, name)) removeFunction(tx, declared);
  }
}

/** The functions that processes run, or ran when they were last seen. */
function namesOfProcesses(view: ReadView): ReadonlySet<string> {
  const rows = view.list(processes, { prefix: [queueName] });
  return new Set(rows.flatMap(({ record }) => Object.keys(record.versions ?? {})));
}

/** Whether a process runs the function, or did when it was last seen. */
export const hasProcess = (view: ReadView, name: string): boolean => namesOfProcesses(view).has(name);

export const hasRuns = (view: ReadView, name: string): boolean =>
  view.list(runs, { index: 'by_function', prefix: [name], limit: 1 }).length > 0;

function isNeeded(view: ReadView, name: string): boolean {
  if (hasRuns(view, name) || view.list(pauses, { prefix: [name], limit: 1 }).length > 0) return true;
  return view.list(schedules, { prefix: [name] }).some(({ record }) => record.version === null);
}

/** Removes a function of which no run is left, with all that belongs to it. */
export function removeFunction(tx: Transaction, declared: Pick<FunctionDeclaration, 'name' | 'namespace'>): void {
  const { name } = declared;
  removeJobOf(tx, declared);
  tx.remove(declarations, [name]);
  tx.remove(functionCounts, [name]);
  tx.remove(functionReports, [name]);
  for (const { record } of tx.list(pauses, { prefix: [name] })) tx.remove(pauses, pauses.key(record));
  for (const { record } of tx.list(schedules, { prefix: [name] })) tx.remove(schedules, schedules.key(record));
}

/** Removes the job of a function, which leaves the namespace. */
export function removeJobOf(
  tx: Transaction,
  { name, namespace }: Pick<FunctionDeclaration, 'name' | 'namespace'>,
): void {
  const job = readFunctionJob(tx, namespace, name);
  if (job !== undefined) removeJob(tx, job);
}
