import { nextMatch, timeZone, utc } from '../jobs/periodic/decide-launch.js';
import { minute } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import type { StoredSchedule } from './declaration.js';
import { type CronPolicy, parseSchedule } from './define-function.js';

/** Launches that are less late than this are not missed. */
const lateness = minute;
const mostMissed = 100;

/** What a schedule that is due has to launch, and when it is due next; undefined when never again. */
interface DueLaunches {
  readonly launches: readonly Instant[];
  readonly next: Instant | undefined;
}

/** The launches of a schedule up to `now`, of which the missed ones follow its rule. */
export function launchesOf(schedule: StoredSchedule, now: Instant): DueLaunches {
  const onTime: Instant[] = [];
  let missed: Instant[] = [];
  let next: Instant | undefined = schedule.dueAt;
  if (next < now - lateness) {
    missed = missedBefore(schedule, now - lateness);
    next = nextAfter(schedule, now - lateness - 1);
  }
  while (next !== undefined && next <= now && onTime.length < mostMissed) {
    onTime.push(next);
    next = nextAfter(schedule, next);
  }
  return { launches: [...missed, ...onTime], next };
}

/** The missed launches that are made up for. */
function missedBefore(schedule: StoredSchedule, until: Instant): Instant[] {
  const first = schedule.dueAt;
  if (schedule.missed === 'skip') return [];
  const most = schedule.missed === 'once' ? 1 : mostMissed;
  const found: Instant[] = [];
  // Looks back in growing steps, because the last launches are wanted and only the next one can be asked for.
  for (let span = minute; ; span *= 4) {
    found.length = 0;
    const from = Math.max(first - 1, until - span);
    let at = nextAfter(schedule, from);
    while (at !== undefined && at < until && found.length < 10_000) {
      found.push(at);
      at = nextAfter(schedule, at);
    }
    if (found.length >= most || from === first - 1) return found.slice(-most);
  }
}

/** The first launch strictly after a time; undefined when there is none. */
function nextAfter(
  { schedule, timeZone: zone }: Pick<CronPolicy, 'schedule' | 'timeZone'>,
  after: Instant,
): Instant | undefined {
  return parseSchedule(schedule)
    .andThen((cron) => nextMatch(cron, timeZone(zone) ?? utc, after))
    .unwrapOr(undefined);
}

/** The stored schedule for a declared one: what has not changed keeps its next launch. */
export function declared(
  policy: CronPolicy,
  owner: { readonly function: string; readonly version: number | null },
  known: StoredSchedule | undefined,
  now: Instant,
): StoredSchedule | undefined {
  const isSame = known !== undefined && known.schedule === policy.schedule && known.timeZone === policy.timeZone;
  const dueAt = isSame ? known.dueAt : nextAfter(policy, now);
  if (dueAt === undefined) return undefined;
  const { input, ...rest } = policy;
  return {
    ...rest,
    ...owner,
    ...(input === undefined ? {} : { input }),
    dueAt,
    ...(known?.lastRun === undefined ? {} : { lastRun: known.lastRun }),
    ...(known?.waitingRun === undefined ? {} : { waitingRun: known.waitingRun }),
  };
}
