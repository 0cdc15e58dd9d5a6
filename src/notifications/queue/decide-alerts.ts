import type { Milliseconds } from '../../shared/duration.js';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import type { FailureClass } from '../delivery/classify-failure.js';
import { isGivenUp, type Outcome } from '../delivery/transition-delivery.js';
import type { AlertType } from '../events/event-type.js';
import type { QueueRecord } from './queue-record.js';

export interface Alert {
  readonly type: AlertType;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The alerts of a write to the configuration's owner, and the row that records them. */
export function decideAlerts(
  outcomes: readonly Outcome[],
  row: QueueRecord,
  { now, after, autoDisabled }: { readonly now: Instant; readonly after: Milliseconds; readonly autoDisabled: boolean },
): { readonly alerts: readonly Alert[]; readonly row: QueueRecord } {
  const alerts: Alert[] = [];
  const { failingSince, alertedSince, configurationId } = row;
  const about = { configuration_id: configurationId };
  let next = row;
  if (failingSince === null && alertedSince !== undefined) {
    const { alertedSince: _told, ...rest } = row;
    next = rest;
    alerts.push({
      type: 'signalbox.destination.recovered',
      message: 'A notification destination works again',
      data: { ...about, tone: 'success', failed_since: isoFromInstant(alertedSince) },
    });
  }
  const lastFailure = outcomes.findLast(({ attempt }) => attempt?.failure)?.attempt?.failure;
  if (failingSince !== null && alertedSince === undefined && lastFailure && now - failingSince >= after) {
    next = { ...row, alertedSince: failingSince };
    alerts.push({
      type: 'signalbox.destination.failing',
      message: 'A notification destination keeps failing',
      data: {
        ...about,
        tone: 'failure',
        reason: lastFailure.message,
        failure: lastFailure.class,
        failing_since: isoFromInstant(failingSince),
      },
    });
  }
  alerts.push(...alertsOfGivenUp(outcomes.filter(isReported), configurationId));
  if (autoDisabled) {
    alerts.push({
      type: 'signalbox.configuration.disabled',
      message: 'A notification configuration was disabled: it failed for too long',
      data: { ...about, tone: 'failure' },
    });
  }
  return { alerts, row: next };
}

/** Failed alerts cause no further alerts, to avoid an endless loop, and nobody misses a sample. */
function isReported(outcome: Outcome): boolean {
  const { trigger, sample } = outcome.after;
  return isGivenUp(outcome) && sample !== true && !trigger.startsWith('signalbox.');
}

/** One alert for all deliveries given up in one write. */
function alertsOfGivenUp(dead: readonly Outcome[], configurationId: string): Alert[] {
  const [first] = dead;
  if (first === undefined) return [];
  return [
    {
      type: 'signalbox.deliveries.dead',
      message: dead.length === 1 ? 'A notification was given up' : `${dead.length} notifications were given up`,
      data: {
        configuration_id: configurationId,
        tone: 'failure',
        count: dead.length,
        delivery_id: first.after.id,
        reason: first.after.attempts.at(-1)?.failure?.message ?? 'It was too old to be sent.',
      },
    },
  ];
}

/** The stored state of a configuration's deliveries. Times are queue time. */
export interface DestinationHealth {
  /** Whether a user has paused it: only redeliveries are sent. */
  readonly paused: boolean;
  /**
   * `closed`: everything is sent. `open`: the destination kept failing; nothing is sent until `nextProbeAt`. `half_open`: the next
   * delivery is sent as a trial.
   */
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** When the breaker last left `closed`; null while it is closed. */
  readonly breakerSince: Instant | null;
  /** When the destination is tried again; null while the breaker is closed. */
  readonly nextProbeAt: Instant | null;
  /** Consecutive failures while the breaker is closed. */
  readonly failures: number;
  /** First failure since the last success. */
  readonly failingSince: Instant | null;
  /**
   * The failure on this side that keeps deliveries from the destination: `proxy_failed` or `transform_failed`. Null when the last
   * attempt reached it.
   */
  readonly hinderedBy: FailureClass | null;
  /** The first failure of this kind. */
  readonly hinderedSince: Instant | null;
  /** Approximate number of deliveries that wait for their first attempt because events arrive faster than they are sent; 0 when small. */
  readonly backlog: number;
}

export function healthOf(
  { breaker, failingSince, pausedAt, hindered, backlog = 0 }: QueueRecord,
  now: Instant,
): DestinationHealth {
  const held = { hinderedBy: hindered?.by ?? null, hinderedSince: hindered?.since ?? null };
  const common = { paused: pausedAt !== undefined, failingSince, ...held, backlog };
  if (breaker.type === 'closed') {
    return { ...common, breaker: 'closed', breakerSince: null, nextProbeAt: null, failures: breaker.failures };
  }
  const state = breaker.until > now ? 'open' : 'half_open';
  return { ...common, breaker: state, breakerSince: breaker.since, nextProbeAt: breaker.until, failures: 0 };
}
