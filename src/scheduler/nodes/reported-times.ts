import { type Instant, instantFromUnixNanos, isoFromInstant } from '../../shared/instant.js';
import type { Allocation, TaskState } from '../allocation.js';

/**
 * Task states as a node reports them, with the moments of their starts and ends brought into the life of the allocation: not before its
 * creation and not after `now`. Delays of reschedules, health and drains are counted from them, and the clock of the node may be
 * wrong by days.
 */
export function withTimesInLife(
  states: Readonly<Record<string, TaskState>>,
  { CreateTime }: Pick<Allocation, 'CreateTime'>,
  now: Instant,
): Readonly<Record<string, TaskState>> {
  const created = instantFromUnixNanos(CreateTime);
  const inLife = (written: string | null): string | null => {
    if (written === null) return null;
    const at = Date.parse(written);
    // The end of the life comes first: after a step back of the server's clock it may lie before the creation.
    const nearest = Math.min(now, Math.max(created, at));
    return nearest === at ? written : isoFromInstant(nearest);
  };
  return Object.fromEntries(
    Object.entries(states).map(([task, state]) => {
      const { StartedAt, LastRestart, FinishedAt } = state;
      const times = { StartedAt: inLife(StartedAt), LastRestart: inLife(LastRestart), FinishedAt: inLife(FinishedAt) };
      return [task, { ...state, ...times }];
    }),
  );
}
