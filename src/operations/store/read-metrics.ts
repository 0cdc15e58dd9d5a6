import type { ResultAsync } from 'neverthrow';
import { instruments, type Measured, type MetricFamily, type MetricName } from '../../metrics/instruments.js';
import { prometheusText } from '../../metrics/prometheus-text.js';
import type { StorageError } from '../../ports/storage.js';
import { blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import type { Steps } from '../../scheduler/steps.js';
import { pagesOf } from '../books/pages.js';
import type { EngineContext } from '../context/engine-context.js';
import { readInTurns } from '../context/steps-in-turns.js';

/** One sample of a gauge. */
interface Gauge {
  readonly Name: string;
  readonly Value: number;
  readonly Labels: Readonly<Record<string, string>>;
}

/** A sum since the start of the process. */
interface MetricSum {
  readonly Name: string;
  readonly Count: number;
  readonly Sum: number;
  readonly Mean: number;
  readonly Labels: Readonly<Record<string, string>>;
}

export interface Metrics {
  /** UTC. */
  readonly Timestamp: string;
  readonly Gauges: readonly Gauge[];
  readonly Points: readonly never[];
  readonly Counters: readonly MetricSum[];
  /** Durations are in seconds. */
  readonly Samples: readonly MetricSum[];
}

/**
 * The state of the scheduler and the observer's measurements; with `prometheus` in its text format. It contains no data of
 * individual jobs or destinations.
 */
export function readMetrics(
  context: EngineContext,
  _caller: unknown,
  { format }: { readonly format?: 'json' | 'prometheus' | undefined },
): ResultAsync<Metrics | string, StorageError> {
  return stateOf(context).map((state) => {
    const families = [...state, ...(context.observer.families?.() ?? [])];
    return format === 'prometheus' ? prometheusText(families) : metricsFrom(families, context.clock.now());
  });
}

/** The gauges that are read on request. */
function stateOf(context: EngineContext): ResultAsync<readonly MetricFamily[], StorageError> {
  return readInTurns(context, function* (current): Steps<readonly MetricFamily[]> {
    const { index } = current();
    const ready = new Set<string>();
    for (const page of pagesOf(current, nodes, { size, keyOf: ({ ID }) => [ID] })) {
      for (const { ID, Status } of page) if (Status === 'ready') ready.add(ID);
      yield;
    }
    const blocked = new Set<string>();
    for (const page of pagesOf(current, blockedRequirements, { size, keyOf: (one) => [one.ID, one.requirement] })) {
      for (const { ID } of page) blocked.add(ID);
      yield;
    }
    let pending = 0;
    const keyOf = (one: Evaluation) => ['pending', one.Namespace, -one.Priority, one.CreateIndex, one.ID] as const;
    for (const page of pagesOf(current, evaluations, { index: 'due', prefix: ['pending'], size, keyOf })) {
      pending += page.length;
      yield;
    }
    return [
      figure('signalbox.store.index', index),
      figure('signalbox.queries.waiting', context.parked.size),
      figure('signalbox.nodes.ready', ready.size),
      figure('signalbox.evaluations.blocked', blocked.size),
      figure('signalbox.evaluations.pending', pending),
    ];
  });
}

/** Records counted per step. */
const size = 64;

function figure(name: MetricName, value: number): MetricFamily {
  return { name, measured: [{ labels: {}, value }] };
}

function metricsFrom(families: readonly MetricFamily[], now: number): Metrics {
  const each = <T>(kind: 'gauge' | 'counter' | 'histogram', form: (name: string, measured: Measured) => T): T[] =>
    families
      .filter(({ name }) => instruments[name].kind === kind)
      .flatMap(({ name, measured }) => measured.map((one) => form(name, one)));
  return {
    Timestamp: new Date(now).toISOString(),
    Gauges: each('gauge', (Name, { labels, value }) => ({ Name, Value: value, Labels: labels })),
    Points: [],
    Counters: each('counter', (Name, { labels, value }) => sum(Name, labels, value, value)),
    Samples: each('histogram', (Name, { labels, value, count = 0 }) => sum(Name, labels, value, count)),
  };
}

function sum(Name: string, Labels: Measured['labels'], value: number, count: number): MetricSum {
  return { Name, Count: count, Sum: value, Mean: count === 0 ? 0 : value / count, Labels };
}
