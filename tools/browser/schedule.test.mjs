// Schedules as the page shows them, over an engine on a manual clock.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { createHttpHandler, nodeListener } from '../../dist/http-server.js';
import { createEngine } from '../../dist/index.js';
import { manualClock, memoryStorage, recordingDelivery, recordingMailer, sequentialIds } from '../../dist/testing.js';
import { eventually, register, rewrite, startBrowser, watched } from './support.mjs';

let browser;
const open = [];

before(async () => {
  browser = await startBrowser([]);
});
after(() => browser?.close());
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** An engine whose clock begins at a time, its page, and a tab of a browser in New York. */
async function installationAt(start) {
  const clock = manualClock(Date.parse(start));
  const storage = memoryStorage();
  const ports = { storage, clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }), mailer: recordingMailer() };
  const engine = createEngine(ports);
  engine.start();
  const server = createServer(nodeListener(createHttpHandler(engine, { access: 'open', page: true })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const page = await browser.newPage({ timezoneId: 'America/New_York' });
  const faults = await watched(page);
  open.push(
    () => engine.stop({ deadline: 0 }),
    async () => {
      server.closeAllConnections();
      server.close();
    },
    () => page.close(),
  );
  return { clock, page, faults, url: `http://127.0.0.1:${server.address().port}` };
}

const periodic = (ID, Specs, TimeZone) => ({
  ID,
  Name: ID,
  Type: 'batch',
  Datacenters: ['*'],
  Periodic: { Specs, TimeZone },
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 'main', Driver: 'function', Config: { function: 'f' } }] }],
});

