import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../../adapters/node/index.js';
import { createRunner, functionDriver, type RunnerOptions, rawExecDriver } from '../../../../adapters/runner/index.js';
import { undiciDownload } from '../../../../adapters/undici/index.js';
import { agentPorts, createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { evaluations } from '../../../../src/scheduler/evaluation.js';
import { groupDocument } from '../../../support/jobs.js';
import { untilRecord } from '../../../support/until-records.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-provisions-'));
  cleanups.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

async function house(options: Partial<RunnerOptions> = {}) {
  const engine = createEngine({
    storage: memoryStorage(),
    clock: systemClock(),
    ids: randomIds(),
    delivery: recordingDelivery(),
  });
  engine.start();
  const directory = folder();
  const drivers = [rawExecDriver(), functionDriver({})];
  const runner = createRunner(agentPorts(engine), { directory, drivers, onStop: 'kill', ...options });
  const started = await runner.start();
  cleanups.push(async () => {
    await runner.stop({ deadline: 100 });
    await engine.stop();
  });
  return { engine, directory, started };
}

const shell = (text: string, change: Record<string, unknown>) => ({
  Driver: 'raw_exec',
  Config: { command: '/bin/sh', args: ['-c', text] },
  ...change,
});

async function register(engine: Engine, task: Record<string, unknown>, group: Record<string, unknown> = {}) {
  const policies = {
    RestartPolicy: { Attempts: 0, Interval: 5e9, Delay: 1e9, Mode: 'fail' },
    ReschedulePolicy: { Attempts: 0, Unlimited: false },
  };
  const TaskGroups = [groupDocument({ ...policies, ...group }, task)];
  const job = { ID: 'work', Type: 'batch', Datacenters: ['*'], TaskGroups } as JobInput;
  return (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
}

const end = (engine: Engine) =>
  untilRecord(engine, allocations, ({ ClientStatus }) => ['complete', 'failed'].includes(ClientStatus));
const log = (directory: string, { ID }: Allocation): string =>
  readFileSync(join(directory, 'allocations', ID, 'alloc', 'logs', 'main.stdout.0'), 'utf8');

async function whyNot(engine: Engine): Promise<Record<string, number> | null | undefined> {
  const evaluation = await untilRecord(engine, evaluations, ({ FailedTGAllocs }) => FailedTGAllocs != null);
  return evaluation.FailedTGAllocs?.['app']?.ConstraintFiltered;
}

describe('the folder of a runner', () => {
  it('is refused at the start, with the reason, when it cannot be used', async () => {
    const directory = join(folder(), 'file');
    writeFileSync(directory, '');
    const engine = createEngine({
      storage: memoryStorage(),
      clock: systemClock(),
      ids: randomIds(),
      delivery: recordingDelivery(),
    });
    const runner = createRunner(agentPorts(engine), { directory, drivers: [functionDriver({})] });
    expect((await runner.start())._unsafeUnwrapErr()).toMatchObject({
      type: 'directory_unusable',
      directory,
      message: expect.stringContaining('EEXIST') as unknown,
    });
  });
});

describe('a task that no node can run as it asks', () => {
  it.each([
    ['another user', { User: 'nobody' }, 'user'],
    ['an archive', { Artifacts: [{ GetterSource: 'https://h/a.zip' }] }, 'artifacts, archives'],
    ['another archive', { Artifacts: [{ GetterSource: 'https://h/a.tar.xz' }] }, 'artifacts, other_archives'],
    ['a repository', { Artifacts: [{ GetterSource: 'git::https://h/a' }] }, 'artifacts, other_artifacts'],
  ])('waits with the reason, and its registration warns: %s', async (_what, part, needs) => {
    const { engine } = await house();
    const { warnings } = await register(engine, shell('true', part));
    expect(JSON.stringify(warnings)).toContain(`no node provides what it needs: ${needs}`);
    expect(await whyNot(engine)).toEqual({ [`tasks need what the node does not provide: ${needs}`]: 1 });
  });

  it('waits when it is to make files and the runner has no folder', async () => {
    const engine = createEngine({
      storage: memoryStorage(),
      clock: systemClock(),
      ids: randomIds(),
      delivery: recordingDelivery(),
    });
    engine.start();
    const runner = createRunner(agentPorts(engine), { drivers: [functionDriver({})] });
    (await runner.start())._unsafeUnwrap();
    cleanups.push(async () => {
      await runner.stop({ deadline: 100 });
      await engine.stop();
    });
    await register(engine, {
      Driver: 'function',
      Config: { function: 'x' },
      Templates: [{ EmbeddedTmpl: 'x', DestPath: 'x' }],
    });
    expect(await whyNot(engine)).toEqual({ 'tasks need what the node does not provide: template_files': 1 });
  });
});

describe('artifacts of a task', () => {
  it('are fetched before it starts; one that is not there fails it by its restart policy', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/tool') response.end('#!/bin/sh\necho fetched $1\n');
      else response.writeHead(404).end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    cleanups.push(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const download = undiciDownload({ allow: { cidrs: ['127.0.0.1/32'] } });
    const { engine, directory } = await house({ download });
    const artifact = {
      GetterSource: `http://127.0.0.1:${port}/tool`,
      GetterMode: 'file',
      RelativeDest: 'local/${NOMAD_TASK_NAME}.sh',
    };
    await register(engine, shell('sh local/main.sh well', { Artifacts: [artifact] }));
    expect(log(directory, await end(engine))).toBe('fetched well\n');
    const second = await house({ download });
    await register(second.engine, shell('true', { Artifacts: [{ GetterSource: `http://127.0.0.1:${port}/none` }] }));
    const failed = await end(second.engine);
    const events = (failed.TaskStates?.['main']?.Events ?? []).map(({ Type, DownloadError }) => [Type, DownloadError]);
    const message = `Artifact 1: http://127.0.0.1:${port}: the server answered with status 404`;
    expect(events.slice(-3)).toEqual([
      ['Downloading Artifacts', ''],
      ['Failed Artifact Download', message],
      ['Not Restarting', ''],
    ]);
  });
});

describe('volumes of the host', () => {
  const mounts = (change: Record<string, unknown> = {}) => ({
    VolumeMounts: [{ Volume: 'data', Destination: '/data', ...change }],
  });
  const group = (change: Record<string, unknown> = {}) => ({
    Volumes: { data: { Type: 'host', Source: 'shared', ...change } },
  });

  it('are in the folder of the task, and outlive it', async () => {
    const shared = folder();
    writeFileSync(join(shared, 'before'), 'before');
    const { engine, directory } = await house({ volumes: { shared: { path: shared } } });
    await register(engine, shell('cat data/before; echo after > data/after', mounts()), group());
    const allocation = await end(engine);
    expect([allocation.ClientStatus, log(directory, allocation)]).toEqual(['complete', 'before']);
    expect(readFileSync(join(shared, 'after'), 'utf8')).toBe('after\n');
    rmSync(join(directory, 'allocations', allocation.ID), { recursive: true });
    expect(existsSync(join(shared, 'after'))).toBe(true);
  });

  it("are each allocation's own where the job asks for it", async () => {
    const shared = folder();
    const { engine } = await house({ volumes: { 'shared[0]': { path: shared } } });
    await register(engine, shell('echo mine > data/x', mounts()), group({ PerAlloc: true }));
    expect((await end(engine)).ClientStatus).toBe('complete');
    expect(readFileSync(join(shared, 'x'), 'utf8')).toBe('mine\n');
  });

  it.each([
    ['that the node does not have', {}, {}, 'missing compatible host volumes'],
    ['that are to be read-only as a whole', { ReadOnly: true }, {}, 'missing compatible host volumes'],
    [
      'that one task is not to write',
      {},
      { ReadOnly: true },
      'tasks need what the node does not provide: read_only_mounts',
    ],
  ])('keep the job away: %s', async (what, request, mount, reason) => {
    const volumes = what === 'that the node does not have' ? {} : { shared: { path: folder() } };
    const { engine } = await house({ volumes });
    await register(engine, shell('true', mounts(mount)), group(request));
    expect(await whyNot(engine)).toEqual({ [reason]: 1 });
  });

  it('are not put over what is there, or out of the folder', async () => {
    for (const Destination of ['local', '../../x']) {
      const { engine } = await house({ volumes: { shared: { path: folder() } } });
      await register(engine, shell('true', mounts({ Destination })), group());
      const failed = await end(engine);
      expect(failed.TaskStates?.['main']?.Events?.at(-1)?.DisplayMessage).toMatch(
        /already exists and is not a volume|outside/,
      );
    }
  });

  it.each([
    ['a path that is not whole', { path: 'x' }, 'must be absolute'],
    ['nothing', { path: '/nowhere/at/all' }, 'ENOENT'],
    ['a file', { path: '/etc/hostname' }, 'is not a directory'],
    ['a read-only folder that can be written', { path: tmpdir(), readOnly: true }, 'this process can write to it'],
  ])('cannot be %s', async (_what, volume, message) => {
    const { started } = await house({ volumes: { shared: volume } });
    expect(started._unsafeUnwrapErr()).toMatchObject({
      type: 'volume_unusable',
      name: 'shared',
      message: expect.stringContaining(message),
    });
  });

  it('may have any name that is none of the prototype', async () => {
    const directory = folder();
    mkdirSync(join(directory, 'x'));
    const { engine } = await house({ volumes: { shared: { path: directory } } });
    await register(engine, shell('true', mounts()), group({ Source: 'constructor' }));
    expect(await whyNot(engine)).toEqual({ 'missing compatible host volumes': 1 });
  });
});
