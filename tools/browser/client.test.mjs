// The client of the package, bundled for browsers, in a page of the public origin of a server with access control.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { jobNamed, startBrowser, startPages, startServer, startTap } from './support.mjs';

let server;
let pages;
let tap;
let browser;
let page;
let token;

before(async () => {
  const client = await bundled();
  const script = "<script type=module>window.client = await import('/client.js')</script>";
  pages = await startPages({ '/': `<body>${script}`, '/client.js': client });
  // The page and the interface share one origin, as behind a proxy: first the origin serves the page, then the interface.
  let behind = pages.url;
  tap = await startTap(() => behind);
  const origin = `http://jobs.example:${tap.port}`;
  server = await startServer('--access', 'token', '--public-origin', origin);
  token = await server.printed(/^management token.*: (\S+)/);
  browser = await startBrowser(['jobs.example']);
  page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction(() => window.client !== undefined);
  behind = server.url;
});
after(async () => {
  await browser?.close();
  tap?.ended();
  pages?.ended();
  await server?.ended();
});

async function bundled() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../dist/client.js', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'error',
  });
  return outputFiles[0].text;
}

test('registers a job, waits for it, reads the events and runs an action', { timeout: 60_000 }, async () => {
  const greet = { Name: 'greet', Command: '/bin/sh', Args: ['-c', 'read name; echo "hello $name"; exit 3'] };
  const job = jobNamed('in-a-page', 'exec sleep 600', [greet]);
  const seen = await page.evaluate(inPage, { token, job });
  assert.equal(seen.status, 'running');
  assert.deepEqual(seen.event, { Topic: 'Job', Type: 'JobRegistered', Key: 'in-a-page' });
  // A finished command session ends without a close frame.
  assert.deepEqual(seen.action, { stdout: 'hello page\n', exitCode: 3, close: 1006 });
  assert.equal(seen.stopped, true);
  assert.equal(seen.withoutToken, 'permission_denied');
});

/** Runs in the page. */
async function inPage({ token, job }) {
  const { connect, orThrow } = window.client;
  const url = location.origin;
  const box = connect({ url, token });

  await orThrow(box.jobs.register(job));
  let allocation;
  for (let waiting = {}; allocation?.ClientStatus !== 'running'; ) {
    const { value, index } = await orThrow(box.jobs.allocations(job.ID, waiting));
    allocation = value[0];
    waiting = { index, wait: '10s' };
  }

  const stop = new AbortController();
  let event;
  for await (const { Events } of box.cluster.events({ topics: ['Job'], index: 0, signal: stop.signal })) {
    const { Topic, Type, Key } = Events[0];
    event = { Topic, Type, Key };
    break;
  }
  stop.abort();

  const socket = await orThrow(
    box.jobs.runAction(job.ID, { allocationId: allocation.ID, task: 'main', action: 'greet', tty: 'false' }),
  );
  await socket.send(JSON.stringify({ stdin: { data: btoa('page\n') } }));
  await socket.send(JSON.stringify({ stdin: { close: true } }));
  const action = { stdout: '', exitCode: undefined };
  for await (const message of socket.messages) {
    const frame = JSON.parse(message);
    if (frame.stdout?.data) action.stdout += atob(frame.stdout.data);
    if (frame.exited) action.exitCode = frame.result.exit_code;
  }
  action.close = (await socket.closed).code;

  const refused = await connect({ url }).jobs.register(job);
  const stopped = (await box.jobs.stop(job.ID, { purge: true })).isOk();
  return { status: allocation.ClientStatus, event, action, stopped, withoutToken: refused.error?.type };
}
