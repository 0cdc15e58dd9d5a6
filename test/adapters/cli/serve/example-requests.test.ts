import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { startReceiver } from '../../../../adapters/cli/receive-command.js';
import { runCommand } from '../../../../adapters/cli/run-command.js';
import { exampleRequests } from '../../../../adapters/cli/serve/example-requests.js';
import { serve } from '../../../../adapters/cli/serve/serve.js';
import type { Terminal } from '../../../../adapters/cli/terminal.js';
import { createHttpHandler, nodeListener } from '../../../../adapters/compat/index.js';
import { memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../../adapters/node/index.js';
import { createEngine } from '../../../../src/index.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A shell function that does what the printed lines ask of curl, for hosts that have none. */
const curl = `curl() { "${process.execPath}" --input-type=module -e '
  const words = process.argv.slice(1), headers = {}; let method = "GET", body, url;
  while (words.length > 0) { const word = words.shift();
    if (word === "-s") continue; else if (word === "-X") method = words.shift(); else if (word === "-d") body = words.shift();
    else if (word === "-H") { const [name, value] = words.shift().split(": "); headers[name] = value; } else url = word; }
  const answer = await fetch(url, { method, headers, body });
  console.log(answer.status, (await answer.text()).replaceAll("\\n", " "));' -- "$@"; }`;

it('prints three requests that work as printed', async () => {
  const engine = createEngine({
    storage: memoryStorage(),
    clock: systemClock(),
    ids: randomIds(),
    delivery: recordingDelivery(),
  });
  const server = createServer(nodeListener(createHttpHandler(engine, { access: 'open' })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  const lines = exampleRequests(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { program: 'signalbox' })
    .trim()
    .split('\n')
    .slice(1);
  expect(lines).toHaveLength(3);
  const answers: string[] = [];
  for (const line of lines) answers.push(await run(line));
  expect(answers[0]).toMatch(/^200 \{"EvalID":"[0-9a-f-]{36}"/);
  expect(answers[1]).toMatch(/^200 \[/);
  expect(answers[2]).toMatch(/^200 .*"ID": "hello"/);
});

/** The server lives in this process, so the shell must not block it. */
async function run(line: string): Promise<string> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${curl}\n${line}`]);
  return stdout.trim();
}

/** A server with a workspace, and what it has printed. */
async function servedWithExamples(options: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-first-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const seed = join(folder, 'seed.json');
  await writeFile(seed, JSON.stringify({ workspaces: [{ id: 'demo', name: 'demo', organization: 'demo' }] }));
  let printed = '';
  const terminal = {
    ...silent,
    out: (text: string) => {
      printed += text;
    },
  };
  const own = ['--listen', '127.0.0.1:0', '--no-runner', '--examples', '--seed', seed];
  const { stop } = await serve([...own, ...options], terminal);
  return { printed, stop };
}

it('prints three commands after which a first webhook was delivered', async () => {
  const { printed, stop } = await servedWithExamples(['--access', 'open', '--allow-outbound', '127.0.0.1/32']);
  const lines = printed.split('\n');
  const commands = lines
    .slice(lines.findIndex((line) => line.startsWith('a first webhook')) + 1)
    .map((line) => line.trim());
  const [receiver = '', put = '', send = ''] = commands.map((line) => line.slice(line.indexOf(' ', 5) + 1));
  expect(receiver).toBe('receive &');

  let received = '';
  let announced = '';
  const at = {
    ...silent,
    out: (text: string) => {
      received += text;
    },
    error: (text: string) => {
      announced += text;
    },
  };
  const options2 = { listen: '127.0.0.1:0', 'token-file': undefined, status: undefined };
  const destination = await startReceiver({ terminal: at, json: false, options: options2 } as never);
  closers.push(
    () => destination.close(),
    () => destination.closeAllConnections(),
  );
  const url = /receiving on (\S+)/.exec(announced)?.[1] ?? '';
  expect(await runCommand(put.replace('http://127.0.0.1:4647', url).split(' '), silent)).toBe(0);
  expect(await runCommand(send.split(' '), silent)).toBe(0);
  await expect.poll(() => received).toMatch(/^verification .*\nrun:completed "Run Completed" id=\S+\n$/);
  await stop();
});

it('the commands work where callers need a token, and where the notification interface has a base', async () => {
  const { printed, stop } = await servedWithExamples(['--names', 'upstream']);
  const [, token = ''] = /^ +export SIGNALBOX_TOKEN=(\S+)$/m.exec(printed) ?? [];
  expect(printed).toContain(`management token, shown this once: ${token}\n`);
  const lines = printed.split('\n').map((line) => line.trim());
  for (const line of lines.filter((each) => each.startsWith('curl')))
    expect(await run(`SIGNALBOX_TOKEN=${token}\n${line}`)).toMatch(/^200 /);
  const send = (lines.find((line) => line.includes(' event send ')) ?? '').replace(/^.* event send/, 'event send');
  const environment = { SIGNALBOX_TOKEN: token };
  expect(await runCommand(send.split(' '), { ...silent, environment })).toBe(0);
  await stop();
});

const silent: Terminal = {
  out: () => undefined,
  error: () => undefined,
  read: () => Promise.reject(new Error('nothing is read')),
  colours: false,
  environment: {},
};
