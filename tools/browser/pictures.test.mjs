// The pictures of the guide, of an engine on a manual clock and with fonts of their own, so that each is the same everywhere: a page that looks
// otherwise fails. `SIGNALBOX_PICTURES=write node --test tools/browser/pictures.test.mjs` makes them again, after a build.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { createHttpHandler, nodeListener } from '../../dist/http-server.js';
import { agentPorts, hostPrincipal, orThrow } from '../../dist/index.js';
import { createRunner, functionDriver } from '../../dist/runner.js';
import { testEngine } from '../../dist/testing.js';
import { eventually, startBrowser, watchedPage } from './support.mjs';

/** The Chromium that has drawn them. Another one draws controls and letters a little otherwise: then they are made again, with this number. */
const drawnBy = 156;
const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** Where what differs is put. */
const found = fileURLToPath(new URL('../../tmp/pictures/', import.meta.url));
const now = Date.parse('2026-11-28T12:58:00Z');
const minute = 60_000;

let folder;
let world;
let runner;
let server;
let browser;
let page;
let faults;
let url;

const exec = (MemoryMB) => ({ Name: 'main', Driver: 'exec', Config: { command: '/usr/bin/serve' }, Resources: { CPU: 100, MemoryMB } });
const call = (name) => ({ Name: 'main', Driver: 'function', Config: { function: name }, Resources: { CPU: 100, MemoryMB: 64 } });
const noRetry = { RestartPolicy: { Attempts: 0, Mode: 'fail' }, ReschedulePolicy: { Attempts: 0, Unlimited: false } };
const onRunner = { Constraints: [{ LTarget: '${node.unique.name}', Operand: '=', RTarget: 'n-1' }] };
const job = (ID, Type, task, group = {}, more = {}) => ({
  ...{ ID, Type, Datacenters: ['*'], TaskGroups: [{ Name: 'main', Count: 1, Tasks: [task], ...group }], ...more },
});
const cron = (expression) => ({ Periodic: { Enabled: true, SpecType: 'cron', Specs: [expression], TimeZone: 'Europe/Berlin' } });

