import type { Milliseconds } from '../../shared/duration.js';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import { isGivenUp, type Outcome } from '../delivery/merge-outcome.js';
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

/** Failed alerts cause no further alerts, to avoid an endless loop. */
function isReported(outcome: Outcome): boolean {
  return isGivenUp(outcome) && !outcome.after.trigger.startsWith('signalbox.');
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
