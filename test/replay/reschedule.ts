import type { ReschedulePolicy } from '../../src/jobs/document/policies.js';
import {
  type Allocation,
  noTransition,
  type RescheduleEvent,
  type RescheduleTracker,
} from '../../src/scheduler/allocation.js';
import {
  failureTime,
  hasAttemptsLeft,
  nextDelay,
  nextReschedule,
  type Reschedulable,
  rescheduleAfter,
  trackerAfterReschedule,
} from '../../src/scheduler/reconcile/reschedule.js';
import { instantFromUnixNanos, unixNanosFromInstant } from '../../src/shared/instant.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface NextVector extends Vector {
  readonly kind: 'next';
  readonly input: {
    readonly client_status: Allocation['ClientStatus'];
    readonly desired_status: Allocation['DesiredStatus'];
    readonly events: readonly RecordedEvent[] | null;
    /** RFC 3339, as all times here. */
    readonly finished_at: string | null;
    readonly modify_time: string;
    readonly job_type: Allocation['JobType'];
    readonly last_reschedule: string;
    readonly policy: ReschedulePolicy;
    readonly transition_reschedule: boolean | null;
  };
  readonly answer: Readonly<Record<string, unknown>>;
}

interface ChainVector extends Vector {
  readonly kind: 'chain';
  readonly input: {
    readonly job_type: Allocation['JobType'];
    readonly policy: ReschedulePolicy;
    /** How long each run lasts, over and over. */
    readonly run_seconds: readonly number[];
    readonly start: string;
  };
  readonly answer: readonly unknown[];
}

interface RecordedEvent {
  readonly Delay: number;
  readonly RescheduleTime: string;
}

type Subject = Reschedulable & Pick<Allocation, 'ID' | 'NodeID'>;

/** When a replacement is due after one failure, or after each of a row of failures. */
export const play: Play<NextVector | ChainVector> = (vector) =>
  vector.kind === 'next'
    ? firstDifference(nextAnswer(vector.input), vector.answer)
    : firstDifference(chainAnswer(vector.input), vector.answer);

/** The recorded decision is asked this long after the others, too. */
const laterBy = 10 * 60_000;

function nextAnswer(input: NextVector['input']): Readonly<Record<string, unknown>> {
  const { policy } = input;
  const subject = subjectOf(input);
  const failedAt = failureTime(subject);
  const next = nextReschedule(subject, policy);
  // The recorded answer names a time wherever a policy is set, ours only where a replacement can come.
  const later = rescheduleAfter(subject, policy, asked + laterBy);
  const left = hasAttemptsLeft(subject, policy, failedAt);
  return {
    attempted: policy.Attempts > 0 ? attemptsWithin(subject, policy, failedAt) : 0,
    attempts: policy.Attempts,
    by_time_plus_10m: { eligible: later.eligible, next_time: timeOf(later.at) },
    eligible: next?.eligible ?? false,
    last_event_time: timeOf(failedAt),
    next_delay: nextDelay(subject, policy),
    next_time: next === undefined ? null : timeOf(next.at),
    reschedule_eligible: left,
    should_reschedule: input.desired_status === 'run' && input.client_status === 'failed' && left,
  };
}

const asked = Date.parse('2024-05-06T07:08:09Z');

function attemptsWithin({ RescheduleTracker }: Subject, { Interval }: ReschedulePolicy, failedAt: number): number {
  const events = RescheduleTracker?.Events ?? [];
  return events.filter(({ RescheduleTime }) => unixNanosFromInstant(failedAt) - RescheduleTime < Interval).length;
}

const longest = 12;
const noEvents: RescheduleTracker = { Events: [], LastReschedule: '' };

function chainAnswer({ job_type, policy, run_seconds, start }: ChainVector['input']): readonly unknown[] {
  const steps: unknown[] = [];
  let started = Date.parse(start);
  let tracker: RescheduleTracker = noEvents;
  while (steps.length < longest) {
    const failedAt = started + (run_seconds[steps.length % run_seconds.length] ?? 0) * 1000;
    const subject = failedSubject(job_type, tracker, failedAt);
    const next = rescheduleAfter(subject, policy, failedAt);
    const step = {
      eligible: next.eligible,
      failed_at: timeOf(failedAt),
      next_delay: nextDelay(subject, policy),
      next_time: timeOf(next.at),
    };
    if (!next.eligible) return [...steps, step];
    tracker = trackerAfterReschedule(subject, policy, next.at);
    steps.push({ ...step, tracker_after: (tracker.Events ?? []).map(shownEvent) });
    started = next.at;
  }
  return steps;
}

function shownEvent({ Delay, RescheduleTime }: RescheduleEvent): RecordedEvent {
  return { Delay, RescheduleTime: timeOf(instantFromUnixNanos(RescheduleTime)) };
}

function failedSubject(JobType: Allocation['JobType'], tracker: RescheduleTracker, at: number): Subject {
  const input = { client_status: 'failed', desired_status: 'run', events: null, job_type: JobType } as const;
  const finished = {
    finished_at: timeOf(at),
    modify_time: timeOf(at),
    last_reschedule: '',
    transition_reschedule: null,
  };
  return { ...subjectOf({ ...input, ...finished, policy: nothing }), RescheduleTracker: tracker };
}

const nothing = {} as ReschedulePolicy;

function subjectOf(input: NextVector['input']): Subject {
  const { client_status, desired_status, finished_at, job_type, events, transition_reschedule } = input;
  return {
    ID: 'an-allocation',
    NodeID: 'a-node',
    ClientStatus: client_status,
    DesiredStatus: desired_status,
    DesiredTransition: { ...noTransition, Reschedule: transition_reschedule },
    JobType: job_type,
    ModifyTime: unixNanosFromInstant(Date.parse(input.modify_time)),
    TaskStates: { main: { FinishedAt: finished_at } } as unknown as NonNullable<Subject['TaskStates']>,
    RescheduleTracker: {
      Events: (events ?? []).map(({ Delay, RescheduleTime }) => ({
        ...{ Delay, RescheduleTime: unixNanosFromInstant(Date.parse(RescheduleTime)) },
        ...{ PrevAllocID: '', PrevNodeID: '' },
      })),
      LastReschedule: input.last_reschedule as 'ok',
    },
  };
}

/** RFC 3339 without a fraction. */
function timeOf(instant: number): string {
  return new Date(instant).toISOString().replace('.000Z', 'Z');
}
