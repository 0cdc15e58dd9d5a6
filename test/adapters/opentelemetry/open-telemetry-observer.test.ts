import type { Meter } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { openTelemetryObserver } from '../../../adapters/opentelemetry/index.js';

/** Notes what a meter is asked for. The package has the interface only: what keeps the values is the application's. */
function notingMeter(): { readonly meter: Meter; readonly noted: unknown[] } {
  const noted: unknown[] = [];
  const make = (kind: string) => (name: string, options: unknown) => {
    noted.push([kind, name, options]);
    const note = (value: number, labels: unknown): void => void noted.push([name, value, labels]);
    return { add: note, record: note };
  };
  const meter = { createCounter: make('counter'), createGauge: make('gauge'), createHistogram: make('histogram') };
  return { meter: meter as unknown as Meter, noted };
}

it('makes each instrument once, with unit, description and buckets', () => {
  const { meter, noted } = notingMeter();
  const observer = openTelemetryObserver({ meter });
  observer.count('signalbox.evaluations', 1, { status: 'complete' });
  observer.count('signalbox.evaluations', 2, { status: 'failed' });
  observer.gauge('signalbox.notification.queues', 3, {});
  observer.record('signalbox.evaluation.duration', 0.2, {});
  expect(noted).toEqual([
    ['counter', 'signalbox.evaluations', { unit: '{evaluation}', description: expect.any(String) }],
    ['signalbox.evaluations', 1, { status: 'complete' }],
    ['signalbox.evaluations', 2, { status: 'failed' }],
    ['gauge', 'signalbox.notification.queues', { unit: '{queue}', description: expect.any(String) }],
    ['signalbox.notification.queues', 3, {}],
    [
      'histogram',
      'signalbox.evaluation.duration',
      {
        unit: 's',
        description: expect.any(String),
        advice: {
          explicitBucketBoundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
        },
      },
    ],
    ['signalbox.evaluation.duration', 0.2, {}],
  ]);
});
