import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { createRunner, type Runner, rawExecDriver } from '../../../adapters/runner/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { groupDocument } from '../../support/jobs.js';
import { patience } from '../../support/patience.js';
import { removeTree } from '../../support/remove-tree.js';

/*
 * Tasks run with the runner's own rights, so each can change what the runner keeps beside it: its notes, its output, its
 * folders. It harms itself at most. The runner goes on, its other tasks too, and the end of the task is told.
 */

/** What a task does in its folder, where it starts. */
const deeds: Readonly<Record<string, string>> = {
  'removes its notes': 'rm -rf private',
  'removes all that its allocation has': 'cd /; rm -rf "$NOMAD_ALLOC_DIR/.."',
  'puts pipes in place of its notes':
    'for f in $(find private -type f) private/state.json.new; do rm -f $f; mkfifo $f; done',
  'puts endless files in place of its notes': 'for f in $(find private -type f); do ln -sf /dev/zero $f; done',
  'puts long files in place of its notes': 'for f in $(find private -type f); do head -c 9000000 /dev/zero >$f; done',
  'puts folders in place of its notes':
    'for f in $(find private -type f) private/state.json.new; do rm -f $f; mkdir -p $f/below; done',
  'puts a pipe in place of the folder of its notes': 'rm -rf private; mkfifo private',
  'puts a file in place of its folder': 'cd ..; rm -rf main; echo >main',
  'writes what is no note': 'echo "[[[[" >private/state.json',
  'locks its folders': 'chmod 000 ../alloc/logs ../alloc private . ..',
  'removes its output': 'rm -rf ../alloc/logs; echo lost',
  'puts pipes between its output': 'for n in 1 2 3; do mkfifo ../alloc/logs/main.stdout.$n; done; echo kept',
  'closes its output': 'exec >&- 2>&-',
};

const names = Object.keys(deeds);
/** Attempts, each with an end of its own. */
const once = {
  RestartPolicy: { Attempts: 0, Interval: 60_000_000_000, Mode: 'fail' },
  ReschedulePolicy: { Attempts: 0, Unlimited: false },
};

let directory: string;
let engine: Engine;
let runner: Runner;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-vandals-'));
  engine = createEngine({
    storage: memoryStorage(),
    clock: systemClock(),
    ids: randomIds(),
    delivery: recordingDelivery(),
  });
  engine.start();
  await startRunner();
});

afterEach(async () => {
  await runner.stop({ deadline: 100 });
  await engine.stop();
  removeTree(directory);
});

async function startRunner(): Promise<void> {
  runner = createRunner(agentPorts(engine), { directory, drivers: [rawExecDriver()] });
  (await runner.start())._unsafeUnwrap();
}

async function registerAll(program: (deed: string) => string): Promise<void> {
  for (const [number, name] of names.entries()) {
    const Config = { command: '/bin/sh', args: ['-c', program(deeds[name] as string)] };
    const task = { Driver: 'raw_exec', Config, Resources: { CPU: 10, MemoryMB: 10 } };
    const job = { ID: `job-${number}`, Type: 'batch', Datacenters: ['*'], TaskGroups: [groupDocument(once, task)] };
    (await registerJob(engine, hostPrincipal, { job: job as JobInput }))._unsafeUnwrap();
  }
}

/** The allocation of each job, when all of them are so. */
async function when(holds: (allocation: Allocation) => boolean): Promise<ReadonlyMap<string, Allocation>> {
  const limit = AbortSignal.timeout(patience);
  for (;;) {
    const rows = (await engine.storage.read((view) => view.list(allocations)))._unsafeUnwrap();
    const known = rows.map(({ record }) => [names[Number(record.JobID.slice(4))] as string, record] as const);
    if (known.length === names.length && known.every(([, record]) => holds(record))) return new Map(known);
    if (limit.aborted) {
      const open = known.filter(([, record]) => !holds(record)).map(([name, { ClientStatus }]) => [name, ClientStatus]);
      throw new Error(`not reached: ${JSON.stringify(open)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const hasEnded = ({ ClientStatus }: Allocation): boolean => ClientStatus === 'complete' || ClientStatus === 'failed';

test('a task that damages its own folders ends like any other, and holds up nobody', async () => {
  await registerAll((deed) => `${deed}; sleep 0.2; exit 0`);
  const ended = await when(hasEnded);
  const statuses = Object.fromEntries([...ended].map(([name, { ClientStatus }]) => [name, ClientStatus]));
  // Without the folder in which the exit code is left, nobody knows it. Only root writes in one that is locked.
  const unknown = [
    ...(process.geteuid?.() === 0 ? [] : ['locks its folders']),
    'removes its notes',
    'puts a pipe in place of the folder of its notes',
    'puts a file in place of its folder',
  ];
  const whole = names.filter((name) => !unknown.includes(name));
  expect(Object.fromEntries(whole.map((name) => [name, statuses[name]]))).toEqual(
    Object.fromEntries(whole.map((name) => [name, 'complete'])),
  );
});

test('the next runner finds what it can, and ends the rest', async () => {
  const done = join(directory, 'done');
  mkdirSync(done);
  await registerAll(
    (deed) => `${deed}; echo >"${done}/$NOMAD_JOB_ID"; i=0; while [ $i -lt 40 ]; do sleep 0.1; i=$((i + 1)); done`,
  );
  await when(({ TaskStates, JobID }) => TaskStates?.['main']?.State === 'running' && existsSync(join(done, JobID)));
  await runner.stop({ deadline: 0 });
  await startRunner();
  const ended = await when(hasEnded);
  expect(ended.get('writes what is no note')?.ClientStatus).toBe('complete');
  expect(ended.get('removes its output')?.ClientStatus).toBe('complete');
});