/** What a job of the example logs. */
function logOrders({ log, signal }) {
  for (let order = 1; order <= 400; order++) {
    log.info(`2026-11-28T12:57:${String(order % 60).padStart(2, '0')}Z INFO order ${order} stored in 12 ms`);
    if (order % 37 === 0) log.info(`2026-11-28T12:57:41Z WARN payment of order ${order} is slow`);
    if (order % 91 === 0) log.info(`2026-11-28T12:57:42Z ERROR no stock for order ${order}`);
  }
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-pictures-'));
  let isDown = false;
  const answer = () => (isDown ? { status: 503, body: 'maintenance' } : { status: 200, body: 'ok' });
  world = await testEngine({ start: now - 180 * minute, nodes: 3, answer, behaviour: ({ JobType }) => (JobType === 'batch' ? { ends: 'complete', after: 6000 } : {}) });
  const functions = {
    shop: logOrders,
    report: () => {
      throw new Error('no data for customer');
    },
  };
  const box = world.engine.as(hostPrincipal);
  await orThrow(box.workspaces.put('ws-platform', { name: 'Platform team', organization: 'demo', executionMode: 'remote' }));
  const update = { Update: { MaxParallel: 1, Canary: 1, MinHealthyTime: 0, HealthCheck: 'task_states' } };
  await orThrow(box.jobs.register(job('web', 'service', exec(256), { Count: 4 }, update)));
  await orThrow(box.jobs.register(job('sync', 'batch', exec(64), {}, cron('*/15 * * * *'))));
  await orThrow(box.jobs.register(job('nightly', 'batch', exec(64), {}, cron('30 2 * * *'))));
  await world.clock.advanceTo(now - 20 * minute);
  const { id } = await orThrow(
    box.notifications.create('ws-platform', {
      ...{ name: 'Ops hook', destinationType: 'generic', url: 'https://ops.example.net/hooks' },
      ...{ enabled: true, triggers: ['run:errored', 'run:completed'] },
    }),
  );
  isDown = true;
  await world.clock.advanceTo(now - 10 * minute);
  for (const run_id of ['run-1', 'run-2'])
    await orThrow(box.notifications.send('ws-platform', { trigger: 'run:errored', run_id, message: 'report failed' }));
  await world.advance(minute);

  // From here on a disk is used, of which the clock knows nothing: how many writes there are by when is not always the same.
  const node = { name: 'n-1', cpu: 8000, memory: 8192, nodeId: '00000000-0000-4000-8000-0000000000a1', directory: join(folder, 'node') };
  runner = createRunner(agentPorts(world.engine, { heartbeats: false }), { ...node, drivers: [functionDriver(functions)] });
  await orThrow(runner.start());
  await orThrow(box.jobs.register(job('shop', 'service', call('shop'), {}, onRunner)));
  const parameterized = { ParameterizedJob: { MetaRequired: ['customer'], Payload: 'optional' }, ...onRunner };
  await orThrow(box.jobs.register(job('report', 'batch', call('report'), noRetry, parameterized)));
  for (const customer of ['bob', 'eve', 'mallory']) await orThrow(box.jobs.dispatch('report', { meta: { customer } }));
  const isDone = async () => {
    const shop = (await orThrow(box.jobs.allocations('shop'))).value ?? [];
    const { failures } = await orThrow(box.jobs.failures({ jobId: 'report' }));
    return shop[0]?.ClientStatus === 'running' && failures === 3 ? true : undefined;
  };
  await eventually(isDone, () => 'shop and the failures of report');
  await orThrow(box.jobs.register(job('ingest', 'service', exec(9000), { Count: 2 })));
  await orThrow(box.jobs.register(job('web', 'service', exec(320), { Count: 4 }, update)));
  await world.clock.advanceTo(now);

  server = createServer(nodeListener(createHttpHandler(world.engine, { access: 'open', page: true })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${server.address().port}/ui/`;
  const shop = (await orThrow(box.jobs.allocations('shop'))).value?.[0]?.ID;
  const delivery = (await orThrow(box.deliveries.list(id))).items.at(-1).id;
  places.logs = `allocs/${shop}/logs/main/stdout`;
  places.delivery = `notify/ws-platform/deliveries/${delivery}`;

  const installed = dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));
  const fonts = join(folder, 'fonts');
  await mkdir(fonts);
  for (const name of ['Sans', 'Sans-Bold', 'SansMono', 'SansMono-Bold'])
    await copyFile(join(installed, `DejaVu${name}.ttf`), join(fonts, `${name}.ttf`));
  const alias = (family, font) => `<alias binding="same"><family>${family}</family><prefer><family>${font}</family></prefer></alias>`;
  const aliases = ['system-ui', 'sans-serif', 'sans', 'Segoe UI', 'Liberation Sans'].map((family) => alias(family, 'DejaVu Sans'));
  const configuration = join(folder, 'fonts.conf');
  const parts = [`<dir>${fonts}</dir><cachedir>${join(folder, 'cache')}</cachedir>`, ...aliases];
  await writeFile(configuration, `<?xml version="1.0"?><fontconfig>${parts.join('')}</fontconfig>`);
  browser = await startBrowser([], { ...process.env, FONTCONFIG_FILE: configuration });
  const context = await browser.newContext({ viewport: { width: 1200, height: 640 }, colorScheme: 'light', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce' });
  ({ page, faults } = await watchedPage(context));
  page.setDefaultTimeout(15_000);
  await page.clock.setFixedTime(now);
});
after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  await runner?.stop({ deadline: 1000 });
  await world?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const places = { now: '', jobs: 'jobs', plan: 'jobs/new' };
const ready = {
  now: () => page.getByText('wait for room').waitFor(),
  jobs: () => page.getByRole('link', { name: 'report', exact: true }).waitFor(),
  plan: async () => {
    await page.getByRole('button', { name: /^Plan/ }).click();
    await page.getByRole('button', { name: 'Apply this plan' }).waitFor();
  },
  logs: () => page.getByText('order 400').waitFor(),
  delivery: () => page.getByText('503').first().waitFor(),
};

for (const name of ['now', 'jobs', 'plan', 'logs', 'delivery']) {
  test(`${name} looks as in the guide`, async (context) => {
    const isWritten = process.env.SIGNALBOX_PICTURES === 'write';
    const version = Number.parseInt(browser.version(), 10);
    if (!isWritten && version !== drawnBy) return context.skip(`Chromium ${drawnBy} has drawn the pictures, this is ${version}: make them again`);
    await page.goto(url + places[name]);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await ready[name]();
    // Rows have come, and nothing moves any more.
    let last = '';
    const drawn = await eventually(
      async () => {
        const image = await page.screenshot({ animations: 'disabled', caret: 'hide' });
        const isSame = image.toString('base64') === last;
        last = image.toString('base64');
        await page.waitForTimeout(300);
        return isSame ? image : undefined;
      },
      () => `a picture of ${name} that stays`,
    );
    assert.deepEqual(faults, []);
    const kept = join(pictures, `${name}.png`);
    if (isWritten) return writeFile(kept, drawn);
    const [own, expected] = [drawn, await readFile(kept)].map((png) => PNG.sync.read(png));
    assert.deepEqual([own.width, own.height], [expected.width, expected.height]);
    const difference = new PNG({ width: own.width, height: own.height });
    const pixels = pixelmatch(own.data, expected.data, difference.data, own.width, own.height, { threshold: 0.1 });
    const share = pixels / (own.width * own.height);
    if (share > 0.001) {
      await mkdir(found, { recursive: true });
      await writeFile(join(found, `${name}.png`), drawn);
      await writeFile(join(found, `${name}-difference.png`), PNG.sync.write(difference));
    }
    assert.ok(share <= 0.001, `${(100 * share).toFixed(2)} % of the picture differ: see tmp/pictures/${name}-difference.png`);
  });
}
