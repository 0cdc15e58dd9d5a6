import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fencesOf, programsOf } from './fence-programs.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const shell = fencesOf(readme).filter(({ language }) => language === 'sh');

test('the first two programs have at most 15 lines', () => {
  const lengths = programsOf(readme)
    .slice(0, 2)
    .map(({ source }) => source.split('\n').filter((line) => line.trim() !== '').length);
  expect(lengths.filter((lines) => lines > 15)).toEqual([]);
});

test('the server for job files runs the job as printed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-readme-'));
  const npx = join(folder, 'npx');
  writeFileSync(npx, `#!/bin/sh\nshift\nexec '${process.execPath}' '${join(root, 'dist/cli.js')}' "$@"\n`);
  chmodSync(npx, 0o755);
  const port = await freePort();
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env['PATH']}`,
    SIGNALBOX_LISTEN: `127.0.0.1:${port}`,
    SIGNALBOX_ADDR: `http://127.0.0.1:${port}`,
  };
  const run = (needle: string) => {
    const fence = shell.find(({ lines }) => lines.some((line) => line.includes(needle)));
    const script = fence?.lines.join('\n') ?? `echo no program with ${needle}; exit 1`;
    return spawn('sh', ['-c', script], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  };
  const server = run('signalbox serve');
  try {
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${port}/ready`).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    const job = run('signalbox job run');
    let output = '';
    for (const stream of [job.stdout, job.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    const [code] = await once(job, 'close');
    expect(code, output).toBe(0);
    expect(output).toContain('\nhello from a real process\n');
  } finally {
    const ended = once(server, 'exit');
    process.kill(-(server.pid ?? 0), 'SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
