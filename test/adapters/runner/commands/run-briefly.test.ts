import { tmpdir } from 'node:os';
import { err, ok } from 'neverthrow';
import { afterEach, describe, expect, it } from 'vitest';
import { runBriefly } from '../../../../adapters/runner/commands/run-briefly.js';
import { identityOf, isAlive } from '../../../../adapters/runner/disk/process-identity.js';
import { runWithPipes } from '../../../../adapters/runner/drivers/raw-exec-session.js';
import type { CommandRequest } from '../../../../adapters/runner/drivers/task-driver.js';
import { type CommandOutput, commandRefused } from '../../../../src/agent/link/node-command.js';
import { patience } from '../../../support/patience.js';

const left: number[] = [];

afterEach(() => {
  for (const pid of left.splice(0)) if (lives(pid)) process.kill(pid, 'SIGKILL');
});

const exec = async (request: CommandRequest) =>
  runWithPipes({
    ...request,
    directory: tmpdir(),
    environment: { PATH: process.env['PATH'] ?? '' },
    taskEnded: new AbortController().signal,
    begun: () => () => undefined,
  });

function run(text: string, timeout = patience) {
  return runBriefly(exec, ['/bin/sh', '-c', text], timeout);
}

/** A dead process whose parent has not looked after it yet counts as ended. */
function lives(pid: number): boolean {
  return isAlive(identityOf(pid));
}

describe('a command of a check or of a template', () => {
  it('ends with its first process: what it has left in its group ends, too, and does not hold its result back', async () => {
    const { code, output } = await run('sleep 600 & echo $!; exit 3');
    left.push(Number(output));
    expect(code).toBe(3);
    await expect.poll(() => lives(Number(output))).toBe(false);
  });

  it('has its own result although a process that has left its group holds its output open', async () => {
    const { code, output } = await run(`setsid sh -c 'echo $$; exec sleep 600' & sleep 0.1; exit 4`);
    left.push(Number(output));
    expect(code).toBe(4);
    expect(lives(Number(output))).toBe(true);
  });

  it('is ended with its group when it takes too long', async () => {
    const { code, output } = await run('sleep 600 & echo $!; wait', 300);
    const [pid = '', ...rest] = output.split('\n');
    left.push(Number(pid));
    expect(code).toBe(1);
    expect(rest.join('')).toBe('the command timed out');
    await expect.poll(() => lives(Number(pid))).toBe(false);
  });

  it('has no result when its task has ended before it, or was not running', async () => {
    const ended = new AbortController();
    const during = await runBriefly(
      async (request) =>
        runWithPipes({
          ...request,
          directory: tmpdir(),
          environment: { PATH: process.env['PATH'] ?? '' },
          taskEnded: ended.signal,
          begun: () => {
            queueMicrotask(() => ended.abort());
            return () => undefined;
          },
        }),
      ['/bin/sleep', '600'],
      patience,
    );
    const refused = commandRefused('not_found', 'task "t" is not running.');
    const before = await runBriefly(async () => err(refused), ['/bin/true'], patience);
    expect([during.isAborted, before.isAborted]).toEqual([true, true]);
  });

  it('has failed when the driver throws, at its beginning or while it runs', async () => {
    const fault = new Error('spawn ENOMEM');
    const atOnce = await runBriefly(() => Promise.reject(fault), ['/bin/true'], patience);
    async function* broken(): AsyncGenerator<CommandOutput> {
      yield { type: 'data', stream: 'stdout', bytes: Buffer.from('begun') };
      throw fault;
    }
    const later = await runBriefly(async () => ok(broken()), ['/bin/true'], patience);
    expect([atOnce, later]).toEqual(Array(2).fill({ code: 1, output: 'spawn ENOMEM', isAborted: false }));
  });
});
