import type { ResultAsync } from 'neverthrow';
import { allowsArea } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { runs, type StoredRun } from '../../functions/run.js';
import {
  functionLabels,
  instruments,
  type Measured,
  type MetricFamily,
  type MetricName,
} from '../../metrics/instruments.js';
import { prometheusText } from '../../metrics/prometheus-text.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import type { Steps } from '../../scheduler/steps.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { EngineContext } from '../context/engine-context.js';
import { readInTurns } from '../context/steps-in-turns.js';
import { pagesOf } from '../records/pages.js';
import { storeFigures } from './store-figures.js';

/** One value at one time. */
interface Gauge {
  readonly Name: string;
  readonly Value: number;
  readonly Labels: Readonly<Record<string, string>>;
}

/** The aggregated measurements since the process started. */
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
 * The state of the scheduler and the observer's measurements; with `prometheus` in its text format. It reveals nothing about
 * single jobs or destinations. What is measured by function has the names of functions: it needs `agent { policy = "read" }`.
 */
export function readMetrics(
  context: EngineContext,
  caller: Principal,
  { format }: { readonly format?: 'json' | 'prometheus' | undefined },
): ResultAsync<Metrics | string, StorageError> {
  const seesFunctions = allowsArea(caller, 'agent', 'read');
  return stateOf(context, seesFunctions).andThen((state) =>
    storeFigures(context).map(({ families: ofStore }) => {
      // What the store counts is zero for the observer.
      const counted = new Set(ofStore.map(({ name }) => name));
      const observed = (context.observer.families?.() ?? []).filter(({ name }) => !counted.has(name));
      const families = [...state, ...ofStore, ...observed].filter(
        ({ name }) => seesFunctions || !name.startsWith('signalbox.function.'),
      );
      return format === 'prometheus' ? prometheusText(families) : metricsFrom(families, context.clock.now());
    }),
  );
}

/** The gauges that are read on request. */
function stateOf(context: EngineContext, withFunctions: boolean): ResultAsync<readonly MetricFamily[], StorageError> {
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
    const queued = withFunctions ? yield* queuedRuns(current) : new Map<string, Queued>();
    return [
      ...queuedFigures(queued, context.clock.now()),
      figure('signalbox.store.index', index),
      figure('signalbox.queries.waiting', context.parked.size),
      figure('signalbox.nodes.ready', ready.size),
      figure('signalbox.evaluations.blocked', blocked.size),
      figure('signalbox.evaluations.pending', pending),
    ];
  });
}

/** Records counted in one step. */
const size = 64;
/** The most queued runs that are counted, of one function and of all. */
const mostOfFunction = 10_000;
const mostQueued = 100_000;

/** The due runs of a function that have not been started. */
interface Queued {
  count: number;
  oldest: Instant;
}

/** By function, as far as they are counted. */
function* queuedRuns(current: () => ReadView): Steps<ReadonlyMap<string, Queued>> {
  const found = new Map<string, Queued>();
  let left = mostQueued;
  for (const index of ['suspects', 'ready'] as const) {
    let from: Key = [];
    while (left > 0) {
      const page = current().list(runs, { index, from, limit: size });
      for (const { record } of page) note(found, record);
      left -= page.length;
      const last = page.at(-1)?.record;
      if (last === undefined || page.length < size) break;
      const isFull = (found.get(last.function)?.count ?? 0) >= mostOfFunction;
      from = isFull ? [`${last.function}\u0000`] : after(last, index);
      yield;
    }
  }
  return found;
}

function note(found: Map<string, Queued>, { function: name, dueAt }: StoredRun): void {
  const known = found.get(name);
  if (known === undefined) found.set(name, { count: 1, oldest: dueAt });
  else if (known.count < mostOfFunction) {
    known.count += 1;
    known.oldest = Math.min(known.oldest, dueAt);
  }
}

/** The first key after a run. Its last part is the number of the run. */
function after(run: StoredRun, index: 'suspects' | 'ready'): Key {
  const key = runs.indexes[index]?.key(run) ?? [];
  return [...key.slice(0, -1), run.number + 1];
}

function queuedFigures(queued: ReadonlyMap<string, Queued>, now: Instant): readonly MetricFamily[] {
  const label = functionLabels();
  const all = new Map<string, { count: number; wait: Milliseconds }>();
  for (const [name, { count, oldest }] of queued) {
    const { count: counted, wait } = all.get(label(name)) ?? { count: 0, wait: 0 };
    all.set(label(name), { count: counted + count, wait: Math.max(wait, now - oldest) });
  }
  const each = [...all].map(([name, values]) => ({ labels: { function: name }, ...values }));
  return [
    { name: 'signalbox.function.queued', measured: each.map(({ labels, count: value }) => ({ labels, value })) },
    {
      name: 'signalbox.function.oldest.wait',
      measured: each.map(({ labels, wait }) => ({ labels, value: wait / 1000 })),
    },
  ];
}

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
