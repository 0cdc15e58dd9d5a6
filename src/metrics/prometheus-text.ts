import { type Instrument, instruments, type Measured, type MetricFamily, type MetricLabels } from './instruments.js';

/**
 * Families in the Prometheus text format. Names follow the OpenTelemetry translation rules: underscores for dots,
 * units after the name, `_total` after counters.
 */
export function prometheusText(families: readonly MetricFamily[]): string {
  return families
    .filter(({ measured }) => measured.length > 0)
    .map(({ name, measured }) => {
      const instrument: Instrument = instruments[name];
      const translated = translatedName(name, instrument);
      const head = `# HELP ${translated} ${instrument.description}\n# TYPE ${translated} ${instrument.kind}\n`;
      return head + measured.map((one) => lines(translated, instrument, one)).join('');
    })
    .join('');
}

/** By unit. */
const suffixes: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

function translatedName(name: string, { kind, unit }: Instrument): string {
  const base = name.replaceAll('.', '_') + (suffixes[unit] ?? '');
  return kind === 'counter' ? `${base}_total` : base;
}

function lines(name: string, { kind, buckets = [] }: Instrument, measured: Measured): string {
  const { labels, value, count = 0, atMost = [] } = measured;
  if (kind !== 'histogram') return `${name}${braces(labels)} ${value}\n`;
  const sorted = buckets.map((bound, at) => bucket(name, labels, `${bound}`, atMost[at] ?? 0));
  const all = bucket(name, labels, '+Inf', count);
  return `${sorted.join('')}${all}${name}_sum${braces(labels)} ${value}\n${name}_count${braces(labels)} ${count}\n`;
}

function bucket(name: string, labels: MetricLabels, le: string, count: number): string {
  return `${name}_bucket${braces({ ...labels, le })} ${count}\n`;
}

function braces(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name.replaceAll('.', '_')}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
