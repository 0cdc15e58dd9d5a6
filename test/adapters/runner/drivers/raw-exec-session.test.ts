import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { runWithPipes } from '../../../../adapters/runner/drivers/raw-exec-session.js';
import { runInTerminal } from '../../../../adapters/runner/drivers/raw-exec-terminal.js';
import type { ExecRequest } from '../../../../adapters/runner/drivers/task-driver.js';
import type { CommandInput, CommandOutput } from '../../../../src/agent/link/node-command.js';

let asker = new AbortController();
const left: number[] = [];

afterEach(() => {
  asker.abort();
  asker = new AbortController();
  for (const pid of left.splice(0)) process.kill(pid, 'SIGKILL');
});

async function* nothing(): AsyncGenerator<CommandInput> {
  yield { type: 'end' };
}

function requestOf(text: string, change: Partial<ExecRequest> = {}): ExecRequest {
  return {
    command: ['/bin/sh', '-c', text],
    terminal: false,
    directory: tmpdir(),
    environment: { PATH: process.env['PATH'] ?? '' },
    input: nothing(),
    signal: asker.signal,
    taskEnded: new AbortController().signal,
    begun: () => () => undefined,
    ...change,
  };
}

function session(text: string, change: Partial<ExecRequest> = {}): AsyncIterator<CommandOutput> {
  return runWithPipes(requestOf(text, change))._unsafeUnwrap()[Symbol.asyncIterator]();
}

async function all(outputs: AsyncIterable<CommandOutput>): Promise<CommandOutput[]> {
  const said: CommandOutput[] = [];
  for await (const output of outputs) said.push(output);
  return said;
}

const shutDown: CommandOutput = { type: 'failed', message: 'plugin is shut down' };

const openPipes = (): number => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;

describe('a command beside a task', () => {
  it('keeps no pipe open when its asker has gone, although a process that it has left holds the other ends', async () => {
    const before = openPipes();
    // It tells its number when it is in a group of its own, and then says nothing.
    const outputs = session(`setsid sh -c 'echo $$; exec sleep 60' & wait`);
    const { value } = await outputs.next();
    left.push(Number(Buffer.from((value as { bytes: Uint8Array }).bytes).toString()));
    expect(openPipes()).toBeGreaterThan(before);
    asker.abort();
    await expect.poll(openPipes).toBe(before);
  });

  it('ends at once when its task has ended just before it began', async () => {
    let over: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      over = resolve;
    });
    const outputs = session('exec sleep 60', { taskEnded: AbortSignal.abort(), begun: () => over });
    expect((await outputs.next()).value).toEqual(shutDown);
    await ended;
  });

  it('is not begun in a terminal when its task has ended, or its asker has gone, while that was prepared', async () => {
    const task = new AbortController();
    const { signal } = new AbortController();
    const ofTask = runInTerminal(requestOf('exec sleep 60', { terminal: true, signal, taskEnded: task.signal }));
    const ofAsker = runInTerminal(requestOf('exec sleep 60', { terminal: true }));
    task.abort();
    asker.abort();
    expect(await all((await ofTask)._unsafeUnwrap())).toEqual([shutDown]);
    expect(await all((await ofAsker)._unsafeUnwrap())).toEqual([]);
  });

  it('adds nothing to its input for each time that it was slow to read', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', note);
    const piece = new Uint8Array(256 * 1024);
    async function* pieces(): AsyncGenerator<CommandInput> {
      for (let sent = 0; sent < 20; sent += 1) yield { type: 'data', bytes: piece };
      yield { type: 'end' };
    }
    const said: CommandOutput[] = [];
    for await (const output of { [Symbol.asyncIterator]: () => session('wc -c', { input: pieces() }) })
      said.push(output);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    const written = said.flatMap((output) => (output.type === 'data' ? [Buffer.from(output.bytes).toString()] : []));
    expect(written.join('').trim()).toBe(String(20 * piece.length));
    expect(warnings).toEqual([]);
  });
});
