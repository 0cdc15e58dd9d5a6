import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { createRunner, functionDriver, rawExecDriver, type TaskFunction } from '../../../adapters/runner/index.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import { events, type RunEvent } from '../../../src/notifications/events/event.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { putVariable } from '../../../src/operations/variables/write-variable.js';
import type { Logger } from '../../../src/ports/logger.js';
import { agentLinkages, type LinkageKind } from '../../support/agent-linkages.js';
import { groupDocument } from '../../support/jobs.js';
import { patience } from '../../support/patience.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface House {
  readonly engine: Engine;
  readonly directory: string;
  readonly logged: { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[];
}

async function house(
  functions: Record<string, TaskFunction> = {},
  hasDisk = true,
  linkage: LinkageKind = agentLinkages[0] as LinkageKind,
): Promise<House> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-output-'));
  const logged: House['logged'] = [];
  const quiet = (): void => undefined;
  const logger: Logger = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (fields, message) => logged.push({ fields, message }),
  };
  const ports = {
    storage: memoryStorage(),
    clock: systemClock(),
    ids: randomIds(),
    delivery: recordingDelivery(),
    logger,
  };
  const engine = createEngine(ports, { runNotifications: [{ workspace: 'ws-1' }] });
  (await putWorkspace(engine, hostPrincipal, { id: 'ws-1', name: 'net', organization: 'acme' }))._unsafeUnwrap();
  engine.start();
  const link = await linkage.open(engine);
  const options = { drivers: [rawExecDriver(), functionDriver(functions)], onStop: 'kill' as const };
  const runner = createRunner(
    { ...link.ports, logger },
    hasDisk ? { ...options, directory } : { drivers: [functionDriver(functions)] },
  );
  (await runner.start())._unsafeUnwrap();
  cleanups.push(async () => {
    await runner.stop({ deadline: 100 });
    await link.close();
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return { engine, directory, logged };
}

async function run(
  { engine }: House,
  task: Record<string, unknown>,
  change: Record<string, unknown> = {},
): Promise<void> {
  const policies = {
    RestartPolicy: { Attempts: 0, Interval: 5e9, Delay: 1e9, Mode: 'fail' },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
    ...change,
  };
  const job = { ID: 'nightly', Type: 'batch', Datacenters: ['*'], TaskGroups: [groupDocument(policies, task)] };
  (await registerJob(engine, hostPrincipal, { job: job as JobInput }))._unsafeUnwrap();
}

const shell = (text: string, more: object = {}) => ({
  Driver: 'raw_exec',
  Config: { command: '/bin/sh', args: ['-c', text] },
  ...more,
});

/** The event that alerts are made from. */
async function alert({ engine }: House): Promise<RunEvent> {
  const limit = Date.now() + patience;
  while (Date.now() < limit) {
    const rows = (
      await engine.storage.read((view) => view.list(events).map(({ record }) => record.event))
    )._unsafeUnwrap();
    const found = rows.find(({ trigger }) => trigger === 'run:errored');
    if (found?.kind === 'run') return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('no run has failed');
}

const count = 'i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done';

describe('an alert', () => {
  it.each(agentLinkages)(
    'has the job, the exit code and the last twenty lines of a command, over a link $name',
    async (linkage) => {
      const there = await house({}, true, linkage);
      await run(there, shell(`${count}; echo broken >&2; exit 3`));
      const { job, failure } = await alert(there);
      expect(job).toEqual({ namespace: 'default', id: 'nightly', outcome: { name: 'failed', text: 'failed' } });
      expect(failure).toMatchObject({ exitCode: 3 });
      const lines = failure?.output?.split('\n') ?? [];
      expect([lines.length, lines[0], lines.at(-2), lines.at(-1)]).toEqual([20, 'line 12', 'line 30', 'broken']);
    },
  );

  it('has no value of a variable that templates have read', async () => {
    const there = await house();
    const items = { password: 'p@ss w"rd', user: 'reporter' };
    (await putVariable(there.engine, hostPrincipal, { path: 'nomad/jobs/nightly', items }))._unsafeUnwrap();
    const EmbeddedTmpl = '{{with nomadVar "nomad/jobs/nightly"}}{{.user}}:{{.password}}{{end}}';
    const template = { EmbeddedTmpl, DestPath: 'local/login' };
    await run(there, shell('echo before; cat local/login; exit 1', { Templates: [template] }));
    const { failure } = await alert(there);
    expect(failure?.output).toBe('before\n[redacted]:[redacted]');
  });

  it('has no secret of the process that runs a function', async () => {
    process.env['SIGNALBOX_TEST_TOKEN'] = 'token-of-this-process';
    cleanups.push(() => void delete process.env['SIGNALBOX_TEST_TOKEN']);
    const report = (): never => {
      throw new Error(`refused with ${process.env['SIGNALBOX_TEST_TOKEN']}`);
    };
    const there = await house({ report });
    await run(there, { Driver: 'function', Config: { function: 'report' } });
    const told = await alert(there);
    expect(told.failure?.output).toMatch(/^Error: refused with \[redacted\]\n/);
    expect(JSON.stringify(told)).not.toContain('token-of-this-process');
  });

  it('has the output of a command that took too long and was killed', async () => {
    const there = await house();
    const task = shell('echo begun; trap "" INT TERM; while :; do sleep 0.1; done', { KillTimeout: 100e6 });
    await run(there, task, { MaxRunDuration: 1e9 });
    const { job, failure } = await alert(there);
    expect([job?.outcome?.text, failure?.output]).toEqual(['timed out', 'begun']);
  });

  it.each([true, false])('has the error of a function with its stack and cause, with a disk: %s', async (hasDisk) => {
    const report = (): never => {
      throw new Error('no report\nfor today', { cause: new TypeError('no such column') });
    };
    const there = await house({ report }, hasDisk);
    await run(there, { Driver: 'function', Config: { function: 'report' } });
    const { failure } = await alert(there);
    expect(failure?.output).toMatch(/^Error: no report\nfor today\n {4}at report .*failure-output\.test\.ts/);
    expect(failure?.output).toContain('\nCaused by: TypeError: no such column\n    at ');
    expect(there.logged).toEqual([
      {
        message: 'A function failed',
        fields: {
          namespace: 'default',
          job: 'nightly',
          allocation: failure?.allocationId,
          task: 'main',
          attempt: 1,
          error: 'no report for today',
        },
      },
    ]);
    if (!hasDisk) return;
    const folder = join(there.directory, 'allocations', failure?.allocationId ?? '', 'alloc', 'logs');
    expect(readFileSync(join(folder, 'main.stderr.0'), 'utf8').trimEnd()).toBe(failure?.output);
  });
});
