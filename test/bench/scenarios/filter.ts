import { compileFilter } from '../../../src/operations/listing/filters.js';
import { jobFrom } from '../../support/jobs.js';
import type { Measured } from './store-slices.js';

/** Records a second must be at least 200,000. */
const LIMIT_MICROSECONDS = 5;
const RECORDS = 1_000;
const SLICES = 15;

interface Case {
  readonly name: string;
  readonly expression: string;
  /** The same, written by hand. */
  readonly floor: (job: ReturnType<typeof jobFrom>) => boolean;
}

const cases: readonly Case[] = [
  { name: 'one comparison', expression: 'Status == "running"', floor: (job) => job.Status === 'running' },
  {
    name: 'five comparisons',
    expression:
      'Name contains "7" and (Type == "service" or not Priority == 50) and Meta.owner != "x" and Periodic is nil',
    floor: (job) =>
      job.Name.includes('7') &&
      (job.Type === 'service' || job.Priority !== 50) &&
      job.Meta?.['owner'] !== 'x' &&
      job.Periodic === null,
  },
  { name: 'a pattern', expression: 'ID matches "^job-[0-9]+7$"', floor: (job) => /^job-[0-9]+7$/.test(job.ID) },
  {
    name: 'any task of any group',
    expression: 'any TaskGroups as g { (any g.Tasks as t { t.Driver == "docker" }) }',
    floor: (job) => job.TaskGroups.some((group) => group.Tasks.some((task) => task.Driver === 'docker')),
  },
];

/** Filters over stored jobs: processor time for each record, beside the same test written by hand. */
export function run(): Measured[] {
  const jobs = Array.from({ length: RECORDS }, (_, at) => jobFrom({ ID: `job-${at}`, Meta: { owner: 'ops' } }));
  return cases.map(({ name, expression, floor }) => {
    const filter = compileFilter.job(expression)._unsafeUnwrap();
    const ours = (): void => {
      for (const job of jobs) filter.matches(job);
    };
    const byHand = (): void => {
      for (const job of jobs) floor(job);
    };
    const [best, least] = fastest([ours, byHand]);
    return {
      name: `filter: ${name}`,
      ours: best ?? 0,
      floor: least ?? 0,
      unit: 'µs',
      ratio: best ?? 0,
      limit: { max: LIMIT_MICROSECONDS },
    };
  });
}

/** Microseconds of processor time for each record, the best of alternating slices. */
function fastest(works: readonly (() => void)[]): number[] {
  const best = works.map(() => Infinity);
  for (let slice = 0; slice < SLICES; slice += 1) {
    for (const [at, work] of works.entries()) {
      const before = process.cpuUsage();
      for (let round = 0; round < 20; round += 1) work();
      const { user, system } = process.cpuUsage(before);
      best[at] = Math.min(best[at] ?? Infinity, (user + system) / (20 * RECORDS));
    }
  }
  return best;
}
