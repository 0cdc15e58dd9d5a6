// A page that stays open: restarts, gaps and upgrades of the server, many minutes in two tabs, and work that goes on without the page.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { connect } from '../../dist/client.js';
import { orThrow } from '../../dist/index.js';
import { eventually, jobNamed, register, startAddress, startBrowser, startServerOf, watchedPage } from './support.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const timeout = 120_000;
/** Longer than the longest pause before a lost connection is tried again. */
const reconnected = 45_000;
let browser;
const open = [];

before(async () => {
  browser = await startBrowser([]);
});
after(() => browser?.close());
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Servers one after the other on one store, behind one address. */
async function installation() {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-page-'));
  const address = await startAddress();
  open.push(() => rm(folder, { recursive: true, force: true }), address.ended);
  const serve = async (program = join(root, 'dist/cli.js'), ...options) => {
    const server = await startServerOf(program, '--store', `sqlite:${folder}/store.sqlite`, '--access', 'open', '--allow-outbound', '127.0.0.1/32', ...options);
    open.push(server.killed);
    return server;
  };
  return { address, serve };
}

async function opened() {
  const context = await browser.newContext();
  open.push(() => context.close());
  return { context, ...(await watchedPage(context)) };
}

const batch = (id, script = 'exit 0') => ({ ...jobNamed(id, script), Type: 'batch' });
const idsOf = (page) => page.locator('[data-row-link]').allTextContents();
const live = (page) => page.getByRole('button', { name: 'live' });
async function listed(page, ids) {
  await eventually(
    async () => ((await idsOf(page)).join() === ids.join() ? true : undefined),
    () => `the list ${ids}`,
    reconnected,
  );
}

test('after a restart and after a gap in the events the page is current by itself, with no row twice and none missing', { timeout }, async () => {
  const { address, serve } = await installation();
  const first = await serve();
  const ids = Array.from({ length: 12 }, (_, at) => `r-${String(at).padStart(2, '0')}`);
  for (const id of ids) await register(first.url, batch(id));
  address.at(first.url);
  const { page, faults } = await opened();
  await page.goto(`${address.url}/ui/jobs?sort=id`);
  await listed(page, ids);
  await live(page).waitFor();
  await first.killed();
  await page.getByText(/reconnecting, stale for \d+ s/).waitFor();
  assert.deepEqual(await idsOf(page), ids);

  const second = await serve();
  await register(second.url, batch('r-05-new'));
  await fetch(`${second.url}/v1/job/r-03?purge=true`, { method: 'DELETE' });
  address.at(second.url);
  const changed = [...ids.filter((id) => id !== 'r-03'), 'r-05-new'].sort();
  await listed(page, changed);
  await live(page).waitFor();

  // More events than the server keeps while the connection is away.
  address.at(undefined);
  await page.getByText(/reconnecting, stale for \d+ s/).waitFor({ timeout: 70_000 });
  for (let at = 0; at < 150; at++) await register(second.url, { ...batch('r-often'), Meta: { at: String(at) } });
  await register(second.url, batch('a-first'));
  address.at(second.url);
  await listed(page, ['a-first', ...changed, 'r-often'].sort());
  await live(page).waitFor();
  await register(second.url, batch('z-last'));
  await listed(page, ['a-first', ...changed, 'r-often', 'z-last'].sort());
  assert.deepEqual(faults, []);
});

