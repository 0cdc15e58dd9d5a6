import { expect, it } from 'vitest';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { SeriesObserver } from '../../../src/operations/context/series.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';

const start = Date.UTC(2026, 0, 1);

function observed() {
  let now = start;
  const passed: string[] = [];
  const note = (name: string): void => void passed.push(name);
  const series = new SeriesObserver({ count: note, record: note, gauge: note }, () => now);
  const pass = (time: number): void => {
    now += time;
  };
  return { series, pass, passed };
}

it('counts in slots of ten seconds for an hour, and of five minutes for a day', () => {
  const { series, pass } = observed();
  series.count('signalbox.job.starts', 2, { reason: 'registered' });
  pass(10 * second);
  series.count('signalbox.job.starts', 1, { reason: 'registered' });
  series.count('signalbox.job.starts', 5, { reason: 'dispatched' });
  const hourly = series.read('hour');
  expect([hourly.step, hourly.from]).toEqual([10 * second, start + 10 * second - 359 * 10 * second]);
  const registered = hourly.series.find(({ labels }) => labels['reason'] === 'registered');
  expect([registered?.counts.length, registered?.counts.slice(-3)]).toEqual([360, [0, 2, 1]]);
  const daily = series.read('day');
  expect(daily.series.find(({ labels }) => labels['reason'] === 'dispatched')?.counts.slice(-2)).toEqual([0, 5]);
  pass(hour);
  expect(series.read('hour').series[0]?.counts.every((count) => count === 0)).toBe(true);
  expect(series.read('day').series[0]?.counts.reduce((sum, count) => sum + count)).toBe(3);
});

it('reads quantiles from the buckets of a histogram', () => {
  const { series } = observed();
  for (let run = 0; run < 90; run += 1) series.record('signalbox.function.attempt.duration', 0.02, { function: 'a' });
  for (let run = 0; run < 10; run += 1) series.record('signalbox.function.attempt.duration', 3, { function: 'b' });
  const [found] = series.read('hour').series;
  expect(found).toMatchObject({ name: 'signalbox.function.attempt.duration', unit: 's', labels: {} });
  expect([found?.counts.at(-1), found?.p50?.at(-1), found?.p95?.at(-1), found?.p95?.at(0)]).toEqual([100, 0.025, 5, 0]);
});

it('passes everything on, and is bounded in time and in labels', () => {
  const { series, pass, passed } = observed();
  series.gauge('signalbox.store.index', 1, {});
  for (let at = 0; at < 2000; at += 1) {
    series.count('signalbox.function.runs', 1, { function: `f${at}`, outcome: 'failed' });
    pass(minute);
  }
  expect([passed.length, passed[0]]).toEqual([2001, 'signalbox.store.index']);
  const { series: daily } = series.read('day');
  expect(daily).toHaveLength(1);
  expect(daily[0]?.counts).toHaveLength(day / (5 * minute));
  expect(daily[0]?.counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(1440);
  pass(-day);
  series.count('signalbox.function.runs', 7, { function: 'f', outcome: 'failed' });
  expect(series.read('hour').series[0]?.counts.at(-1)).toBeGreaterThanOrEqual(7);
});

it('is read from an engine by callers who may read the agent', async () => {
  const clock = manualClock();
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) };
  const engine = createEngine(ports);
  const host = engine.as(hostPrincipal);
  const TaskGroups = [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: 'true' } }] }];
  (await host.jobs.register({ ID: 'web', TaskGroups }))._unsafeUnwrap();
  const { series } = (await host.system.series())._unsafeUnwrap();
  expect(series.find(({ name }) => name === 'signalbox.job.starts')?.counts.at(-1)).toBe(1);
  const stranger = engine.as({ ...hostPrincipal, management: false });
  expect((await stranger.system.series())._unsafeUnwrapErr().type).toBe('permission_denied');
});
