import { hasKeys, limitNames } from '../../functions/admission.js';
import type { FunctionPolicy, Json } from '../../functions/define-function.js';
import { hasEnded, runs, type StoredRun } from '../../functions/run.js';
import { declared, launchesOf, type StoredSchedule, schedules } from '../../functions/schedule.js';
import type { Transaction } from '../commit.js';
import { countNew, newRun, putRun } from './stored-runs.js';

/**
 * Stores the schedules of the code, and removes those that the code no longer has, unless a later version of the code has declared
 * them.
 */
export function declareSchedules(tx: Transaction, policy: FunctionPolicy): void {
  if (policy.handler === undefined) return;
  const known = tx.list(schedules, { prefix: [policy.name] }).map(({ record }) => record);
  if (known.some(({ version }) => version !== null && version > policy.version)) return;
  for (const { id, version } of known)
    if (version !== null && !policy.crons.some((cron) => cron.id === id)) tx.remove(schedules, [policy.name, id]);
  for (const cron of policy.crons) {
    const before = known.find(({ id }) => id === cron.id);
    const owner = { function: policy.name, version: policy.version };
    const stored = declared(cron, owner, before, tx.now);
    if (stored !== undefined && JSON.stringify(stored) !== JSON.stringify(before)) tx.put(schedules, stored);
  }
}

/**
 * Makes the runs of a schedule that is due, unless one of its runs is still under way or the queue is full, and moves it on.
 */
export function launchDue(tx: Transaction, policy: FunctionPolicy, schedule: StoredSchedule): void {
  const { launches, next } = launchesOf(schedule, tx.now);
  let { lastRun } = schedule;
  for (const dueAt of launches) {
    const last = lastRun === undefined ? undefined : tx.get(runs, [lastRun])?.record;
    if (schedule.overlap === 'skip' && last !== undefined && !hasEnded(last)) continue;
    if (countNew(tx, policy.name) !== undefined) continue;
    lastRun = tx.nextIndex();
    const limits = limitsOfLaunch(policy, schedule.input);
    const run: StoredRun = {
      ...newRun(policy, schedule.input, { number: lastRun, now: tx.now, dueAt }),
      ...(limits.length === 0 ? {} : { limits }),
      schedule: schedule.id,
    };
    putRun(tx, run, JSON.stringify(schedule.input ?? null).length);
  }
  if (next === undefined) tx.remove(schedules, [schedule.function, schedule.id]);
  else tx.put(schedules, { ...schedule, dueAt: next, ...(lastRun === undefined ? {} : { lastRun }) });
}

/** The counts of a launch. An input that the schema refuses, or checks only later, has none: its attempt says what is wrong. */
function limitsOfLaunch(policy: FunctionPolicy, input: Json | undefined): readonly string[] {
  if (!hasKeys(policy)) return [];
  try {
    const checked = policy.input?.['~standard'].validate(input) ?? { value: input };
    return checked instanceof Promise || checked.issues !== undefined ? [] : limitNames(policy, checked.value);
  } catch {
    return [];
  }
}
