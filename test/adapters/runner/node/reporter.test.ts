import { errAsync, okAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { Reporter } from '../../../../adapters/runner/node/reporter.js';
import { Background } from '../../../../adapters/runner/waiting.js';
import type { NodeReport } from '../../../../src/agent/link/node-work.js';
import type { AgentLink } from '../../../../src/ports/agent-link.js';

const quiet = (): void => undefined;

function reporterOver(told: NodeReport[], fails: (n: number) => boolean, clientDescription = '') {
  const report: AgentLink['report'] = (message) => {
    told.push(message);
    return fails(told.length) ? errAsync({ type: 'link_failed', message: 'gone' }) : okAsync({ unknown: [], index: 1 });
  };
  const clock = manualClock();
  const find = (allocationId: string) => ({
    isDone: false,
    report: () => ({ allocationId, clientStatus: 'running' as const, clientDescription, taskStates: {} }),
    failureOutput: async () => undefined,
  });
  const reporter = new Reporter({
    link: { report } as AgentLink,
    clock,
    background: new Background({ debug: quiet, info: quiet, warn: quiet, error: quiet }),
    nodeId: 'n1',
    find,
    kept: () => ['old'],
    onReported: () => undefined,
    onFailure: async () => undefined,
  });
  return { reporter, clock };
}

const ids = Array.from({ length: 100 }, (_, at) => `a${at}`);

it('reports many changes in messages of a few, and what has ended with the last one', async () => {
  const told: NodeReport[] = [];
  const { reporter } = reporterOver(told, () => false);
  for (const id of ids) reporter.changed(id);
  reporter.ended('b');
  reporter.askForKept();
  await reporter.flushed();
  expect(told.flatMap(({ reports }) => reports.map(({ allocationId }) => allocationId))).toEqual(ids);
  expect(Math.max(...told.map(({ reports }) => reports.length))).toBeLessThanOrEqual(32);
  expect(told.map(({ ended = [], kept = [] }) => [...ended, ...kept])).toEqual([
    ...told.slice(1).map(() => []),
    ['b', 'old'],
  ]);
});

it('reports long states in messages that a server takes', async () => {
  const told: NodeReport[] = [];
  const { reporter } = reporterOver(told, () => false, 'x'.repeat(200_000));
  for (const id of ids) reporter.changed(id);
  reporter.ended('b');
  await reporter.flushed();
  expect(told.flatMap(({ reports }) => reports.map(({ allocationId }) => allocationId)).toSorted()).toEqual(
    ids.toSorted(),
  );
  expect(Math.max(...told.map((message) => JSON.stringify(message).length))).toBeLessThan(1_100_000);
  expect(told.flatMap(({ ended = [] }) => ended)).toEqual(['b']);
});

it('reports what a failed message would have told once more', async () => {
  const told: NodeReport[] = [];
  const { reporter, clock } = reporterOver(told, (n) => n === 2);
  for (const id of ids) reporter.changed(id);
  reporter.ended('b');
  const flushed = reporter.flushed();
  await clock.advance(1000);
  await flushed;
  const [first, , ...rest] = told;
  const arrived = [first, ...rest].flatMap((message) => message?.reports.map(({ allocationId }) => allocationId) ?? []);
  expect(arrived.toSorted()).toEqual(ids.toSorted());
  expect(told.at(-1)?.ended).toEqual(['b']);
});
