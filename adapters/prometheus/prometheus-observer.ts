import {
  type Instrument,
  instruments,
  type Measured,
  type MetricFamily,
  type MetricLabels,
  type MetricName,
} from '../../src/metrics/instruments.js';
import type { Observer } from '../../src/ports/observer.js';

/**
 * The maximum number of label sets per instrument, in case label values are not from a closed set. Further ones are dropped.
 */
const mostSeries = 2000;

interface Series {
  readonly labels: MetricLabels;
  value: number;
  count: number;
  /** The number of values in each bucket; the last bucket is for values beyond all bounds. Absent without buckets. */
  readonly buckets: number[] | undefined;
}

/** Keeps measurements in memory for `GET /v1/metrics?format=prometheus`. They start from zero after a restart, as Prometheus expects. */
export function prometheusObserver(): Required<Observer> {
  const kept = new Map<MetricName, Map<string, Series>>();

  const seriesOf = (name: MetricName, labels: MetricLabels): Series | undefined => {
    const ofName = kept.get(name) ?? new Map<string, Series>();
    kept.set(name, ofName);
    const key = keyOf(labels);
    const known = ofName.get(key);
    if (known !== undefined || ofName.size >= mostSeries) return known;
    const { buckets }: Instrument = instruments[name];
    const series = { labels, value: 0, count: 0, buckets: buckets && new Array<number>(buckets.length + 1).fill(0) };
    ofName.set(key, series);
    return series;
  };

  for (const [name, { initial = [] }] of Object.entries<Instrument>(instruments)) {
    for (const labels of initial) seriesOf(name as MetricName, labels);
  }

  return {
    count: (name, amount, labels) => {
      const series = seriesOf(name, labels);
      if (series !== undefined) series.value += amount;
    },
    gauge: (name, value, labels) => {
      const series = seriesOf(name, labels);
      if (series !== undefined) series.value = value;
    },
    record: (name, value, labels) => {
      const series = seriesOf(name, labels);
      const { buckets: bounds = [] }: Instrument = instruments[name];
      if (series === undefined || !Number.isFinite(value)) return;
      series.value += value;
      series.count += 1;
      const at = bounds.findIndex((bound) => value <= bound);
      const into = at === -1 ? bounds.length : at;
      if (series.buckets !== undefined) series.buckets[into] = (series.buckets[into] ?? 0) + 1;
    },
    families: () =>
      [...kept].map(([name, series]): MetricFamily => ({ name, measured: [...series.values()].map(measured) })),
  };
}

function measured({ labels, value, count, buckets }: Series): Measured {
  if (buckets === undefined) return { labels, value };
  let sum = 0;
  const atMost = buckets.slice(0, -1).map((inBucket) => (sum += inBucket));
  return { labels, value, count, atMost };
}

/** Callers always give the labels of an instrument in the same order. */
function keyOf(labels: MetricLabels): string {
  let key = '';
  for (const name in labels) key += `${labels[name]}\0`;
  return key;
}
