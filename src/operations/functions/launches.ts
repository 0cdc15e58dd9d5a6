import { hasKeys, limitNames } from '../../functions/admission.js';
import { type FunctionPolicy, type Json, runsHere } from '../../functions/define-function.js';
import { hasEnded, runs, type StoredRun } from '../../functions/run.js';
import { declared, launchesOf, type StoredSchedule, schedules } from '../../functions/schedule.js';
import type { Instant } from '../../shared/instant.js';
import type { Transaction } from '../commit.js';
import { countNew, newRun, putNewRun } from './stored-runs.js';

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
