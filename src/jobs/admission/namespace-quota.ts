import { minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { globMatches } from '../../shared/values.js';
import type { Job } from '../document/job.js';
import type { DispatchRateExceeded, QuotaExceeded } from '../errors.js';
import { isLauncher } from '../job-record.js';

/** The limits for all jobs of one namespace together. Absent members are unlimited. */
export interface QuotaRule {
  /** Namespace or glob; the first matching rule applies. The quota applies to each namespace separately. */
  readonly namespace: string;
  /** Jobs that are neither stopped nor dead; instances of parameterized and periodic jobs are not counted. */
  readonly jobs?: number;
  /** MHz requested by all instances of the live jobs; a system job counts as one instance of each group. */
  readonly cpu?: number;
  /** Whole cores that instances reserve, counted like `cpu`. Absent beside `cpu`: none, since their MHz depend on the node. */
  readonly cores?: number;
  /** MiB of memory, counted like `cpu`. */
  readonly memoryMB?: number;
  /** Dispatches in any minute. */
  readonly dispatchesPerMinute?: number;
}

/** The resources requested by jobs. */
export interface Demand {
  readonly jobs: number;
  readonly cpu: number;
  readonly cores: number;
  readonly memoryMB: number;
}

export const noDemand: Demand = { jobs: 0, cpu: 0, cores: 0, memoryMB: 0 };

/** The rule of a namespace; undefined when it has none. */
export function quotaOf(rules: readonly QuotaRule[], namespace: string): QuotaRule | undefined {
  return rules.find((rule) => globMatches(rule.namespace, namespace));
}

/** What a job requests: nothing when it is stopped or dead. A parent requests no resources; its instances do. */
export function demandOf(job: Job): Demand {
  if (job.Stop || job.Status === 'dead') return noDemand;
  const jobs = job.ParentID === '' ? 1 : 0;
  if (isLauncher(job)) return { ...noDemand, jobs };
  let [cpu, cores, memoryMB] = [0, 0, 0];
  for (const { Count, Tasks } of job.TaskGroups) {
    for (const { Resources } of Tasks) {
      cpu += Count * Resources.CPU;
      cores += Count * Resources.Cores;
      memoryMB += Count * Resources.MemoryMB;
    }
  }
  return { jobs, cpu, cores, memoryMB };
}

export function plus(left: Demand, right: Demand): Demand {
  return sum(left, right, 1);
}

export function minus(left: Demand, right: Demand): Demand {
  return sum(left, right, -1);
}

function sum(left: Demand, right: Demand, sign: 1 | -1): Demand {
  return {
    jobs: left.jobs + sign * right.jobs,
    cpu: left.cpu + sign * right.cpu,
    cores: left.cores + sign * right.cores,
    memoryMB: left.memoryMB + sign * right.memoryMB,
  };
}

const units = [
  ['jobs', 'jobs'],
  ['cpu', 'MHz of CPU'],
  ['cores', 'cores'],
  ['memoryMB', 'MiB of memory'],
] as const;

function limitOf(rule: QuotaRule, unit: keyof Demand): number | undefined {
  return unit === 'cores' && rule.cpu !== undefined ? (rule.cores ?? 0) : rule[unit];
}

/**
 * Why a change would exceed the quota of a namespace; undefined when it would not. A change that requests no more than before is accepted,
 * even if the quota is already exceeded.
 */
export function quotaExcess(
  { namespace, rule, used }: { readonly namespace: string; readonly rule: QuotaRule; readonly used: Demand },
  more: Demand,
): QuotaExceeded | undefined {
  const excesses = units.flatMap(([unit, name]) => {
    const [limit, wanted] = [limitOf(rule, unit), used[unit] + more[unit]];
    return limit === undefined || more[unit] <= 0 || wanted <= limit ? [] : [`${wanted} ${name} of ${limit}`];
  });
  if (excesses.length === 0) return undefined;
  const message = `the quota of namespace "${namespace}" would be exceeded: ${excesses.join(', ')}`;
  return { type: 'quota_exceeded', namespace, message };
}

/**
 * Takes one dispatch. `until` is the time at which everything taken so far will have been replenished at the even rate; 0 at
 * first. Returns the new time, or the reason why no dispatch is allowed now. A clock that was set back delays no dispatch by
 * more than a minute.
 */
export function takeDispatch(
  { namespace, perMinute }: { readonly namespace: string; readonly perMinute: number },
  until: Instant,
  now: Instant,
): { readonly until: Instant } | DispatchRateExceeded {
  const each = minute / perMinute;
  const replenished = Math.min(Math.max(until, now), now + minute);
  const next = replenished + each;
  if (perMinute > 0 && next - now <= minute) return { until: next };
  const seconds = perMinute > 0 ? Math.max(1, Math.ceil((next - now - minute) / 1000)) : undefined;
  const when = seconds === undefined ? '' : `; try again in ${seconds} s`;
  const message = `namespace "${namespace}" may dispatch ${perMinute} times a minute${when}`;
  return { type: 'dispatch_rate_exceeded', namespace, message };
}
