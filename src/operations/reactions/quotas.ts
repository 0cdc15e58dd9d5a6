import { err, ok, type Result } from 'neverthrow';
import {
  type Demand,
  demandOf,
  minus,
  noDemand,
  plus,
  quotaOf,
  takeDispatch,
} from '../../jobs/admission/namespace-quota.js';
import type { DispatchRateExceeded } from '../../jobs/errors.js';
import { jobs } from '../../jobs/job-record.js';
import { dispatchRates, type QuotaUsage, quotaUsages } from '../../jobs/namespaces/namespace.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Settings } from '../../settings.js';
import type { Instant } from '../../shared/instant.js';
import type { Reaction } from './reaction.js';

/**
 * The sums of what the jobs of each namespace request. If they are older than the jobs were before the write, these were written without
 * them, and all sums are computed again.
 */
export const quotasReaction: Reaction = {
  tables: [jobs],
  react: (tx, changes) => {
    if (tx.settings.jobs.quotas.length === 0) return;
    if (tx.tableIndex(quotaUsages) < (changes.indexBefore(jobs) ?? 0)) return countAnew(tx);
    const differences = new Map<string, Demand>();
    for (const { before, after, row } of changes.of(jobs)) {
      const { Namespace } = row;
      const gone = before === undefined ? noDemand : demandOf(before);
      const come = after === undefined ? noDemand : demandOf(after);
      differences.set(Namespace, plus(differences.get(Namespace) ?? noDemand, minus(come, gone)));
    }
    for (const [namespace, difference] of differences) {
      putUsage(tx, namespace, plus(demandFrom(tx.get(quotaUsages, [namespace])?.record), difference));
    }
  },
};

function countAnew(view: WriteView): void {
  for (const { record } of view.list(quotaUsages)) view.remove(quotaUsages, [record.Namespace]);
  const demands = new Map<string, Demand>();
  for (const { record } of view.list(jobs)) {
    demands.set(record.Namespace, plus(demands.get(record.Namespace) ?? noDemand, demandOf(record)));
  }
  for (const [namespace, demand] of demands) putUsage(view, namespace, demand);
}

/** The total request of a namespace's live jobs. Read it before the transaction changes any job. */
export function usageOf(view: ReadView, namespace: string): Demand {
  if (view.tableIndex(quotaUsages) >= view.tableIndex(jobs)) {
    return demandFrom(view.get(quotaUsages, [namespace])?.record);
  }
  const present = view.list(jobs, { prefix: [namespace] });
  return present.reduce((sum, { record }) => plus(sum, demandOf(record)), noDemand);
}

function demandFrom(usage: QuotaUsage | undefined): Demand {
  return usage === undefined
    ? noDemand
    : { jobs: usage.Jobs, cpu: usage.CPU, cores: usage.Cores, memoryMB: usage.MemoryMB };
}

function putUsage(
  view: WriteView,
  namespace: string,
  { jobs: Jobs, cpu: CPU, cores: Cores, memoryMB: MemoryMB }: Demand,
): void {
  view.put(quotaUsages, { Namespace: namespace, Jobs, CPU, Cores, MemoryMB });
}

/** Counts a dispatch towards the namespace's rate limit, if it has one. */
export function countDispatch(
  tx: WriteView & { readonly now: Instant; readonly settings: Settings },
  namespace: string,
): Result<void, DispatchRateExceeded> {
  const perMinute = quotaOf(tx.settings.jobs.quotas, namespace)?.dispatchesPerMinute;
  if (perMinute === undefined) return ok(undefined);
  const until = tx.get(dispatchRates, [namespace])?.record.Until ?? 0;
  const taken = takeDispatch({ namespace, perMinute }, until, tx.now);
  if ('type' in taken) return err(taken);
  tx.put(dispatchRates, { Namespace: namespace, Until: taken.until });
  return ok(undefined);
}
