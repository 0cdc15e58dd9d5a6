import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { connect, orThrow } from '../../../src/client/index.js';
import { processesOf } from '../../support/leftovers.js';
import { endAll, signalbox, temporaryFolder } from './cli-process.js';

// Also when an expectation before its own call has failed.
afterEach(endAll);

it('ends the tasks of its servers with their collectors, and leaves no folders', async () => {
  const mark = randomUUID();
  const box = connect({ url: await signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open']).origin() });
  const Config = { command: '/bin/sh', args: ['-c', 'sleep 1000 & sleep 1000'] };
  const Tasks = [{ Name: 'main', Driver: 'raw_exec', Config, Env: { MARK: mark } }];
  await orThrow(box.jobs.register({ ID: 'left', Datacenters: ['*'], TaskGroups: [{ Name: 'web', Tasks }] }));
  await expect.poll(() => processesOf(mark).length).toBeGreaterThanOrEqual(3);
  const folder = temporaryFolder();
  expect(existsSync(folder)).toBe(true);
  // The server and the collectors, too.
  expect(processesOf(folder).length).toBeGreaterThan(processesOf(mark).length);
  endAll();
  expect(processesOf(mark)).toEqual([]);
  expect(processesOf(folder)).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});