/** The built package with other names for the parts of the page, as another version has. */
async function otherVersion() {
  const folder = join(root, 'tmp/other-version');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  open.push(() => rm(folder, { recursive: true, force: true }));
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await cp(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  const assets = join(folder, 'dist/web/assets');
  const names = (await readdir(assets)).filter((name) => !/\.(br|gz)$/.test(name));
  const renamed = names.map((name) => [name, name.replace(/-([\w-]{8})\.(\w+)$/, (_, hash, end) => `-${[...hash].reverse().join('')}.${end}`)]);
  for (const file of [join(folder, 'dist/web/index.html'), ...names.map((name) => join(assets, name))]) {
    let text = await readFile(file, 'utf8');
    for (const [name, other] of renamed) text = text.replaceAll(name, other);
    await writeFile(file, text);
  }
  for (const [name, other] of renamed) {
    const content = await readFile(join(assets, name));
    for (const end of ['', '.br', '.gz']) await rm(join(assets, name + end), { force: true });
    await writeFile(join(assets, other), content);
    await writeFile(join(assets, `${other}.br`), brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }));
    await writeFile(join(assets, `${other}.gz`), gzipSync(content));
  }
  return { program: join(folder, 'dist/cli.js'), names: new Set(renamed.map(([, other]) => other)) };
}

test('after an upgrade of the server an open tab asks to be loaded again, and never mixes parts of two versions', { timeout }, async () => {
  const { address, serve } = await installation();
  const [first, other] = await Promise.all([serve(), otherVersion()]);
  await register(first.url, batch('kept'));
  address.at(first.url);
  const { page } = await opened();
  await page.goto(`${address.url}/ui/jobs`);
  await page.getByRole('link', { name: 'kept', exact: true }).waitFor();
  const loaded = [];
  page.on('response', (response) => {
    const name = /\/assets\/([^/?]+\.(?:js|css))$/.exec(new URL(response.url()).pathname)?.[1];
    if (name !== undefined) loaded.push({ name, ok: response.ok() });
  });
  await first.ended();
  loaded.splice(0);
  const second = await serve(other.program);
  address.at(second.url);
  const reload = page.getByRole('button', { name: 'The server has another version: reload' });
  await reload.waitFor({ timeout: reconnected });
  // What was not loaded before is not taken from the other version.
  await page.getByRole('link', { name: 'Nodes', exact: true }).click();
  await page.getByText('This part of the page cannot be loaded').waitFor();
  assert.ok(loaded.length > 0);
  assert.ok(loaded.every(({ name, ok }) => !ok && !other.names.has(name)), JSON.stringify(loaded));
  loaded.splice(0);
  await reload.click();
  await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  await live(page).waitFor();
  // Answers to the old tab may still come.
  assert.ok(loaded.some(({ ok }) => ok) && loaded.every(({ name, ok }) => ok === other.names.has(name)), JSON.stringify(loaded));
});

test('two tabs for ten minutes: one stream in all, a hidden tab is silent and then current within a second', { timeout }, async () => {
  const { address, serve } = await installation();
  const server = await serve();
  await register(server.url, batch('minute-00'));
  address.at(server.url);
  const { context, page: first, faults } = await opened();
  const second = await context.newPage();
  const streams = new Set();
  let most = 0;
  let asked = 0;
  for (const tab of [first, second]) {
    await tab.clock.install();
    tab.on('request', (request) => {
      if (tab === second) asked += 1;
      if (!request.url().includes('/v1/event/stream')) return;
      streams.add(request);
      most = Math.max(most, streams.size);
    });
    for (const end of ['requestfinished', 'requestfailed']) tab.on(end, (request) => streams.delete(request));
    await tab.goto(`${address.url}/ui/jobs?sort=id`);
    await tab.getByRole('link', { name: 'minute-00', exact: true }).waitFor();
  }
  const hide = (hidden) =>
    second.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: is });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  let silent;
  for (let minute = 1; minute <= 10; minute++) {
    const id = `minute-${String(minute).padStart(2, '0')}`;
    await register(server.url, batch(id));
    await Promise.all([first.clock.runFor(60_000), second.clock.runFor(60_000)]);
    await first.getByRole('link', { name: id, exact: true }).waitFor();
    if (minute === 4) await hide(true);
    if (minute === 5) silent = asked;
    if (minute > 5 && minute < 8) assert.equal(asked, silent, `requests of the hidden tab in minute ${minute}`);
    if (minute === 8) {
      await hide(false);
      await second.clock.runFor(1000);
      await second.getByRole('link', { name: id, exact: true }).waitFor({ timeout: 1000 });
    }
  }
  assert.equal(streams.size, 1);
  assert.ok(most <= 2, `${most} streams while the lead changed`);
  assert.deepEqual(faults, []);
});

