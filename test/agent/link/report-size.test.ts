import { describe, expect, it } from 'vitest';
import { readReports } from '../../../src/agent/link/node-shapes.js';
import type { AllocationReport } from '../../../src/agent/link/node-work.js';
import { reportsOfOneMessage } from '../../../src/agent/link/relay.js';
import { taskEvent } from '../../../src/agent/task/task-event.js';
import { pendingTask } from '../../../src/scheduler/allocation.js';

/** The bytes of a body that a server takes unless its host says otherwise. */
const bodyBytes = 4 * 1024 * 1024;

function reportOf(number: number, tasks: number, message: string): AllocationReport {
  const events = Array.from({ length: 10 }, (_, at) => taskEvent({ type: 'hook_message', message }, at));
  const Events = events.flatMap((event) => event ?? []);
  const names = Array.from({ length: tasks }, (_, at) => `task-${at}`);
  return {
    allocationId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    clientStatus: 'running',
    clientDescription: '',
    taskStates: Object.fromEntries(names.map((name) => [name, { ...pendingTask, Events }])),
  };
}

const messageOf = (reports: readonly AllocationReport[]) =>
  reportsOfOneMessage(reports.map((report) => ({ report }))).map(({ report }) => report);

describe('the reports of one message', () => {
  it('are all of them while they are short', () => {
    const reports = Array.from({ length: 32 }, (_, at) => reportOf(at, 1, 'short'));
    expect(messageOf(reports)).toEqual(reports);
    expect(messageOf([])).toEqual([]);
  });

  it('are the first of them that a server takes together', () => {
    const reports = Array.from({ length: 32 }, (_, at) => reportOf(at, 20, 'ä€😀'.repeat(200)));
    const first = messageOf(reports);
    expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(bodyBytes);
    expect(first.length).toBeGreaterThan(0);
    expect(first).toEqual(reports.slice(0, first.length));
    expect(Buffer.byteLength(JSON.stringify(reports))).toBeGreaterThan(bodyBytes);
  });

  it.each([
    [500, 1],
    [4000, 0],
  ])('is a single one with the newest events of its tasks when it is too long: %i tasks', (tasks, kept) => {
    const long = reportOf(1, tasks, 'x'.repeat(300));
    const [shorter, ...others] = messageOf([long, reportOf(2, 1, 'short')]);
    expect(others).toEqual([]);
    expect(Buffer.byteLength(JSON.stringify(shorter))).toBeLessThan(bodyBytes);
    const { Events: all } = long.taskStates['task-7'] ?? {};
    expect(shorter?.taskStates['task-7']?.Events).toEqual(all?.slice(10 - kept));
    expect(Object.keys(shorter?.taskStates ?? {})).toHaveLength(tasks);
    expect(readReports([shorter]).isOk()).toBe(true);
  });
});

it('a text of an event is not longer than a server takes', () => {
  const report = reportOf(1, 1, 'x'.repeat(100_000));
  expect(readReports([report]).isOk()).toBe(true);
  const event = report.taskStates['task-0']?.Events?.[0];
  expect([event?.DisplayMessage, event?.Details?.['message']]).toEqual(Array(2).fill(`${'x'.repeat(4096)}…`));
});
