import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { runInTerminal } from '../../../../adapters/runner/drivers/raw-exec-terminal.js';
import type { CommandInput, CommandOutput } from '../../../../src/agent/link/node-command.js';

it('a terminal tells the end of its command, although it could not take a new size, as when its process had just ended', async () => {
  async function* input(): AsyncGenerator<CommandInput> {
    // The library refuses this size, as it refuses any of a terminal whose process has ended.
    yield { type: 'resize', rows: Number.POSITIVE_INFINITY, columns: 80 };
    yield { type: 'data', bytes: Buffer.from('x\n') };
  }
  const begun = await runInTerminal({
    command: ['/bin/sh', '-c', 'read line; exit 7'],
    terminal: true,
    directory: tmpdir(),
    environment: { PATH: process.env['PATH'] ?? '' },
    input: input(),
    signal: new AbortController().signal,
    taskEnded: new AbortController().signal,
    begun: () => () => undefined,
  });
  const said: CommandOutput[] = [];
  for await (const output of begun._unsafeUnwrap()) said.push(output);
  expect(said.slice(-2)).toEqual([
    { type: 'closed', stream: 'stdout' },
    { type: 'exited', code: 7 },
  ]);
});
