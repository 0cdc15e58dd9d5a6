import type { Allocation } from '../allocation.js';
import { descriptions, type Intents, without } from './intents.js';
import { byIndex, NameIndex } from './names.js';
import type { GroupSets } from './situation.js';

interface SurplusRequest {
  readonly jobId: string;
  readonly group: string;
  readonly count: number;
  readonly sets: GroupSets;
  readonly names: NameIndex;
  readonly canaries: readonly Allocation[];
  /** Canaries that await promotion: they do not count towards the group's count. */
  readonly canarying: boolean;
}

/**
 * Stops allocations beyond the group's count: first those whose canary was promoted, then migrating ones, then the highest names. Returns the
 * stopped allocations.
 */
export function stopSurplus(request: SurplusRequest, intents: Intents): readonly Allocation[] {
  const { sets, count, canarying, canaries } = request;
  const candidates = canarying ? without(sets.untainted, canaries) : sets.untainted;
  const known = candidates.filter(({ ClientStatus }) => ClientStatus !== 'unknown');
  const surplus = known.length + sets.migrating.length - count;
  if (surplus <= 0) return [];
  const stopped = chosen(request, candidates, surplus);
  intents.stopAll(stopped, descriptions.notNeeded);
  return stopped;
}

function chosen(request: SurplusRequest, candidates: readonly Allocation[], surplus: number): readonly Allocation[] {
  const { sets, names, canaries, canarying, jobId, group, count } = request;
  const live = candidates.filter(({ DesiredStatus }) => DesiredStatus === 'run');
  const stopped: Allocation[] = [];
  const stop = (from: readonly Allocation[], isMeant: (allocation: Allocation) => boolean): readonly Allocation[] => {
    const meant = from.filter(isMeant).slice(0, surplus - stopped.length);
    stopped.push(...meant);
    return meant;
  };
  if (!canarying) {
    const replaced = new Set(canaries.map(({ Name }) => Name));
    stop(without(live, canaries), ({ Name }) => replaced.has(Name));
  }
  const moving = new NameIndex(jobId, group, count, sets.migrating).highest(surplus - stopped.length);
  for (const { Name } of stop(sets.migrating, ({ Name }) => moving.has(Name))) names.release(Name);
  const highest = names.highest(surplus - stopped.length);
  stop(without(live, stopped), ({ Name }) => highest.has(Name));
  stop(
    [...without(live, stopped)].sort((left, right) => byIndex(right, left)),
    () => true,
  );
  return stopped;
}
