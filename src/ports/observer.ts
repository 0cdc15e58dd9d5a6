/** Label values come from closed sets; never an id, a URL or a name. */
export type MetricLabels = Readonly<Record<string, string>>;

/** Where metrics go. A counter adds, a histogram records one value, a gauge replaces. Calls must not throw. */
export interface Observer {
  count(name: string, amount: number, labels: MetricLabels): void;
  record(name: string, value: number, labels: MetricLabels): void;
  gauge(name: string, value: number, labels: MetricLabels): void;
}
