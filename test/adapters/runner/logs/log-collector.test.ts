import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAlive } from '../../../../adapters/runner/disk/process-identity.js';
import { taskPaths } from '../../../../adapters/runner/disk/task-target.js';
import { rawExecDriver, type TaskStart } from '../../../../adapters/runner/index.js';
import { dismissCollector, livingCollector, startCollector } from '../../../../adapters/runner/logs/log-collector.js';
import { eventually } from '../../../support/installation.js';
import { patience } from '../../../support/patience.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-collector-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const limits = { maximumFiles: 1, maximumFileBytes: 1000, disabled: false };

it('a collector that is started again for a task that ends meanwhile ends with it', async () => {
  const starting = startCollector({ attempt: directory, base: join(directory, 'main'), limits, when: 'again' });
  // It has not said yet who it is.
  dismissCollector(
    directory,
    starting.then(({ ended }) => ended),
  );
  const { ready, ended } = await starting;
  expect(ready).toBe(true);
  await ended;
});

it('a collector that was not needed ends although the next attempt begins at once', async () => {
  const paths = taskPaths(directory, 'main');
  const attempt = join(paths.notes, 'attempts', '1');
  for (const folder of [attempt, paths.logs]) mkdirSync(folder, { recursive: true });
  await startCollector({ attempt, base: join(paths.logs, 'main'), limits, when: 'first' });
  await eventually(patience, () => livingCollector(attempt) !== undefined);
  const collector = livingCollector(attempt);
  const driver = rawExecDriver();
  const start: TaskStart = {
    allocationId: 'a',
    task: 'main',
    attempt: 1,
    config: { command: '/bin/true' },
    environment: {},
    paths,
    payload: null,
    meta: {},
    logs: limits,
  };
  expect(await driver.recover(start)).toEqual({ type: 'never_started' });
  const next = await driver.start({ ...start, attempt: 2 });
  if (next.type === 'running') await next.task.exited;
  expect(await eventually(10_000, () => collector !== undefined && !isAlive(collector))).toBe(true);
});
