import type { ReschedulePolicy } from '../../../src/jobs/document/policies.js';
import type { RescheduleEvent, TaskState } from '../../../src/scheduler/allocation.js';
import type { Reschedulable } from '../../../src/scheduler/reconcile/reschedule.js';
import { isoFromInstant, unixNanosFromInstant } from '../../../src/shared/instant.js';

export const second = 1_000_000_000;
export const start = Date.UTC(2026, 0, 1);
/** Milliseconds since 1970 of so many seconds after the start. */
export const at = (seconds: number): number => start + seconds * 1000;

type Policy = Partial<Omit<ReschedulePolicy, 'Delay' | 'MaxDelay' | 'Interval'>> & {
  /** Seconds, as the others here. */
  readonly delay: number;
  readonly max?: number;
  readonly interval?: number;
};

export function policyOf({ delay, max = 0, interval = 0, ...more }: Policy): ReschedulePolicy {
  return {
    Attempts: 0,
    Unlimited: true,
    DelayFunction: 'constant',
    Delay: delay * second,
    MaxDelay: max * second,
    Interval: interval * second,
    ...more,
  };
}

/** Its past replacements as pairs of the second at which each was made and the seconds that it had been delayed by. */
export function failed(
  finishedAt: number,
  past: readonly (readonly [number, number])[] = [],
  more: Partial<Reschedulable> = {},
): Reschedulable & { readonly ID: string; readonly NodeID: string } {
  const Events = past.map(
    ([seconds, delay]): RescheduleEvent => ({
      RescheduleTime: unixNanosFromInstant(at(seconds)),
      Delay: delay * second,
      PrevAllocID: 'before',
      PrevNodeID: 'node',
    }),
  );
  return {
    ID: 'a',
    NodeID: 'n',
    ClientStatus: 'failed',
    DesiredStatus: 'run',
    DesiredTransition: {},
    TaskStates: { main: { State: 'dead', Failed: true, FinishedAt: isoFromInstant(at(finishedAt)) } as TaskState },
    ModifyTime: 0,
    JobType: 'service',
    ...(past.length === 0 ? {} : { RescheduleTracker: { Events, LastReschedule: 'ok' as const } }),
    ...more,
  } as Reschedulable & { ID: string; NodeID: string };
}