/** A destination that first refuses everything, and then takes its time. */
async function startDestination() {
  const got = [];
  let answers = { status: 410, after: 0 };
  const server = createServer((request, response) => {
    let sent = '';
    request.on('data', (bytes) => {
      sent += bytes;
    });
    request.on('end', () => {
      const { run_id: run } = JSON.parse(sent);
      setTimeout(() => {
        if (answers.status === 200 && run !== null) got.push(run);
        response.writeHead(run === null ? 200 : answers.status).end();
      }, answers.after);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}/hook`, got, answer: (answer) => (answers = answer) };
}

test('a bulk redelivery goes on after the server was killed, shows its progress, and is stopped', { timeout }, async () => {
  const { address, serve } = await installation();
  const destination = await startDestination();
  const cli = join(root, 'dist/cli.js');
  const patient = ['--set', 'notifications.delivery.breaker.failures=1000'];
  const first = await serve(cli, ...patient);
  let box = connect({ url: first.url });
  await orThrow(box.workspaces.put('ws-bulk', { name: 'Bulk', organization: 'acme' }));
  const { id } = await orThrow(
    box.notifications.create('ws-bulk', { name: 'Hook', destinationType: 'generic', url: destination.url, triggers: ['run:errored'], token: 'shared', enabled: true }),
  );
  const runs = Array.from({ length: 18 }, (_, at) => `run-${at}`);
  for (const run_id of runs) await orThrow(box.notifications.send('ws-bulk', { trigger: 'run:errored', run_id }));
  const countOf = async (outcome) => (await orThrow(box.deliveries.list(id, { outcome }))).items.length;
  await eventually(async () => ((await countOf('dead')) === runs.length ? true : undefined), () => 'all given up', 30_000);

  address.at(first.url);
  destination.answer({ status: 200, after: 250 });
  const { page, faults } = await opened();
  const startBulk = async (count) => {
    await page.goto(`${address.url}/ui/notify/ws-bulk/deliveries?outcome=dead&configuration=${id}`);
    await page.getByText('Send many again…').click();
    await page.getByText(`${count} deliveries`, { exact: true }).waitFor();
    await page.getByRole('button', { name: `Send ${count} again…` }).click();
    await page.getByRole('button', { name: `Send ${count} again`, exact: true }).click();
    await page.getByRole('heading', { name: 'Sending again' }).waitFor();
  };
  await startBulk(runs.length);
  await eventually(() => (destination.got.length >= 4 ? true : undefined), () => 'some that were sent');
  await first.killed();
  const second = await serve(cli, ...patient);
  box = connect({ url: second.url });
  address.at(second.url);
  await page.getByText(`${runs.length} of ${runs.length}`).waitFor({ timeout: reconnected });
  await page.getByText('Done', { exact: true }).waitFor({ timeout: reconnected });
  await eventually(async () => ((await countOf('delivered')) === runs.length ? true : undefined), () => 'all delivered', 30_000);
  assert.deepEqual(new Set(destination.got), new Set(runs));
  assert.ok(destination.got.length <= runs.length + 8, 'only what was on its way is sent twice');

  destination.answer({ status: 410, after: 0 });
  for (const run of runs) await orThrow(box.notifications.send('ws-bulk', { trigger: 'run:errored', run_id: `${run}-later` }));
  await eventually(async () => ((await countOf('dead')) === runs.length ? true : undefined), () => 'all given up', 30_000);
  destination.answer({ status: 200, after: 500 });
  await startBulk(runs.length);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped', { exact: true }).waitFor();
  const sent = destination.got.length;
  assert.ok(sent < 2 * runs.length, 'not all were sent');
  assert.deepEqual(faults, []);
});
