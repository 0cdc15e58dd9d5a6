import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

it('a terminal takes input as fast as its process reads it, and holds no more', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-terminal-'));
  const pieces = 200;
  let given = 0;
  let isUp: () => void = () => undefined;
  const up = new Promise<void>((resolve) => {
    isUp = resolve;
  });
  async function* input(): AsyncGenerator<CommandInput> {
    await up;
    for (; given < pieces; given += 1) yield { type: 'data', bytes: Buffer.alloc(4096, 'a') };
  }
  const text = `stty raw -echo; echo up; until [ -e go ]; do sleep 0.02; done; head -c ${pieces * 4096} | wc -c`;
  const begun = await runInTerminal({
    command: ['/bin/sh', '-c', text],
    terminal: true,
    directory: folder,
    environment: { PATH: process.env['PATH'] ?? '' },
    input: input(),
    signal: new AbortController().signal,
    taskEnded: new AbortController().signal,
    begun: () => () => undefined,
  });
  let said = '';
  let unread: number | undefined;
  for await (const output of begun._unsafeUnwrap()) {
    if (output.type !== 'data') continue;
    said += Buffer.from(output.bytes).toString();
    if (unread !== undefined || !said.includes('up')) continue;
    isUp();
    // As many turns as would take all of it, if it were taken.
    for (let turn = 0; turn < 20 * pieces; turn += 1) await new Promise((resume) => setImmediate(resume));
    unread = given;
    writeFileSync(join(folder, 'go'), '');
  }
  expect(unread).toBeLessThan(20);
  expect(given).toBe(pieces);
  expect(said.replace('up', '').trim()).toBe(String(pieces * 4096));
  rmSync(folder, { recursive: true, force: true });
});
