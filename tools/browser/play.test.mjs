// A playground: the page over an engine on virtual time, which people move.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { exportStore, hostPrincipal, orThrow } from '../../dist/index.js';
import { testEngine } from '../../dist/testing.js';
import { startBrowser, startPlayground, violationsOf, watchedPage } from './support.mjs';

let folder;
let playground;
let browser;
let context;
let page;
let faults;
const start = Date.parse('2026-11-30T14:00:00Z');
const at = (minutes) => new Date(start + minutes * 60_000).toISOString();
const task = (memory) => ({ Name: 'main', Driver: 'docker', Config: { image: 'x' }, Resources: { CPU: 100, MemoryMB: memory } });
const job = (ID, Type, memory, more = {}) => ({
  ...{ ID, Type, Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [task(memory)] }], ...more },
});

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-play-'));
  const file = join(folder, 'incident <b>.jsonl');
  const world = await testEngine({ nodes: 1, start: start - 5 * 60_000 });
  const { jobs } = world.engine.as(hostPrincipal);
  await orThrow(jobs.register(job('web', 'service', 5000)));
  await orThrow(jobs.register(job('ingest', 'service', 4096)));
  const periodic = { Periodic: { Enabled: true, Specs: ['*/15 * * * *'], SpecType: 'cron' } };
  await orThrow(jobs.register(job('sync', 'batch', 100, periodic)));
  await world.advance(5 * 60_000);
  let text = '';
  await orThrow(exportStore(world.engine, () => (piece) => (text += piece)));
  await world.stop();
  await writeFile(file, text);
  playground = await startPlayground(file);
  browser = await startBrowser([]);
});
after(async () => {
  await browser?.close();
  await playground?.ended();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, timezoneId: 'UTC' });
  ({ page, faults } = await watchedPage(context));
  page.setDefaultTimeout(15_000);
});

const open = async (path) => {
  await page.goto(`${playground.url}/ui/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
};
const clock = () => page.getByRole('region', { name: 'Clock' });
const button = (name) => page.getByRole('button', { name, exact: true });
const isAt = (minutes) =>
  clock().getByText(new RegExp(`^${at(minutes).slice(0, 19).replace('T', ' ')}`), { exact: true }).waitFor();

test('an export opens at its time, with what was waiting; hours pass in seconds, and everything shown is of then', async () => {
  await open('jobs');
  await isAt(0);
  await clock().getByText('incident <b>.jsonl').waitFor();
  await page.getByText('in 15 min').waitFor();
  await button('+1 h').click();
  await isAt(60);
  // It has just begun.
  await button('+10 min').click();
  await isAt(70);
  await page.getByText('in 5 min').waitFor();
  await open('jobs/default/sync/runs');
  const runs = page.locator('main tbody tr');
  await page.waitForFunction(() => document.querySelectorAll('main tbody tr').length === 5);
  assert.match(await runs.first().textContent(), /succeeded1 min9 min ago/);
  await open('jobs/default/ingest');
  await page.getByText(/memory/).first().waitFor();
  assert.deepEqual(faults, []);
});

test('a change by hand shows what it does; going back asks, and undoes it', async () => {
  await open('jobs/default/ingest');
  await page.getByText('Waiting for room').first().waitFor();
  await fetch(`${playground.url}/v1/job/web`, { method: 'DELETE' });
  await button('+1 min').click();
  await page.getByText('Healthy').first().waitFor();
  await button('Back to the start').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('without what was changed by hand').waitFor();
  await button('Cancel').click();
  assert.match(await clock().textContent(), /15:11|14:01/);
  await button('Back to the start').click();
  await dialog.getByRole('button', { name: 'Go back' }).click();
  await isAt(0);
  await page.getByText('Waiting for room').first().waitFor();
});

test('by keyboard: the slider moves in minutes, and a link leads to the place and the time', async () => {
  await open('jobs/default/sync');
  const slider = clock().getByRole('slider', { name: 'Time' });
  await slider.focus();
  assert.equal(await slider.inputValue(), String(start));
  await page.keyboard.press('ArrowRight');
  await isAt(1);
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => (globalThis.written = text);
  });
  await button('Copy a link').press('Enter');
  await page.getByText('Copied: a link to this place and time').waitFor();
  const link = new URL(await page.evaluate(() => globalThis.written));
  assert.equal(link.searchParams.get('at'), at(1));
  link.searchParams.set('at', at(31));
  await page.goto(link.href);
  await button('Go to the time of the link, 2026-11-30 14:31:00 GMT+0').press('Enter');
  await isAt(31);
  await open('jobs');
  await page.getByText('in 14 min').waitFor();
});

test('two tabs have one clock: one that goes back takes the other along', async () => {
  const { page: other } = await watchedPage(context);
  await open('jobs');
  await other.goto(`${playground.url}/ui/jobs`);
  await button('+1 min').click();
  const shown = clock().locator('strong');
  await page.waitForFunction(() => !document.querySelector('.clock strong').textContent.includes('→'));
  const time = await shown.textContent();
  await other.locator('.clock strong', { hasText: time }).waitFor();
  await button('Back to the start').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Go back' }).click();
  await isAt(0);
  await other.locator('.clock strong', { hasText: '2026-11-30 14:00:00' }).waitFor();
});

test('axe finds nothing, wide and narrow, and nothing scrolls in two directions', async () => {
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 900 });
    await open('jobs');
    await clock().waitFor();
    assert.deepEqual(await violationsOf(page), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  }
  assert.deepEqual(faults, []);
});
