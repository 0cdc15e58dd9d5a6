import { day } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { quoted } from '../../shared/values.js';
import {
  type CronEntry,
  type CronExpression,
  type CronFields,
  cronFields,
  entriesOf,
  type FieldName,
  fieldSpan,
  parseCron,
} from './cron-expression.js';
import {
  nextMatch,
  nextOffsetChange,
  nextWallTime,
  type PeriodicSchedule,
  specsOf,
  type TimeZone,
  timeZone,
  utc,
  type WallTime,
} from './decide-launch.js';

/** The problems of a schedule, each a sentence without its location; empty for a valid schedule. */
export function periodicProblems(periodic: PeriodicSchedule): string[] {
  const { Spec, Specs, SpecType, TimeZone } = periodic;
  const specs = [...(Spec === '' ? [] : [Spec]), ...(Specs ?? [])];
  return [
    ...(Spec !== '' && specs.length > 1 ? ['cron and crons cannot be combined'] : []),
    ...(specs.length === 0 ? ['a cron expression is required'] : []),
    ...(SpecType === 'cron' ? specs.flatMap(expressionProblem) : [unknownKind(SpecType)]),
    ...(timeZone(TimeZone) === undefined ? [unknownZone(TimeZone)] : []),
  ];
}

function expressionProblem(spec: string): string[] {
  return parseCron(spec).match(
    () => [],
    (problem) => [`${JSON.stringify(spec)} is not a valid cron expression: ${problem}`],
  );
}

/** The number of times computed to find expressions that are due together; fewer per expression when there are many. */
const computedTimes = 500;
const mostLaunches = 50;
/** The maximum number of listed warnings; the rest are only counted. */
const mostWarnings = 10;

/** Warnings about a valid schedule: all findings except those of the kind `note`. */
export function periodicWarnings(periodic: PeriodicSchedule, now: Instant): string[] {
  const specs = Math.max(1, periodic.Specs?.length ?? 0);
  const { findings } = lintCron(periodic, now, Math.min(mostLaunches, Math.ceil(computedTimes / specs)));
  const warnings = findings.filter(({ kind }) => kind !== 'note').map(({ message }) => message);
  const more = warnings.length - mostWarnings;
  return more > 0 ? [...warnings.slice(0, mostWarnings), `${more} more warnings about the schedule`] : warnings;
}

function unknownKind(type: string): string {
  return `the kind of schedule must be cron, not ${JSON.stringify(type)}`;
}

function unknownZone(name: string): string {
  return `unknown time zone ${JSON.stringify(name)}: use a name of the IANA database, such as Europe/Berlin`;
}

/** A time at which the job will be launched. */
export interface UpcomingLaunch {
  readonly at: Instant;
  /** The same in local time: RFC 3339 with the offset of the zone. */
  readonly wallTime: string;
  /** The expressions that are due at this time. */
  readonly specs: readonly string[];
}

/** A surprising property of a schedule. */
export interface CronFinding {
  readonly kind:
    | 'never'
    /** All its due times are in the past. */
    | 'past'
    /** A launch is skipped when clocks are set forward. */
    | 'skipped'
    /** A launch is repeated when clocks are set back. */
    | 'doubled'
    /** Two expressions are due at the same time, which causes a single launch. */
    | 'together'
    /** Probably not what the author meant. */
    | 'trap'
    /** Documented, but easy to forget. */
    | 'note';
  readonly spec: string;
  readonly message: string;
}

/** The next launches of a job, and the findings about its schedule. */
export interface CronLint {
  readonly launches: readonly UpcomingLaunch[];
  readonly findings: readonly CronFinding[];
}

/** How far ahead clock changes are searched. */
const HORIZON = 400 * day;

/** Clock changes closer to each other than this may be missed. Only warnings depend on this. */
const STEP = 5 * day;

interface Timetable {
  readonly spec: string;
  readonly cron: CronExpression;
}

