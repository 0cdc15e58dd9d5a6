// Runs the Go programs of test/clients, which use the public client modules, against a server of its own.
// Usage: npm run test:clients [-- -run PATTERN]; everything after the dashes goes to `go test`. Needs a build and Go.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'signalbox-clients-'));
const seedFile = join(folder, 'seed.json');
await writeFile(seedFile, JSON.stringify({ workspaces: [{ id: 'ws-net', name: 'net', organization: 'acme' }] }));

const server = spawn(
  process.execPath,
  [
    join(root, 'dist/cli.js'),
    ...['serve', '--listen', '127.0.0.1:0', '--store', 'memory', '--access', 'open', '--names', 'upstream'],
    ...['--seed', seedFile, '--allow-outbound', '127.0.0.0/8'],
  ],
  { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
);
let failed = true;
try {
  failed = (await tested(await addressOf(server))) !== 0;
} finally {
  server.kill('SIGTERM');
  if (server.exitCode === null) await new Promise((resolve) => server.once('exit', resolve));
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

/** The server says where it listens in its first line. */
function addressOf(process) {
  return new Promise((resolve, reject) => {
    process.once('exit', (code) => reject(new Error(`The server ended with ${code} before it listened`)));
    createInterface({ input: process.stdout }).on('line', (line) => {
      const url = /https?:\/\/[\d.:]+/.exec(line)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}

function tested(address) {
  const go = spawn('go', ['test', '-count=1', '-timeout=300s', ...process.argv.slice(2), './...'], {
    cwd: join(root, 'test/clients'),
    env: { ...process.env, SIGNALBOX_ADDR: address },
    stdio: 'inherit',
  });
  return new Promise((resolve) => go.once('exit', resolve));
}
