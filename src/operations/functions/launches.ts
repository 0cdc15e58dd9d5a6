import { hasKeys, limitNames } from '../../functions/admission.js';
import { type StoredSchedule, schedules } from '../../functions/declaration.js';
import { type FunctionPolicy, type Json, runsHere } from '../../functions/define-function.js';
import { hasEnded, runs, type StoredRun } from '../../functions/run.js';
import { declared, launchesOf } from '../../functions/schedule.js';
import type { Instant } from '../../shared/instant.js';
import type { Transaction } from '../write-transaction.js';
import { batchSize, countNew, inputOf, newRun, putNewRun } from './stored-runs.js';

/**
 * Stores the schedules of the code, and removes those that the code no longer has, unless a later version of the code has declared
 * them.
 */
export function declareSchedules(tx: Transaction, policy: FunctionPolicy): void {
  if (!runsHere(policy)) return;
  const known = tx.list(schedules, { prefix: [policy.name] }).map(({ record }) => record);
  if (known.some(({ version }) => version !== null && version > policy.version)) return;
  for (const { id, version } of known)
    if (version !== null && !policy.crons.some((cron) => cron.id === id)) tx.remove(schedules, [policy.name, id]);
  for (const cron of policy.crons) {
    const before = known.find(({ id }) => id === cron.id);
    const owner = { function: policy.name, version: policy.version };
    const stored = declared(cron, owner, before, tx.now);
    // A schedule that is never due again launches nothing, neither does the one that it replaces.
    if (stored === undefined) tx.remove(schedules, [policy.name, cron.id]);
    else if (JSON.stringify(stored) !== JSON.stringify(before)) tx.put(schedules, stored);
  }
}

/**
 * Makes the runs of a schedule that is due, unless one of its runs is still under way or the queue is full, and moves it on.
 */
export function launchDue(tx: Transaction, policy: FunctionPolicy, schedule: StoredSchedule): void {
  const { launches, next } = launchesOf(schedule, tx.now);
  let { lastRun, waitingRun } = schedule;
  for (const dueAt of launches) {
    const before = schedule.overlap === 'allow' ? [] : unfinishedLaunches(tx, [lastRun, waitingRun]);
    if (before.length > (schedule.overlap === 'queue' ? 1 : 0)) continue;
    if (countNew(tx, policy.name) !== undefined) continue;
    const number = tx.nextIndex();
    const [ahead] = before;
    lastRun = ahead?.number ?? number;
    waitingRun = ahead === undefined ? undefined : number;
    putLaunch(tx, policy, schedule, { number, dueAt, ahead });
  }
  const { lastRun: _, waitingRun: __, ...rest } = schedule;
  const last = { ...(lastRun === undefined ? {} : { lastRun }), ...(waitingRun === undefined ? {} : { waitingRun }) };
  if (next === undefined) tx.remove(schedules, [schedule.function, schedule.id]);
  else tx.put(schedules, { ...rest, dueAt: next, ...last });
}

function putLaunch(
  tx: Transaction,
  policy: FunctionPolicy,
  { id, input }: StoredSchedule,
  { number, dueAt, ahead }: { readonly number: number; readonly dueAt: Instant; readonly ahead: StoredRun | undefined },
): void {
  const limits = limitsOfLaunch(policy, input);
  const run: StoredRun = {
    ...newRun(policy, input, { number, now: tx.now, dueAt }),
    ...(limits.length === 0 ? {} : { limits }),
    schedule: id,
    ...(ahead === undefined ? {} : { after: ahead.number }),
  };
  putNewRun(tx, run, JSON.stringify(input ?? null).length);
}

/** The runs of a schedule that have not ended: of the last launch but one, if it waited for the one before, and of the last. */
function unfinishedLaunches(tx: Transaction, numbers: readonly (number | undefined)[]): readonly StoredRun[] {
  const launched = numbers.map((number) => (number === undefined ? undefined : tx.get(runs, [number])?.record));
  return launched.filter((run) => run !== undefined).filter((run) => !hasEnded(run));
}

/**
 * Adds the counts to runs that a process without their code has enqueued, of the functions of this process with keys, up to one batch;
 * whether there may be more. Until then they do not start here.
 */
export function closeKeys(tx: Transaction, active: readonly FunctionPolicy[]): boolean {
  const keyed = active.filter(hasKeys);
  // Most of the time there are none, of any function.
  if (keyed.length === 0 || tx.list(runs, { index: 'open_keys', limit: 1 }).length === 0) return false;
  let left = batchSize;
  for (const policy of keyed) {
    const open = { index: 'open_keys', prefix: [policy.name], to: [policy.name, policy.version + 1], limit: left };
    for (const { record } of tx.list(runs, open)) {
      left -= 1;
      const { hasOpenKeys: _, ...run } = record;
      const limits = limitsOfLaunch(policy, inputOf(tx, record));
      tx.put(runs, limits.length === 0 ? run : { ...run, limits });
    }
    if (left <= 0) return true;
  }
  return false;
}

/** Whether the counts of a run are known, as far as its function has keys. */
export const hasItsKeys = ({ hasOpenKeys }: StoredRun, policy: FunctionPolicy): boolean =>
  hasOpenKeys === undefined || !hasKeys(policy);

/** The counts of a launch. An input that the schema refuses, or checks only later, has none: its attempt says what is wrong. */
export function limitsOfLaunch(policy: FunctionPolicy, input: Json | undefined): readonly string[] {
  if (!hasKeys(policy)) return [];
  try {
    const checked = policy.input?.['~standard'].validate(input) ?? { value: input };
    return checked instanceof Promise || checked.issues !== undefined ? [] : limitNames(policy, checked.value);
  } catch {
    return [];
  }
}