/**
 * The next `count` launches after `from`, and surprising properties of the schedule: expressions that are never due, launches that a
 * clock change of the zone skips or repeats within the next 400 days, expressions that are due together, and expressions with a
 * surprising meaning. Invalid expressions are ignored.
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

/** A change of a zone's offset at `at`; `before` and `after` are seconds ahead of UTC. */
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
      ? [{ kind: 'skipped', spec, message: `${where}: clocks are set forward over it, so it is skipped` }]
      : [{ kind: 'doubled', spec, message: `${where}: clocks are set back over it, so it is launched twice` }];
  });
  return (['skipped', 'doubled'] as const).flatMap((kind) => found.find((each) => each.kind === kind) ?? []);
}

/** The maximum number of expressions named in one message. */
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

interface CronOddity {
  /** `trap`: probably not what the author meant. `note`: documented, but easy to forget. */
  readonly kind: 'trap' | 'note';
  readonly message: string;
}

/** Parts of an expression with a surprising meaning. Empty for an invalid expression. */
function oddities(spec: string): CronOddity[] {
  return cronFields(spec).match(
    (fields) => [
      ...meaninglessFields(fields),
      ...ordered(fields).flatMap(([name, text]) => entriesOf(text, name).flatMap((entry) => emptyRange(entry, name))),
      ...entriesOf(fields.dayOfWeek, 'day-of-week').flatMap((entry) => [...paddedDay(entry), ...rangeToSunday(entry)]),
      ...eitherDay(fields),
      ...ordered(fields).flatMap(([name, text]) =>
        entriesOf(text, name).flatMap((entry) => unevenInterval(entry, name)),
      ),
    ],
    () => [],
  );
}

function ordered({ second, minute, hour, dayOfMonth, month, dayOfWeek, year }: CronFields): [FieldName, string][] {
  return [
    ['second', second],
    ['minute', minute],
    ['hour', hour],
    ['day-of-month', dayOfMonth],
    ['month', month],
    ['day-of-week', dayOfWeek],
    ['year', year],
  ];
}

function meaninglessFields({ rest }: CronFields): CronOddity[] {
  return rest === 0 ? [] : trap(`it has ${rest + 7} fields: those after the seventh are ignored`);
}

function emptyRange(entry: CronEntry, name: FieldName): CronOddity[] {
  if (entry.kind !== 'range' || entry.from <= entry.to || isUntilSunday(entry, name)) return [];
  return trap(`${quoted(entry.text)} in the ${name} field ends before it begins, so it matches nothing`);
}

function rangeToSunday(entry: CronEntry): CronOddity[] {
  if (entry.kind !== 'range' || !isUntilSunday(entry, 'day-of-week')) return [];
  return trap(`${quoted(entry.text)} in the day-of-week field ends with Saturday; add ",0" for Sunday`);
}

function isUntilSunday(entry: CronEntry & { readonly kind: 'range' }, name: FieldName): boolean {
  return name === 'day-of-week' && entry.to === 0;
}

function paddedDay({ text }: CronEntry): CronOddity[] {
  const [day] = /(?<![0-9#/])0[1-6]/.exec(text) ?? [];
  return day === undefined
    ? []
    : trap(`${quoted(day)} in the day-of-week field is read as Sunday; write ${day.slice(1)}`);
}

function eitherDay({ dayOfMonth, dayOfWeek }: CronFields): CronOddity[] {
  const isRestricted = (text: string): boolean => !text.split(',').some((entry) => entry === '*' || entry === '?');
  if (!isRestricted(dayOfMonth) || !isRestricted(dayOfWeek)) return [];
  return [{ kind: 'note', message: 'both day fields are restricted: a day that matches either of them is due' }];
}

const largerUnits: Partial<Record<FieldName, string>> = { second: 'minute', minute: 'hour', hour: 'day' };

function unevenInterval(entry: CronEntry, name: FieldName): CronOddity[] {
  const larger = largerUnits[name];
  if (larger === undefined || entry.kind !== 'range' || !entry.text.startsWith('*')) return [];
  if (fieldSpan(name) % entry.step === 0) return [];
  const message = `${quoted(entry.text)} in the ${name} field restarts in every ${larger}, so the last interval is shorter`;
  return [{ kind: 'note', message }];
}

function trap(message: string): CronOddity[] {
  return [{ kind: 'trap', message }];
}
