import type { Counter, Gauge, Histogram, Meter } from '@opentelemetry/api';
import { type Instrument, instruments, type MetricName } from '../../src/metrics/instruments.js';
import { checkOptions } from '../../src/options/check-options.js';
import { port } from '../../src/options/option-kinds.js';
import type { Observer } from '../../src/ports/observer.js';

/** The OpenTelemetry meter to use. */
export interface OpenTelemetrySettings {
  /** `metrics.getMeter('signalbox')` of `@opentelemetry/api`. */
  readonly meter: Meter;
}

/**
 * Passes measurements to an OpenTelemetry meter, under the names of `instruments` with their units, descriptions and
 * recommended buckets. The application's SDK decides where they are exported.
 */
export function openTelemetryObserver(settings: OpenTelemetrySettings): Observer {
  checkOptions<OpenTelemetrySettings>('openTelemetryObserver', settings, {
    meter: port("a meter, such as metrics.getMeter('signalbox')", 'createCounter', 'createGauge', 'createHistogram'),
  });
  const { meter } = settings;
  const made = new Map<MetricName, Counter | Gauge | Histogram>();
  const instrument = <T extends Counter | Gauge | Histogram>(name: MetricName, make: (spec: Instrument) => T): T => {
    const known = made.get(name);
    if (known !== undefined) return known as T;
    const fresh = make(instruments[name]);
    made.set(name, fresh);
    return fresh;
  };
  return {
    count: (name, amount, labels) =>
      instrument(name, (spec) => meter.createCounter(name, about(spec))).add(amount, labels),
    gauge: (name, value, labels) =>
      instrument(name, (spec) => meter.createGauge(name, about(spec))).record(value, labels),
    record: (name, value, labels) => {
      const histogram = instrument(name, (spec) => {
        const advice = { explicitBucketBoundaries: [...(spec.buckets ?? [])] };
        return meter.createHistogram(name, { ...about(spec), advice });
      });
      histogram.record(value, labels);
    },
  };
}

function about({ unit, description }: Instrument): { readonly unit: string; readonly description: string } {
  return { unit, description };
}
