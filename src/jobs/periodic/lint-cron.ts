import { day } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type CronExpression, parseCron } from './cron-expression.js';
import { oddities } from './cron-oddities.js';
import { nextMatch, type PeriodicSchedule, specsOf } from './next-launch.js';
import { nextOffsetChange, type TimeZone, timeZone, utc } from './time-zone.js';
import { nextWallTime, type WallTime } from './wall-time.js';

/** A time at which the job will be launched. */
export interface UpcomingLaunch {
  readonly at: Instant;
  /** The same as the zone's clocks show it, RFC 3339 with the offset. */
  readonly wallTime: string;
  /** The expressions that are due then. */
  readonly specs: readonly string[];
}

/** Something about a schedule that its author may not expect. */
export interface CronFinding {
  readonly kind:
    | 'never'
    /** All its times have passed. */
    | 'past'
    /** Clocks that are put forward leave a launch out. */
    | 'skipped'
    /** Clocks that are put back make a launch twice. */
    | 'doubled'
    /** Two expressions are due at the same time, which is one launch. */
    | 'together'
    /** The text hardly means what its author meant. */
    | 'trap'
    /** Well known, yet often forgotten. */
    | 'note';
  readonly spec: string;
  readonly message: string;
}

/** When a job would be launched next, and what is questionable about its schedule. */
export interface CronLint {
  readonly launches: readonly UpcomingLaunch[];
  readonly findings: readonly CronFinding[];
}

/** How far ahead clock changes are searched. */
const HORIZON = 400 * day;

/** Changes that are closer to each other may be missed. Only warnings depend on this. */
const STEP = 5 * day;

interface Timetable {
  readonly spec: string;
  readonly cron: CronExpression;
}

/**
 * The next `count` launches after `from`, and what may surprise about the schedule: expressions that are never due, launches that a
 * change of the zone's clocks skips or doubles within the next 400 days, expressions that are due together, and strings that mean
 * something else than they seem to. Expressions that cannot be read are left out.
 */
export function lintCron(periodic: PeriodicSchedule, from: Instant, count: number): CronLint {
  const zone = timeZone(periodic.TimeZone) ?? utc;
  const timetables = [...new Set(specsOf(periodic))].flatMap((spec) =>
    parseCron(spec).match(
      (cron) => [{ spec, cron }],
      () => [],
    ),
  );
  const launches = upcoming(timetables, zone, from, count);
  const changes = offsetChanges(zone, from, from + HORIZON);
  return {
    launches,
    findings: [
      ...timetables.flatMap(({ spec, cron }) => [
        ...oddities(spec).map(({ kind, message }) => ({ kind, spec, message: `${quoted(spec)}: ${message}` })),
        ...neverDue({ spec, cron }, zone, from),
        ...surprises({ spec, cron }, zone, changes),
      ]),
      ...together(launches),
    ],
  };
}

function upcoming(timetables: readonly Timetable[], zone: TimeZone, from: Instant, count: number): UpcomingLaunch[] {
  const launches: UpcomingLaunch[] = [];
  const next = timetables.map(({ cron }) => dueAfter(cron, zone, from) ?? Infinity);
  while (launches.length < count) {
    const at = Math.min(...next);
    if (!Number.isFinite(at)) break;
    const due = timetables.flatMap((timetable, index) => (next[index] === at ? [{ ...timetable, index }] : []));
    launches.push({
      at,
      wallTime: rfc3339(at / 1000 + zone.offsetAt(at), zone.offsetAt(at)),
      specs: due.map(({ spec }) => spec),
    });
    for (const { cron, index } of due) next[index] = dueAfter(cron, zone, at) ?? Infinity;
  }
  return launches;
}

function neverDue({ spec, cron }: Timetable, zone: TimeZone, from: Instant): CronFinding[] {
  if (dueAfter(cron, zone, from) !== undefined) return [];
  if (dueAfter(cron, zone, 0) !== undefined) {
    return [{ kind: 'past', spec, message: `${quoted(spec)}: all times at which it is due have passed` }];
  }
  return [{ kind: 'never', spec, message: `${quoted(spec)} is not due again before the end of 2099` }];
}

/** A change of a zone's clocks: up to `at` they are ahead of UTC by `before`, from then on by `after` seconds. */
interface OffsetChange {
  readonly at: Instant;
  readonly before: number;
  readonly after: number;
}

function offsetChanges(zone: TimeZone, from: Instant, until: Instant): OffsetChange[] {
  const changes: OffsetChange[] = [];
  let before = zone.offsetAt(from);
  let at = nextOffsetChange(zone, from, until, STEP);
  while (at !== undefined) {
    const after = zone.offsetAt(at);
    changes.push({ at, before, after });
    before = after;
    at = nextOffsetChange(zone, at, until, STEP);
  }
  return changes;
}

/** The first launch that is skipped and the first that is repeated. Launches in every hour of the day are not affected. */
function surprises({ spec, cron }: Timetable, zone: TimeZone, changes: readonly OffsetChange[]): CronFinding[] {
  if (cron.hours.length === 24) return [];
  const found = changes.flatMap(({ at, before, after }): CronFinding[] => {
    const [first, last] = [at / 1000 + Math.min(before, after), at / 1000 + Math.max(before, after)];
    const wall = nextWallTime(cron, first);
    if (wall === undefined || wall >= last) return [];
    const where = `${quoted(spec)}, ${date(wall)} ${clock(wall)} in ${zone.name}`;
    return before < after
      ? [{ kind: 'skipped', spec, message: `${where}: clocks are put forward over it, so it is left out` }]
      : [{ kind: 'doubled', spec, message: `${where}: clocks are put back over it, so it is launched twice` }];
  });
  return (['skipped', 'doubled'] as const).flatMap((kind) => found.find((each) => each.kind === kind) ?? []);
}

/** Expressions that one message names. */
const mostNames = 3;

function together(launches: readonly UpcomingLaunch[]): CronFinding[] {
  const found = new Map<string, CronFinding>();
  for (const { wallTime, specs } of launches) {
    const [spec, other] = specs;
    const key = specs.join('\n');
    if (spec === undefined || other === undefined || found.has(key)) continue;
    const others = specs.length > mostNames ? ` and ${specs.length - mostNames} others` : '';
    const names = `${specs.slice(0, mostNames).map(quoted).join(' and ')}${others}`;
    found.set(key, { kind: 'together', spec, message: `${names} are both due at ${wallTime}, which is one launch` });
  }
  return [...found.values()];
}

function dueAfter(cron: CronExpression, zone: TimeZone, after: Instant): Instant | undefined {
  return nextMatch(cron, zone, after).unwrapOr(undefined);
}

function rfc3339(wall: WallTime, offset: number): string {
  const sign = offset < 0 ? '-' : '+';
  return `${date(wall)}T${clock(wall)}${offset === 0 ? 'Z' : `${sign}${clock(Math.abs(offset)).slice(0, 5)}`}`;
}

function date(wall: WallTime): string {
  return new Date(wall * 1000).toISOString().slice(0, 10);
}

function clock(wall: WallTime): string {
  return new Date(wall * 1000).toISOString().slice(11, 19);
}

function quoted(spec: string): string {
  return JSON.stringify(spec);
}
