import { instruments, type MetricFamily, type MetricLabels, type MetricName } from '../../metrics/instruments.js';
import type { Observer } from '../../ports/observer.js';
import { day, hour, type Milliseconds, minute, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';

/** What is kept in slots of time, and the labels by which series differ. */
const kept = {
  'http.server.request.duration': [],
  'signalbox.evaluation.duration': [],
  'signalbox.evaluations': ['status'],
  'signalbox.allocations': ['client_status'],
  'signalbox.deployments': ['status'],
  'signalbox.job.starts': ['reason'],
  'signalbox.loop.failures': [],
  'signalbox.function.runs': ['outcome'],
  'signalbox.function.attempt.lag': [],
  'signalbox.function.attempt.duration': [],
  'signalbox.notification.events': [],
  'signalbox.notification.deliveries': ['outcome'],
  'signalbox.notification.attempts': ['outcome'],
  'signalbox.notification.attempt.duration': [],
  'signalbox.notification.attempt.lag': [],
  'signalbox.notification.verifications': ['outcome'],
  'signalbox.notification.breaker.changes': ['to'],
} as const satisfies Partial<Record<MetricName, readonly string[]>>;

const ranges = { hour: { length: hour, step: 10 * second }, day: { length: day, step: 5 * minute } } as const;

/** The last hour in slots of 10 seconds, or the last day in slots of 5 minutes. */
type SeriesRange = keyof typeof ranges;

/** A measurement in slots of equal length, the oldest first. */
interface Series {
  readonly name: string;
  readonly unit: string;
  readonly labels: MetricLabels;
  /** The sum of a counter, or the number of recorded values of a histogram. */
  readonly counts: readonly number[];
  /** Of a histogram: quantiles in its unit, read from its buckets; 0 for an empty slot. */
  readonly p50?: readonly number[];
  readonly p95?: readonly number[];
}

/** What this process has measured over time. */
export interface TimeSeries {
  /** The beginning of the first slot, and milliseconds from slot to slot. */
  readonly from: Instant;
  readonly step: Milliseconds;
  readonly series: readonly Series[];
}

/** Of one series and one range: by the number of the slot, the sum or the counts of the buckets. */
type Slots = Map<number, number[]>;

interface Kept {
  readonly name: keyof typeof kept;
  readonly labels: MetricLabels;
  readonly buckets: readonly number[];
  readonly slots: Readonly<Record<SeriesRange, Slots>>;
}

/** Keeps what passes through, in slots of time. Nothing is stored: it begins with the process. */
export class SeriesObserver implements Observer {
  readonly #inner: Observer;
  readonly #now: () => Instant;
  readonly #series = new Map<string, Kept>();
  readonly families?: () => readonly MetricFamily[];

  constructor(inner: Observer, now: () => Instant) {
    this.#inner = inner;
    this.#now = now;
    if (inner.families !== undefined) this.families = () => inner.families?.() ?? [];
  }

  count(name: MetricName, amount: number, labels: MetricLabels): void {
    this.#inner.count(name, amount, labels);
    this.#add(name, labels, () => 0, amount);
  }

  record(name: MetricName, value: number, labels: MetricLabels): void {
    this.#inner.record(name, value, labels);
    this.#add(name, labels, (buckets) => bucketOf(buckets, value), 1);
  }

  gauge(name: MetricName, value: number, labels: MetricLabels): void {
    this.#inner.gauge(name, value, labels);
  }

  /** All series of a range, by name. */
  read(range: SeriesRange): TimeSeries {
    const { length, step } = ranges[range];
    const last = Math.floor(this.#now() / step);
    const first = last - length / step + 1;
    const numbers = Array.from({ length: length / step }, (_, at) => first + at);
    const series = [...this.#series.values()].map(({ name, labels, buckets, slots }): Series => {
      const found = numbers.map((number) => slots[range].get(number) ?? []);
      const counts = found.map((slot) => slot.reduce((sum, count) => sum + (count ?? 0), 0));
      const described = { name, unit: instruments[name].unit, labels, counts };
      if (instruments[name].kind !== 'histogram') return described;
      const at = (share: number) => found.map((slot) => quantile(slot, buckets, share));
      return { ...described, p50: at(0.5), p95: at(0.95) };
    });
    return { from: first * step, step, series: series.sort((one, other) => (one.name < other.name ? -1 : 1)) };
  }

  #add(name: MetricName, given: MetricLabels, slotOf: (buckets: readonly number[]) => number, amount: number): void {
    if (!isKept(name)) return;
    const [label] = kept[name];
    const value = label === undefined ? '' : (given[label] ?? '');
    const key = `${name} ${value}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      const labels = label === undefined ? {} : { [label]: value };
      series = { name, labels, buckets: instruments[name].buckets ?? [], slots: { hour: new Map(), day: new Map() } };
      this.#series.set(key, series);
    }
    const place = slotOf(series.buckets);
    const now = this.#now();
    addTo(series.slots.hour, ranges.hour, now, place, amount);
    addTo(series.slots.day, ranges.day, now, place, amount);
  }
}

/** A new slot takes the place of those that are too old. */
function addTo(
  slots: Slots,
  { length, step }: (typeof ranges)[SeriesRange],
  now: Instant,
  place: number,
  amount: number,
): void {
  const number = Math.floor(now / step);
  let slot = slots.get(number);
  if (slot === undefined) {
    slot = [];
    slots.set(number, slot);
    for (const known of slots.keys()) {
      if (slots.size <= length / step && known > number - length / step) break;
      slots.delete(known);
    }
  }
  slot[place] = (slot[place] ?? 0) + amount;
}

/** What passed through the observer of an engine. */
export function readSeries({ observer }: { readonly observer: Observer }, range: SeriesRange): TimeSeries {
  if (observer instanceof SeriesObserver) return observer.read(range);
  throw new TypeError('the observer of an engine keeps series');
}

function isKept(name: MetricName): name is keyof typeof kept {
  return Object.hasOwn(kept, name);
}

function bucketOf(buckets: readonly number[], value: number): number {
  const at = buckets.findIndex((bound) => value <= bound);
  return at === -1 ? buckets.length : at;
}

/** The upper bound of the bucket that has the quantile; of the last bucket, which has none, its lower bound. */
function quantile(slot: readonly number[], buckets: readonly number[], share: number): number {
  const total = slot.reduce((sum, count) => sum + (count ?? 0), 0);
  let sum = 0;
  for (const [at, count = 0] of slot.entries()) {
    sum += count;
    if (total > 0 && sum >= share * total) return buckets[at] ?? buckets.at(-1) ?? 0;
  }
  return 0;
}
