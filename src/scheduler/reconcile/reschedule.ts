import type { ReschedulePolicy } from '../../jobs/document/policies.js';
import { type Instant, instantFromUnixNanos, unixNanosFromInstant } from '../../shared/instant.js';
import type { Allocation, RescheduleTracker } from '../allocation.js';

export type RescheduleVerdict =
  | { readonly when: 'now' }
  | { readonly when: 'later'; readonly at: Instant }
  | { readonly when: 'never' };

/** A moment this close counts as reached, so that a timer that fires early does not start another wait. */
const window = 1000;
const rememberedWhenUnlimited = 5;

/** Whether and when a failed or lost allocation gets a replacement by its group's policy. */
export function decideReschedule(
  allocation: Allocation,
  policy: ReschedulePolicy | null,
  evaluationId: string,
  now: Instant,
): RescheduleVerdict {
  if (allocation.ClientStatus !== 'failed' && allocation.ClientStatus !== 'lost') return { when: 'never' };
  if (allocation.DesiredTransition.ForceReschedule === true) return { when: 'now' };
  if (policy === null || (policy.Attempts <= 0 && !policy.Unlimited)) return { when: 'never' };
  const failedAt = failureTime(allocation);
  const delay = nextDelayNanos(allocation, policy, failedAt);
  if (!policy.Unlimited && attemptsWithin(allocation, policy.Interval, failedAt) >= policy.Attempts)
    return { when: 'never' };
  const at = failedAt + delay / 1_000_000;
  if (allocation.FollowupEvalID === evaluationId || at - now <= window) return { when: 'now' };
  return !allocation.FollowupEvalID ? { when: 'later', at } : { when: 'never' };
}

/** The tracker that a replacement inherits: its predecessor's recent events and this one. */
export function trackerAfterReschedule(
  previous: Allocation,
  policy: ReschedulePolicy | null,
  now: Instant,
): RescheduleTracker {
  const nowNanos = unixNanosFromInstant(now);
  const events = previous.RescheduleTracker?.Events ?? [];
  const kept =
    policy === null || policy.Unlimited
      ? events.slice(-rememberedWhenUnlimited)
      : events.filter((event) => nowNanos - event.RescheduleTime <= policy.Interval);
  const delay = policy === null ? 0 : nextDelayNanos(previous, policy, failureTime(previous));
  const event = { RescheduleTime: nowNanos, PrevAllocID: previous.ID, PrevNodeID: previous.NodeID, Delay: delay };
  return { Events: [...kept, event], LastReschedule: 'ok' };
}

function failureTime(allocation: Allocation): Instant {
  let latest = 0;
  for (const state of Object.values(allocation.TaskStates ?? {})) {
    if (state.FinishedAt !== null) latest = Math.max(latest, Date.parse(state.FinishedAt));
  }
  return latest > 0 ? latest : instantFromUnixNanos(allocation.ModifyTime);
}

function attemptsWithin(allocation: Allocation, interval: number, failedAt: Instant): number {
  const failedNanos = unixNanosFromInstant(failedAt);
  return (allocation.RescheduleTracker?.Events ?? []).filter((event) => failedNanos - event.RescheduleTime < interval)
    .length;
}

function nextDelayNanos(allocation: Allocation, policy: ReschedulePolicy, failedAt: Instant): number {
  const events = allocation.RescheduleTracker?.Events ?? [];
  const last = events.at(-1);
  if (last === undefined || policy.DelayFunction === 'constant') return policy.Delay;
  const delay = grownDelay(
    events.map((event) => event.Delay),
    policy,
  );
  if (policy.MaxDelay <= 0 || delay <= policy.MaxDelay) return delay;
  const sinceLast = unixNanosFromInstant(failedAt) - last.RescheduleTime;
  return sinceLast > policy.MaxDelay ? policy.Delay : policy.MaxDelay;
}

function grownDelay(delays: readonly number[], policy: ReschedulePolicy): number {
  const last = delays.at(-1) ?? policy.Delay;
  if (policy.DelayFunction === 'exponential') return last * 2;
  const before = delays.at(-2);
  if (before === undefined || (last === policy.Delay && before === policy.MaxDelay)) return policy.Delay;
  return last + before;
}
