import type { Labels, MetricFamily, MetricName } from '../metrics/instruments.js';

/** Label values come from closed sets; never an id, a URL or a name. */
export type MetricLabels = Labels;

/**
 * Where measurements go; `instruments` says what each name means. A counter adds, a histogram records one value, a gauge replaces.
 * Calls must not throw.
 */
export interface Observer {
  count(name: MetricName, amount: number, labels: MetricLabels): void;
  record(name: MetricName, value: number, labels: MetricLabels): void;
  gauge(name: MetricName, value: number, labels: MetricLabels): void;
  /** What was measured since the process started, for an observer that keeps it: `/v1/metrics` shows it. */
  families?(): readonly MetricFamily[];
}
