import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { createRunner, rawExecDriver } from '../../../adapters/runner/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { groupDocument } from '../../support/jobs.js';
import type { Measured } from './store-slices.js';

const runs = 150;
/** Processor time of a run may be so many times that of starting two shells, which is what a run needs of the system. */
const limit = 8;

/** What a burst of dispatches costs the process that schedules and runs them, without what its children use. */
export async function run(): Promise<readonly Measured[]> {
  const floor = (await processorTime(startShells)) / runs;
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-bench-runner-'));
  const engine = createEngine({
    storage: memoryStorage(),
    clock: systemClock(),
    ids: randomIds(),
    delivery: recordingDelivery(),
  });
  engine.start();
  const runner = createRunner(agentPorts(engine), { directory, drivers: [rawExecDriver()], onStop: 'kill' });
  (await runner.start())._unsafeUnwrap();
  const group = groupDocument({}, { Resources: { CPU: 1, MemoryMB: 10 } });
  const job = { ID: 'work', Type: 'batch' as const, Datacenters: ['*'], ParameterizedJob: {}, TaskGroups: [group] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  const ours = (await processorTime(() => burst(engine))) / runs;
  await runner.stop();
  await engine.stop();
  rmSync(directory, { recursive: true, force: true });
  return [{ name: 'runner.dispatch', ours, floor, unit: 'ms', ratio: ours / floor, limit: { max: limit } }];
}

/** Milliseconds of this process. */
async function processorTime(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function startShells(): Promise<void> {
  for (let n = 0; n < runs; n += 1) {
    const shells = [0, 1].map(() => spawn('/bin/sh', ['-c', ':'], { detached: true, stdio: 'ignore' }));
    await Promise.all(shells.map((shell) => once(shell, 'exit')));
  }
}

async function burst(engine: Engine): Promise<void> {
  for (let n = 0; n < runs; n += 1) (await dispatchJob(engine, hostPrincipal, { jobId: 'work' }))._unsafeUnwrap();
  const never = new AbortController().signal;
  for (;;) {
    const { index, dead } = (
      await engine.storage.read((view) => ({
        index: view.index,
        dead: view.get(jobSummaries, ['default', 'work'])?.record.Children.Dead ?? 0,
      }))
    )._unsafeUnwrap();
    if (dead >= runs) return;
    await engine.storage.waitForChange([jobSummaries], index, never);
  }
}