const rowOf = (page, job) => page.getByRole('row').filter({ has: page.getByRole('link', { name: job, exact: true }) });
const chipsOf = async (page, job) => {
  const row = rowOf(page, job);
  await row.waitFor();
  return (await row.locator('.chip').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
};

for (const { change, start, day, marks, others } of [
  { change: 'forward', start: '2026-03-27T12:00:00Z', day: 'Sun 29 Mar', marks: '▲ 02:30 skipped', others: 13 },
  { change: 'back', start: '2026-10-23T12:00:00Z', day: 'Sun 25 Oct', marks: '02:30 02:30 ▲ 02:30 twice', others: 13 },
]) {
  test(`clocks are set ${change} in Berlin: the day is marked, and the calendar shows what the engine launches`, async () => {
    const { clock, page, faults, url } = await installationAt(start);
    await register(url, periodic('nightly', ['30 2 * * *'], 'Europe/Berlin'));
    await page.goto(`${url}/ui/schedule`);
    const chips = await chipsOf(page, 'nightly');
    assert.equal(chips.find((chip) => chip.startsWith(day)), `${day} ${marks}`);
    assert.equal(chips.filter((chip) => !chip.startsWith(day) && / 02:30$/.test(chip)).length, others);
    assert.match(await rowOf(page, 'nightly').innerText(), /Europe\/Berlin/);

    await page.getByRole('link', { name: 'nightly', exact: true }).click();
    const times = page.locator('section', { hasText: 'Next launches' }).locator('time');
    await times.first().waitFor();
    const promised = (await times.evaluateAll((all) => all.map((each) => each.dateTime))).slice(0, 2);
    // An open page would be told of every second.
    await page.goto('about:blank');
    await clock.advance(3 * 86_400_000);
    const launched = await eventually(
      async () => {
        const jobs = await (await fetch(`${url}/v1/jobs?prefix=nightly/`)).json();
        return jobs.length >= 2 ? jobs.map(({ ID }) => Number(ID.split('-').at(-1)) * 1000).sort((a, b) => a - b) : undefined;
      },
      () => 'two launches',
    );
    assert.deepEqual(launched.slice(0, 2), promised.map((at) => Date.parse(at)));
    assert.deepEqual(faults, []);
  });
}

test('an expression that launches very often warns with its number of launches a day', async () => {
  const { page, faults, url } = await installationAt('2026-03-27T12:00:00Z');
  await page.goto(`${url}/ui/schedule`);
  await page.getByLabel('Try an expression').fill('* * */4 * * * *');
  await page.locator('select[name=zone]').selectOption('Europe/Berlin');
  await page.getByRole('button', { name: 'Try' }).click();
  await page.getByText('21,600 launches a day').waitFor();
  assert.match(page.url(), /try=.*zone=Europe%2FBerlin/);
  await page.getByLabel('Try an expression').fill('0 */4 * * *');
  await page.getByRole('button', { name: 'Try' }).click();
  await page.getByText('6 launches a day').waitFor();
  assert.equal(await page.locator('form .notice.waiting').filter({ hasText: 'a day' }).count(), 0);
  await page.getByLabel('Try an expression').fill('61 * * * *');
  await page.getByRole('button', { name: 'Try' }).click();
  await page.getByRole('alert').waitFor();
  await page.reload();
  await page.getByLabel('Try an expression').waitFor();
  assert.equal(await page.getByLabel('Try an expression').inputValue(), '61 * * * *');
  assert.equal(await page.locator('select[name=zone]').inputValue(), 'Europe/Berlin');
  assert.deepEqual(faults, []);
});

test('the form for a job warns of an expression that launches very often, before anything is saved', async () => {
  const { page, faults, url } = await installationAt('2026-03-27T12:00:00Z');
  await page.goto(`${url}/ui/jobs/new`);
  const written = (cron) =>
    rewrite(
      page,
      `job "often" {\n type = "batch"\n periodic {\n crons = ["${cron}"]\n }\n group "g" {\n task "main" {\n driver = "raw_exec"\n config {\n command = "/bin/true"\n }\n }\n }\n}\n`,
    );
  await written('* * */4 * * * *');
  await page.locator('.notice.waiting').getByText('21,600 launches a day').waitFor();
  await written('0 */4 * * *');
  await page.locator('p.hint').getByText('6 launches a day').waitFor();
  await written('nonsense');
  await page.getByText('0 launches a day').waitFor();
  await page.getByRole('button', { name: /^Plan/ }).click();
  await page.getByRole('alert').waitFor();
  assert.deepEqual((await (await fetch(`${url}/v1/jobs`)).json()).length, 0);
  assert.deepEqual(faults, []);
});

test('a schedule of many launches is counted by day', async () => {
  const { page, faults, url } = await installationAt('2026-03-27T12:00:00Z');
  await register(url, periodic('quarterly', ['*/15 * * * *'], 'UTC'));
  await register(url, periodic('weekly', ['0 6 * * 1'], 'UTC'));
  await page.goto(`${url}/ui/schedule`);
  assert.deepEqual(await chipsOf(page, 'quarterly'), ['Fri 27 Mar 47×', '96 launches a day']);
  assert.deepEqual(await chipsOf(page, 'weekly'), ['Mon 30 Mar 06:00', 'Mon 06 Apr 06:00']);
  assert.deepEqual(faults, []);
});

test('times switch between the own zone, UTC and another, which are always named; a schedule keeps its own', async () => {
  const { page, faults, url } = await installationAt('2026-03-27T12:00:00Z');
  await register(url, periodic('daily', ['0 6 1 6 *'], 'Asia/Tokyo'));
  await page.goto(`${url}/ui/schedule`);
  await rowOf(page, 'daily').waitFor();
  const zone = page.getByRole('banner').getByLabel('Time zone');
  const next = rowOf(page, 'daily').locator('time');
  const named = () => zone.evaluate((select) => select.selectedOptions[0].textContent);
  assert.equal(await named(), 'America/New_York (mine)');
  assert.equal(await next.getAttribute('title'), '2026-05-31 17:00:00 GMT-4');
  await zone.selectOption('UTC');
  await eventually(async () => ((await next.getAttribute('title')) ?.startsWith('2026-05-31 21:00:00 ') ? true : undefined), () => 'UTC');
  assert.equal(await named(), 'UTC');
  await page.reload();
  await rowOf(page, 'daily').waitFor();
  assert.equal(await named(), 'UTC');
  await zone.selectOption({ label: 'Another zone…' });
  await page.getByRole('dialog').getByLabel('Zone in which times are shown').selectOption('Europe/Berlin');
  await page.getByRole('button', { name: 'Choose' }).click();
  await eventually(
    async () => ((await next.getAttribute('title')) === '2026-05-31 23:00:00 GMT+2' ? true : undefined),
    () => 'Berlin',
  );
  await page.getByRole('link', { name: 'daily', exact: true }).click();
  await page.getByText('2026-06-01 06:00:00 +09:00').waitFor();
  assert.match(await page.locator('main').innerText(), /in Asia\/Tokyo/);
  assert.deepEqual(faults, []);
});
