// Runs the Go programs of test/clients, which use the public client modules, against two new servers: one with open
// access, and one with tokens.
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

const open = serve('open', '--seed', seedFile, '--allow-outbound', '127.0.0.0/8');
const withTokens = serve('token');
let failed = true;
try {
  failed = (await tested(await environment())) !== 0;
} finally {
  await Promise.all([open, withTokens].map(ended));
  // Tasks outlive their server for a moment.
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
process.exitCode = failed ? 1 : 0;

function serve(access, ...options) {
  const command = ['serve', '--listen', '127.0.0.1:0', '--store', 'memory', '--names', 'upstream', '--access', access];
  return spawn(process.execPath, [join(root, 'dist/cli.js'), ...command, ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function ended(server) {
  server.kill('SIGTERM');
  if (server.exitCode === null) await new Promise((resolve) => server.once('exit', resolve));
}

/** The address that the server prints, and its management token, if any. */
function printed(process, pattern) {
  return new Promise((resolve, reject) => {
    process.once('exit', (code) => reject(new Error(`The server ended with ${code} before it listened`)));
    createInterface({ input: process.stdout }).on('line', (line) => {
      const found = pattern.exec(line);
      if (found !== null) resolve(found[1]);
    });
  });
}

async function environment() {
  const [address, tokensAddress, token] = await Promise.all([
    printed(open, /listening on (\S+)/),
    printed(withTokens, /listening on (\S+)/),
    printed(withTokens, /^management token.*: (\S+)/),
  ]);
  return { SIGNALBOX_ADDR: address, SIGNALBOX_TOKENS_ADDR: tokensAddress, SIGNALBOX_TOKEN: token };
}

function tested(variables) {
  const go = spawn('go', ['test', '-count=1', '-timeout=300s', ...process.argv.slice(2), './...'], {
    cwd: join(root, 'test/clients'),
    env: { ...process.env, ...variables },
    stdio: 'inherit',
  });
  return new Promise((resolve) => go.once('exit', resolve));
}
