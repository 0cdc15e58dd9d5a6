import { nextLaunch, timeZone } from '../../src/jobs/periodic/decide-launch.js';
import { periodicProblems } from '../../src/jobs/periodic/validate-periodic.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface CronVector extends Vector {
  readonly spec: string;
  readonly specs: readonly string[] | null;
  readonly spec_type?: string;
  readonly time_zone: string;
  /** RFC 3339. */
  readonly from: string;
  readonly answer: {
    readonly validate: string | null;
    readonly location: string;
    readonly next: readonly (string | null)[] | null;
    readonly error?: string;
  };
}

/** Validity, zone, and the next launches, each from the one before. Of problems their number counts, the words are our own. */
export const play: Play<CronVector> = (vector) => {
  const periodic = {
    Spec: vector.spec,
    Specs: vector.specs,
    SpecType: vector.spec_type ?? 'cron',
    TimeZone: vector.time_zone,
  };
  const { answer } = vector;
  const ours = {
    problems: periodicProblems(periodic).length,
    location: timeZone(vector.time_zone) === undefined ? 'UTC' : vector.time_zone || 'UTC',
    ...launches(periodic, Date.parse(vector.from), answer.next?.length ?? 1),
  };
  return firstDifference(ours, {
    problems: Number(/^(\d+) errors? occurred/.exec(answer.validate ?? '')?.[1] ?? 0),
    location: answer.location,
    next: answer.next?.map((time) => (time === null ? null : new Date(time).toISOString())) ?? null,
    ...(answer.error === undefined ? {} : { error: true }),
  });
};

function launches(periodic: Parameters<typeof nextLaunch>[0], from: number, count: number): Record<string, unknown> {
  const next: (string | null)[] = [];
  let after = from;
  while (next.length < count) {
    const launch = nextLaunch(periodic, after);
    if (launch.isErr()) return { next: null, error: true };
    next.push(launch.value === undefined ? null : new Date(launch.value).toISOString());
    if (launch.value === undefined) break;
    after = launch.value;
  }
  return { next };
}
