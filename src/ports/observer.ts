import type { MetricFamily, MetricLabels, MetricName } from '../metrics/instruments.js';

export type { MetricLabels } from '../metrics/instruments.js';

/**
 * Where measurements go; `instruments` says what each name means. A counter adds, a histogram records one value, a gauge replaces.
 * Calls must not throw.
 */
export interface Observer {
  /** Adds to a counter. */
  count(name: MetricName, amount: number, labels: MetricLabels): void;
  /** Adds one value to a histogram, in the unit of the instrument. */
  record(name: MetricName, value: number, labels: MetricLabels): void;
  /** Replaces the value of a gauge, in the unit of the instrument. */
  gauge(name: MetricName, value: number, labels: MetricLabels): void;
  /** What was measured since the process started, for an observer that keeps it: `/v1/metrics` shows it. */
  families?(): readonly MetricFamily[];
}
