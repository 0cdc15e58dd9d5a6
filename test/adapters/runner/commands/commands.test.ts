import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../../adapters/node/index.js';
import { createRunner, type Runner, rawExecDriver } from '../../../../adapters/runner/index.js';
import type { CommandInput, CommandOutput } from '../../../../src/agent/link/node-command.js';
import { createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import {
  listAllocationFiles,
  readAllocationFile,
  statAllocationFile,
  streamAllocationFile,
  streamTaskLogs,
} from '../../../../src/operations/allocations/read-allocation-files.js';
import { execInAllocation, runJobAction } from '../../../../src/operations/allocations/run-in-allocation.js';
import {
  collectAllocation,
  collectOnNodes,
  readAllocationChecks,
  readAllocationStats,
  readHostUsage,
  restartAllocation,
  signalAllocation,
} from '../../../../src/operations/allocations/steer-allocation.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../../src/operations/jobs/stop-job.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { type AgentLinkage, agentLinkages } from '../../../support/agent-linkages.js';
import { groupDocument } from '../../../support/jobs.js';
import { patience } from '../../../support/patience.js';
import { untilRecord } from '../../../support/until-records.js';

const program = 'echo "begun $NOMAD_TASK_NAME"; trap "echo heard" USR1; while :; do sleep 0.05; done';

/** The same commands over every kind of link between a node and its server. */
describe.each(agentLinkages)('over a link $name', ({ open }) => {
  let linkage: AgentLinkage;
  let engine: Engine;
  let runner: Runner;
  let directory: string;
  let id: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'signalbox-commands-'));
    const ports = { storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() };
    engine = createEngine(ports);
    engine.start();
    linkage = await open(engine);
    runner = createRunner(linkage.ports, { directory, drivers: [rawExecDriver()], onStop: 'kill' });
    (await runner.start())._unsafeUnwrap();
    const task = {
      Driver: 'raw_exec',
      Config: { command: '/bin/sh', args: ['-c', program] },
      Actions: [{ Name: 'greet', Command: '/bin/sh', Args: ['-c', 'echo "hello from $NOMAD_TASK_NAME"'] }],
      KillTimeout: 100_000_000,
    };
    const job = { ID: 'work', Type: 'service', Datacenters: ['*'], TaskGroups: [groupDocument({}, task)] } as JobInput;
    (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
    id = (await until(({ TaskStates }) => TaskStates?.['main']?.State === 'running')).ID;
    await linkage.reaches(id);
  });

  afterAll(async () => {
    await runner.stop({ deadline: 100 });
    await linkage.close();
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const until = (holds: (allocation: Allocation) => boolean): Promise<Allocation> =>
    untilRecord(engine, allocations, holds);

  async function restarts(): Promise<number> {
    return (await until(({ ID }) => ID === id)).TaskStates?.['main']?.Restarts ?? 0;
  }

  /** Waits until the task runs again after one more restart. */
  async function restarted(before: number): Promise<void> {
    await until(({ ID, TaskStates }) => {
      const state = TaskStates?.['main'];
      return ID === id && state?.State === 'running' && state.Restarts === before + 1;
    });
  }

  /** Waits until the node no longer has the allocation running, as far as its commands show. */
  async function letGo(allocationId: string): Promise<void> {
    const limit = AbortSignal.timeout(patience);
    while (!limit.aborted) {
      const restart = await restartAllocation(engine, hostPrincipal, { allocationId });
      if (restart._unsafeUnwrapErr().type === 'command_not_found') return;
    }
    throw new Error('The node never let go of the allocation');
  }

  async function* inputs(...given: readonly (string | CommandInput)[]): AsyncGenerator<CommandInput> {
    for (const item of given) yield typeof item === 'string' ? { type: 'data', bytes: Buffer.from(item) } : item;
  }

  const seen = new Set<string>();
  const end: CommandInput = { type: 'end' };

  interface Heard {
    stdout: string;
    stderr: string;
    code: number | undefined;
    closed: string[];
  }

  async function hear(outputs: AsyncIterable<CommandOutput>): Promise<Heard> {
    const heard: Heard = { stdout: '', stderr: '', code: undefined, closed: [] };
    for await (const output of outputs) {
      if (output.type === 'data') heard[output.stream] += Buffer.from(output.bytes).toString();
      else if (output.type === 'piece') heard.stdout += Buffer.from(output.bytes).toString();
      else if (output.type === 'closed') heard.closed.push(output.stream);
      else if (output.type === 'exited') heard.code = output.code;
    }
    return heard;
  }

  async function exec(command: readonly string[], input = inputs(end), terminal = false): Promise<Heard> {
    const run = await execInAllocation(engine, hostPrincipal, {
      allocationId: id,
      task: 'main',
      command,
      input,
      terminal,
    });
    if (run.isErr()) throw new Error(JSON.stringify(run.error));
    return hear(run.value);
  }

  describe('commands beside a task', () => {
    it('have the environment and the folder of the task, two streams and an exit code', async () => {
      const heard = await exec(['/bin/sh', '-c', 'echo "$NOMAD_TASK_NAME in ${PWD##*/}"; echo fault >&2; exit 3']);
      expect(heard).toMatchObject({ stdout: 'main in main\n', stderr: 'fault\n', code: 3 });
      expect(heard.closed.sort()).toEqual(['stderr', 'stdout']);
    });

    it('read what is sent, until its end', async () => {
      expect(await exec(['cat'], inputs('one\n', 'two\n', end))).toMatchObject({ stdout: 'one\ntwo\n', code: 0 });
    });

    it('tell the signal that ended them', async () => {
      expect(await exec(['/bin/sh', '-c', 'kill -TERM $$'])).toMatchObject({ code: 143 });
    });

    it('hold back a command that writes faster than it is heard, and end it with whoever asked', async () => {
      const gone = new AbortController();
      const run = await execInAllocation(engine, hostPrincipal, {
        allocationId: id,
        task: 'main',
        command: ['/bin/sh', '-c', 'echo $$; exec yes'],
        signal: gone.signal,
      });
      const outputs = run._unsafeUnwrap()[Symbol.asyncIterator]();
      const first = (await outputs.next()).value as CommandOutput & { readonly type: 'data' };
      const pid = Number(Buffer.from(first.bytes).toString().split('\n')[0]);
      expect(isAlive(pid)).toBe(true);
      gone.abort();
      while (isAlive(pid)) await new Promise((resume) => setTimeout(resume, 5));
      for await (const _ of { [Symbol.asyncIterator]: () => outputs });
    });

    it('run in a terminal, one stream, with the size that it is given', async () => {
      const size: CommandInput = { type: 'resize', rows: 24, columns: 80 };
      const heard = await exec(['/bin/sh', '-c', 'read x; stty size; echo fault >&2'], inputs(size, '\n'), true);
      expect(heard).toMatchObject({ stdout: '\r\n24 80\r\nfault\r\n', stderr: '', code: 0, closed: ['stdout'] });
    });

    it('lose nothing of what they wrote last when it is read slowly', async () => {
      const command = ['/bin/sh', '-c', 'head -c 100000 /dev/zero | tr "\\0" a'];
      const options = { allocationId: id, task: 'main', command, terminal: true };
      const run = await execInAllocation(engine, hostPrincipal, options);
      let length = 0;
      for await (const output of run._unsafeUnwrap()) {
        if (output.type === 'data') length += output.bytes.length;
        await new Promise((resume) => setTimeout(resume, 20));
      }
      expect(length).toBe(100_000);
    });

    it('take a size of which one side is not known', async () => {
      const size: CommandInput = { type: 'resize', rows: 12, columns: 0 };
      const heard = await exec(['/bin/sh', '-c', 'read x; stty size'], inputs(size, '\n'), true);
      expect(heard).toMatchObject({ stdout: '\r\n12 0\r\n', code: 0 });
    });

    const failed = 'rpc error: code = Unknown desc = failed to start command: ';
    it.each([
      [['/not/there'], 'command_failed', `${failed}fork/exec /not/there: no such file or directory`],
      [['/etc/passwd/x'], 'command_failed', `${failed}fork/exec /etc/passwd/x: not a directory`],
      [['/etc'], 'command_failed', `${failed}fork/exec /etc: permission denied`],
      [['not-there'], 'command_failed', `${failed}exec: "not-there": executable file not found in $PATH`],
      [[''], 'command_failed', `${failed}exec: no command`],
      [['a\0b'], 'command_failed', `${failed}fork/exec ab: invalid argument`],
      [[], 'command_invalid', 'command is not present'],
    ])('refuse %j', async (command, type, message) => {
      const run = await execInAllocation(engine, hostPrincipal, { allocationId: id, task: 'main', command });
      expect(run._unsafeUnwrapErr()).toEqual({ type, message });
    });

    it('are refused by the node where their task has not begun, and need not be told of by the server', async () => {
      const sleeping = {
        Driver: 'raw_exec',
        Config: { command: '/bin/sleep', args: ['300'] },
        Resources: { CPU: 100, MemoryMB: 100 },
        LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
        KillTimeout: 100_000_000,
      };
      const before = { ...sleeping, Name: 'before', Lifecycle: { Hook: 'prestart' } };
      const groups = [groupDocument({ Tasks: [{ ...sleeping, Name: 'main' }, before] })];
      const job = { ID: 'later', Type: 'service', Datacenters: ['*'], TaskGroups: groups } as JobInput;
      (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
      const { ID } = await until(
        ({ JobID, TaskStates }) => JobID === 'later' && TaskStates?.['before']?.State === 'running',
      );
      await linkage.reaches(ID);
      const run = (task: string) =>
        execInAllocation(engine, hostPrincipal, { allocationId: ID, task, command: ['/bin/true'], input: inputs(end) });
      expect((await run('main'))._unsafeUnwrapErr()).toEqual({
        type: 'command_not_found',
        message: 'task "main" not started yet.',
      });
      expect(await hear((await run('before'))._unsafeUnwrap())).toMatchObject({ code: 0 });
    });

    it('are run by the names of actions', async () => {
      const input = { jobId: 'work', allocationId: id, task: 'main' };
      const run = await runJobAction(engine, hostPrincipal, { ...input, action: 'greet' });
      expect(await hear(run._unsafeUnwrap())).toMatchObject({ stdout: 'hello from main\n', code: 0 });
      const unknown = await runJobAction(engine, hostPrincipal, { ...input, action: 'other' });
      expect(unknown._unsafeUnwrapErr()).toMatchObject({ type: 'command_invalid' });
    });
  });

  describe('orders', () => {
    it('send a signal, and note it', async () => {
      (await signalAllocation(engine, hostPrincipal, { allocationId: id, signal: 'SIGUSR1' }))._unsafeUnwrap();
      const stop = new AbortController();
      const query = {
        allocationId: id,
        task: 'main',
        stream: 'stdout',
        offset: 0,
        origin: 'start',
        follow: true,
      } as const;
      const logs = await streamTaskLogs(engine, hostPrincipal, { ...query, signal: stop.signal });
      let text = '';
      for await (const output of logs._unsafeUnwrap()) {
        if (output.type === 'piece') text += Buffer.from(output.bytes).toString();
        if (text.includes('heard')) stop.abort();
      }
      expect(text).toBe('begun main\nheard\n');
      const allocation = await until(({ TaskStates }) =>
        (TaskStates?.main?.Events ?? []).some(({ Type }) => Type === 'Signaling'),
      );
      expect(allocation.ID).toBe(id);
      const refused = await signalAllocation(engine, hostPrincipal, { allocationId: id, signal: 'SIGNOTHING' });
      expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'command_failed' });
    });

    it.each([false, true])('that end a task end what runs beside it, and say so (terminal: %s)', async (terminal) => {
      const before = await restarts();
      const command = ['/bin/sh', '-c', 'echo $$; exec sleep 300'];
      const run = await execInAllocation(engine, hostPrincipal, { allocationId: id, task: 'main', command, terminal });
      const outputs: CommandOutput[] = [];
      for await (const output of run._unsafeUnwrap()) {
        outputs.push(output);
        if (output.type === 'data') await restartAllocation(engine, hostPrincipal, { allocationId: id, task: 'main' });
      }
      expect(outputs).toEqual([
        { type: 'data', stream: 'stdout', bytes: expect.anything() },
        { type: 'failed', message: 'plugin is shut down' },
      ]);
      const [first] = outputs;
      const pid = Number(first?.type === 'data' && Buffer.from(first.bytes).toString().split(/\s/)[0]);
      while (isAlive(pid)) await new Promise((resume) => setTimeout(resume, 5));
      await restarted(before);
    });

    it('restart tasks, and refuse what is not there', async () => {
      const before = await restarts();
      (await restartAllocation(engine, hostPrincipal, { allocationId: id, task: 'main' }))._unsafeUnwrap();
      await restarted(before);
      const unknown = await restartAllocation(engine, hostPrincipal, { allocationId: id, task: 'other' });
      expect(unknown._unsafeUnwrapErr()).toMatchObject({ type: 'command_failed' });
      const both = await restartAllocation(engine, hostPrincipal, { allocationId: id, task: 'main', all: true });
      expect(both._unsafeUnwrapErr()).toMatchObject({ type: 'command_failed' });
      const nowhere = '00000000-1111-2222-3333-444444444444';
      const missing = await restartAllocation(engine, hostPrincipal, { allocationId: nowhere });
      expect(missing._unsafeUnwrapErr()).toMatchObject({ type: 'command_not_found' });
    });

    it('restart the running tasks, of which there may be none, while one that is named must run', async () => {
      const task = { Driver: 'raw_exec', Config: { command: '/bin/false' } };
      const RestartPolicy = { Attempts: 1, Delay: 3_600_000_000_000, Interval: 7_200_000_000_000, Mode: 'delay' };
      const group = groupDocument({ RestartPolicy }, task);
      const job = { ID: 'waiting', Type: 'service', Datacenters: ['*'], TaskGroups: [group] } as JobInput;
      (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
      const waiting = await until(({ JobID, TaskStates }) => {
        const state = TaskStates?.['main'];
        return JobID === 'waiting' && state?.State === 'pending' && state.Restarts === 1;
      });
      (await restartAllocation(engine, hostPrincipal, { allocationId: waiting.ID }))._unsafeUnwrap();
      const named = await restartAllocation(engine, hostPrincipal, { allocationId: waiting.ID, task: 'main' });
      expect(named._unsafeUnwrapErr()).toMatchObject({ type: 'command_failed', message: 'Task not running' });
      (await stopJob(engine, hostPrincipal, { jobId: 'waiting', purge: true }))._unsafeUnwrap();
    });

    it('remove what is left of allocations that the server has collected, and of no others', async () => {
      const folderOf = (allocation: Allocation): string => join(directory, 'allocations', allocation.ID);
      const ended: Allocation[] = [];
      for (const jobId of ['kept', 'collected']) {
        const task = { Driver: 'raw_exec', Config: { command: '/bin/true' } };
        const job = { ID: jobId, Type: 'batch', Datacenters: ['*'], TaskGroups: [groupDocument({}, task)] } as JobInput;
        (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
        ended.push(await until((each) => each.JobID === jobId && each.ClientStatus === 'complete'));
      }
      const [kept, collected] = ended as [Allocation, Allocation];
      await letGo(kept.ID);
      await letGo(collected.ID);
      (await stopJob(engine, hostPrincipal, { jobId: 'collected', purge: true }))._unsafeUnwrap();
      const limit = AbortSignal.timeout(patience);
      while (existsSync(folderOf(collected)) && !limit.aborted) await new Promise((done) => setTimeout(done, 20));
      expect([kept, collected].map((each) => existsSync(folderOf(each)))).toEqual([true, false]);
    });

    it('remove what is left of an allocation when it has ended, and not before', async () => {
      const early = await collectAllocation(engine, hostPrincipal, { allocationId: id });
      expect(early._unsafeUnwrapErr()).toMatchObject({ type: 'command_failed' });
      const task = { Driver: 'raw_exec', Config: { command: '/bin/true' } };
      const job = { ID: 'brief', Type: 'batch', Datacenters: ['*'], TaskGroups: [groupDocument({}, task)] } as JobInput;
      for (const collect of [
        (allocationId: string) => collectAllocation(engine, hostPrincipal, { allocationId }),
        () => collectOnNodes(engine, hostPrincipal, {}),
      ]) {
        (
          await registerJob(engine, hostPrincipal, { job: { ...job, Meta: { n: String(Math.random()) } } })
        )._unsafeUnwrap();
        const ended = await until(
          (each) => each.JobID === 'brief' && each.ClientStatus === 'complete' && !seen.has(each.ID),
        );
        seen.add(ended.ID);
        const files = () => listAllocationFiles(engine, hostPrincipal, { allocationId: ended.ID, path: '/' });
        expect((await files()).isOk()).toBe(true);
        // The node lets go of the allocation a moment after it has reported its end.
        await letGo(ended.ID);
        const usage = (await readAllocationStats(engine, hostPrincipal, { allocationId: ended.ID }))._unsafeUnwrap();
        expect(usage.tasks).toEqual({});
        const checks = await readAllocationChecks(engine, hostPrincipal, { allocationId: ended.ID });
        expect(checks._unsafeUnwrap()).toEqual({});
        const limit = AbortSignal.timeout(patience);
        while ((await files()).isOk() && !limit.aborted) await collect(ended.ID);
        expect((await files())._unsafeUnwrapErr()).toMatchObject({
          type: 'command_not_found',
          message: expect.stringMatching(
            /^The files and logs of allocation "[0-9a-f-]{36}" are no longer on its node: /,
          ),
        });
        for (const measure of [readAllocationStats, readAllocationChecks]) {
          const removed = await measure(engine, hostPrincipal, { allocationId: ended.ID });
          expect(removed._unsafeUnwrapErr()).toMatchObject({ type: 'command_not_found' });
        }
      }
      const stranger = { ...hostPrincipal, management: false };
      const hidden = await collectAllocation(engine, stranger, { allocationId: id });
      expect(hidden._unsafeUnwrapErr()).toMatchObject({ type: 'command_not_found' });
      expect((await engine.as(stranger).nodes.collect())._unsafeUnwrapErr().type).toBe('permission_denied');
    });

    it('measure', async () => {
      const usage = (await readAllocationStats(engine, hostPrincipal, { allocationId: id }))._unsafeUnwrap();
      expect(usage.tasks['main']?.residentBytes).toBeGreaterThan(0);
      const processes = usage.tasks['main']?.processes ?? [];
      expect(processes.length).toBeGreaterThan(0);
      expect(processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0)).toBe(
        usage.tasks['main']?.residentBytes,
      );
      const host = (await readHostUsage(engine, hostPrincipal, {}))._unsafeUnwrap();
      expect(host.memory.total).toBeGreaterThan(host.memory.available);
      expect(host.processors.length).toBeGreaterThan(0);
      expect(host.disk).toMatchObject({ size: expect.any(Number) });
      const stranger = { ...hostPrincipal, management: false };
      expect((await engine.as(stranger).nodes.stats())._unsafeUnwrapErr().type).toBe('permission_denied');
    });
  });

  describe('files', () => {
    const folder = (): string => join(directory, 'allocations', id);

    it('are listed, described and read within their allocation', async () => {
      writeFileSync(join(folder(), 'alloc', 'data', 'text'), 'abcdef');
      const listed = (
        await listAllocationFiles(engine, hostPrincipal, { allocationId: id, path: '/' })
      )._unsafeUnwrap();
      expect(listed.map(({ Name, IsDir }) => [Name, IsDir])).toEqual([
        ['alloc', true],
        ['main', true],
      ]);
      const query = { allocationId: id, path: 'alloc/data/text' };
      expect((await statAllocationFile(engine, hostPrincipal, query))._unsafeUnwrap()).toMatchObject({
        Name: 'text',
        Size: 6,
        FileMode: expect.stringMatching(/^-rw/),
        ContentType: 'text/plain; charset=utf-8',
      });
      const part = async (offset: number, limit: number) => {
        const read = await readAllocationFile(engine, hostPrincipal, { ...query, offset, limit });
        return (await hear(read._unsafeUnwrap())).stdout;
      };
      expect(await part(2, 3)).toBe('cde');
      // No limit, and an offset beyond the end.
      expect([await part(4, 0), await part(4, -1), await part(100, 1)]).toEqual(['ef', 'ef', '']);
    });

    it('of output are read by positions that rotation does not change, and downloaded while it is written', async () => {
      const mark = join(directory, 'mark');
      const wait = (name: string): string => `while [ ! -e '${mark}-${name}' ]; do sleep 0.02; done`;
      const text = `seq 1 100000; ${wait('more')}; seq 100001 400000; ${wait('end')}`;
      const task = { Config: { command: '/bin/sh', args: ['-c', text] } };
      const job = { ID: 'loud', Type: 'batch', Datacenters: ['*'], TaskGroups: [groupDocument({}, task)] } as JobInput;
      (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
      const running = (each: Allocation): boolean => each.JobID === 'loud' && each.ClientStatus === 'running';
      const { ID: allocationId } = await until(running);
      const { files } = engine.as(hostPrincipal);
      const read = async (range: { readonly from?: number; readonly limit?: number } = {}) => {
        const found = await files.readLog(allocationId, { task: 'main', type: 'stdout', ...range });
        const { data, ...rest } = found._unsafeUnwrap();
        return { ...rest, text: Buffer.from(data, 'base64').toString() };
      };
      const ended = async (length: number): Promise<void> => {
        const limit = AbortSignal.timeout(patience);
        while ((await read({ limit: 0 })).endByte < length && !limit.aborted)
          await new Promise((done) => setTimeout(done, 20));
      };
      const download = async (): Promise<string> => {
        let whole = '';
        const items = files.logs(allocationId, { task: 'main', type: 'stdout', download: true });
        for await (const bytes of items) whole += bytes instanceof Uint8Array ? Buffer.from(bytes).toString() : '';
        return whole;
      };
      const whole = Array.from({ length: 400_000 }, (_, at) => `${at + 1}\n`).join('');
      const first = whole.indexOf('100001\n');
      await ended(first);
      expect(await read()).toEqual({
        ...{ firstByte: 0, endByte: first, files: 1, from: first - 65_536, to: first, hasEnded: false },
        text: whole.slice(first - 65_536, first),
      });
      expect(await download()).toBe(whole.slice(0, first));
      writeFileSync(`${mark}-more`, '');
      await ended(whole.length);
      const { firstByte, endByte, files: kept } = await read({ limit: 0 });
      expect({ firstByte, endByte, kept }).toEqual({ firstByte: 1024 ** 2, endByte: whole.length, kept: 2 });
      expect(await read({ from: 10, limit: 20 })).toMatchObject({ from: firstByte, to: firstByte, text: '' });
      const middle = 2 * firstByte - 500_000;
      expect((await read({ from: middle, limit: 1024 ** 2 })).text).toBe(whole.slice(middle, middle + 1024 ** 2));
      expect(await download()).toBe(whole.slice(firstByte));
      writeFileSync(`${mark}-end`, '');
      await until((each) => each.ID === allocationId && each.ClientStatus === 'complete');
      expect(await read({ limit: 10 })).toMatchObject({ hasEnded: true, text: whole.slice(-10) });
      for (const name of ['more', 'end']) rmSync(`${mark}-${name}`);
      (await stopJob(engine, hostPrincipal, { jobId: 'loud', purge: true }))._unsafeUnwrap();
    });

    it('are not read from before their start', async () => {
      writeFileSync(join(folder(), 'alloc', 'data', 'text'), 'abcdef');
      const query = { allocationId: id, path: 'alloc/data/text', offset: -1 };
      const read = await readAllocationFile(engine, hostPrincipal, query);
      expect(read._unsafeUnwrapErr()).toMatchObject({ type: 'command_failed' });
      const streamed = async (origin: 'start' | 'end', offset: number) => {
        const answer = await streamAllocationFile(engine, hostPrincipal, { ...query, origin, offset, follow: false });
        return answer.isErr() ? answer.error.type : (await hear(answer.value)).stdout;
      };
      expect(await streamed('start', -1)).toBe('command_failed');
      expect([await streamed('start', 4), await streamed('end', 2), await streamed('end', -1)]).toEqual([
        'ef',
        'ef',
        '',
      ]);
    });

    it.each([
      ['alloc/data/text', 'command_failed', /is not a directory/],
      ['../../node-id', 'command_failed', /escapes/],
    ])('that are no folders of the allocation are not listed: %s', async (path, type, message) => {
      writeFileSync(join(folder(), 'alloc', 'data', 'text'), 'abcdef');
      const listed = await listAllocationFiles(engine, hostPrincipal, { allocationId: id, path });
      expect(listed._unsafeUnwrapErr()).toMatchObject({ type, message: expect.stringMatching(message) });
      expect(JSON.stringify(listed._unsafeUnwrapErr())).not.toContain(directory);
    });

    it.each([
      ['../../node-id', 'command_invalid'],
      ['alloc/../../x', 'command_invalid'],
      ['alloc/data/out', 'command_invalid'],
      ['alloc/data/hidden/key', 'command_failed'],
      ['main/secrets/key', 'command_failed'],
      ['main/private/state.json', 'command_failed'],
      ['alloc/data/nothing', 'command_invalid'],
      ['alloc/data', 'command_invalid'],
      ['a\0b', 'command_invalid'],
    ])('are closed at %s', async (path, type) => {
      rmSync(join(folder(), 'alloc/data/out'), { force: true });
      rmSync(join(folder(), 'alloc/data/hidden'), { force: true });
      symlinkSync('/etc/passwd', join(folder(), 'alloc/data/out'));
      symlinkSync('../../main/secrets', join(folder(), 'alloc/data/hidden'));
      writeFileSync(join(folder(), 'main/secrets/key'), 'secret');
      const read = await readAllocationFile(engine, hostPrincipal, { allocationId: id, path });
      expect(read._unsafeUnwrapErr()).toMatchObject({ type });
    });

    it('that do not exist are not found by listing and describing', async () => {
      const query = { allocationId: id, path: 'alloc/data/nothing' };
      for (const answer of [
        await listAllocationFiles(engine, hostPrincipal, query),
        await statAllocationFile(engine, hostPrincipal, query),
      ]) {
        expect(answer._unsafeUnwrapErr()).toMatchObject({ type: 'command_not_found' });
      }
    });

    it('of logs are followed over their ends, from either side', async () => {
      const base = join(folder(), 'alloc', 'logs', 'main.stderr');
      for (const [number, text] of ['one\n', 'two\n', 'three\n'].entries()) writeFileSync(`${base}.${number}`, text);
      const logs = async (offset: number, origin: 'start' | 'end'): Promise<string> => {
        const query = { allocationId: id, task: 'main', stream: 'stderr', offset, origin, follow: false } as const;
        const read = await streamTaskLogs(engine, hostPrincipal, query);
        return (await hear(read._unsafeUnwrap())).stdout;
      };
      expect(await logs(0, 'start')).toBe('one\ntwo\nthree\n');
      expect(await logs(6, 'start')).toBe('o\nthree\n');
      expect(await logs(7, 'end')).toBe('\nthree\n');
      // Nothing from the end is the newest file as a whole.
      expect(await logs(0, 'end')).toBe('three\n');
      expect(await logs(100, 'end')).toBe('one\ntwo\nthree\n');
      expect(await logs(100, 'start')).toBe('');
    });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
