import type { MetricFamily, MetricLabels, MetricName } from '../metrics/instruments.js';

export type { MetricLabels } from '../metrics/instruments.js';

/**
 * Receives measurements; `instruments` describes each name. A counter adds, a histogram records one value, a gauge replaces.
 * Its methods must not throw.
 */
export interface Observer {
  /** Adds to a counter. */
  count(name: MetricName, amount: number, labels: MetricLabels): void;
  /** Adds one value to a histogram, in the unit of the instrument. */
  record(name: MetricName, value: number, labels: MetricLabels): void;
  /** Replaces the value of a gauge, in the unit of the instrument. */
  gauge(name: MetricName, value: number, labels: MetricLabels): void;
  /** All measurements since the process started, if the observer keeps them: `/v1/metrics` returns them. */
  families?(): readonly MetricFamily[];
}
