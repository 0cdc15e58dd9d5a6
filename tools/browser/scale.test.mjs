// A list of 10,000 jobs: how soon it is there, what a change renders, and hours of changes.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { startEngineWorker } from './engine-worker.mjs';
import { eventually, startBrowser, watchedPage } from './support.mjs';

/** The processor of the page is slowed so many times where a budget is of a slow machine. */
const slowed = 4;
const jobs = 10_000;
const timeout = 120_000;
let engine;
let browser;
let context;

before(async () => {
  [engine, browser] = await Promise.all([startEngineWorker({ start: '2026-11-02T12:00:00Z', jobs }), startBrowser([])]);
});
after(async () => {
  await browser?.close();
  await engine?.ended();
});
afterEach(() => context?.close());

/** A page whose long tasks and slow input are recorded, and that can be slowed. */
async function measured(address) {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const { page, faults } = await watchedPage(context);
  const devtools = await context.newCDPSession(page);
  await page.addInitScript(() => {
    globalThis.longTasks = [];
    globalThis.inputs = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration, startTime }) => ({ duration, startTime })))).observe({ type: 'longtask' });
    new PerformanceObserver((list) => inputs.push(...list.getEntries().map(({ name, duration }) => ({ name, duration })))).observe({ type: 'event', durationThreshold: 16 });
  });
  await page.goto(`${engine.url}/ui/${address}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const slow = (rate) => devtools.send('Emulation.setCPUThrottlingRate', { rate });
  const heap = async () => {
    await devtools.send('HeapProfiler.collectGarbage');
    return (await devtools.send('Runtime.getHeapUsage')).usedSize / 1e6;
  };
  return { page, faults, slow, heap };
}

const linkTo = (page, job) => page.getByRole('link', { name: job, exact: true });
const idsOf = (page) => page.locator('[data-row-link]').allTextContents();
const figure = (t, text) => t.diagnostic(text);

test('10,000 jobs: the first rows, a key in the filter, elements and memory stay within their budgets', { timeout }, async (t) => {
  const { page, faults, slow, heap } = await measured('');
  await linkTo(page, 'Jobs').waitFor();
  // What is measured is neither the first load of the page nor the first list of the server.
  for (let list = 0; list < 3; list++) await engine.ask('list', { namespace: '*', sort: '-changed', filter: 'ParentID == ""', perPage: 50 });
  await slow(slowed);
  const took = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const begun = performance.now();
        const seen = new MutationObserver(() => {
          if (document.querySelector('[data-row-link]') === null) return;
          seen.disconnect();
          requestAnimationFrame(() => resolve(performance.now() - begun));
        });
        seen.observe(document.body, { childList: true, subtree: true });
        [...document.querySelectorAll('a')].find(({ textContent }) => textContent === 'Jobs').click();
      }),
  );
  // The states of the rows are there, too.
  await page.waitForTimeout(1000);
  await page.getByLabel('Filter').focus();
  await page.evaluate(() => inputs.splice(0));
  await page.keyboard.type('job-09', { delay: 60 });
  await page.waitForTimeout(200);
  const keys = await page.evaluate(() => inputs.filter(({ name }) => name.startsWith('key')).map(({ duration }) => duration));
  const [slowest = 0, second = 0] = keys.sort((one, other) => other - one);
  await page.keyboard.press('Enter');
  await eventually(async () => ((await idsOf(page))[0]?.startsWith('job-09') ? true : undefined), () => 'the filtered list');
  await slow(1);
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  const megabytes = await heap();
  figure(t, `first rows ${took.toFixed(0)} ms, slowest key ${slowest} ms, ${elements} elements, ${megabytes.toFixed(1)} MB`);
  assert.ok(took <= 500, `first rows after ${took} ms`);
  // One of them may meet a collection of garbage.
  assert.ok(second <= 50, `keys took ${second} and ${slowest} ms`);
  assert.ok(elements <= 1500, `${elements} elements`);
  assert.ok(megabytes <= 60, `${megabytes} MB`);
  assert.deepEqual(faults, []);
});

test('a change of one of 10,000 jobs renders one row, and asks only for what is shown', { timeout }, async (t) => {
  const { page, faults, heap } = await measured('jobs?sort=id');
  await linkTo(page, 'job-00000').waitFor();
  // Far down the list, everything before it is held.
  const list = page.locator('section[aria-label="Jobs"]');
  for (let last = 0; last < 500; ) {
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    const shown = await idsOf(page);
    last = Number(shown.at(-1)?.slice(4) ?? 0);
    await page.waitForTimeout(20);
  }
  const shown = await idsOf(page);
  const job = shown[Math.floor(shown.length / 2)];
  await page.mouse.move(0, 0);
  await page.waitForTimeout(1500);
  await page.evaluate(() => {
    globalThis.rendered = new Set();
    new MutationObserver((records) => {
      for (const { target } of records) {
        const row = (target.nodeType === 1 ? target : target.parentElement)?.closest('tr[data-row]');
        if (row !== null && row !== undefined) rendered.add(row.dataset.row);
      }
    }).observe(document.querySelector('tbody'), { childList: true, subtree: true, characterData: true, attributes: true });
  });
  const asked = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname + new URL(request.url()).search));
  await engine.ask('change', [job], 'second');
  await eventually(
    async () => ((await page.evaluate(() => [...rendered].length)) > 0 ? true : undefined),
    () => `the change of ${job}, asked ${asked.join(' ')}`,
  );
  await page.waitForTimeout(1000);
  assert.deepEqual(await page.evaluate(() => [...rendered]), [`default/${job}`]);
  figure(t, `${shown.length} rows in the document; ${asked.length} requests: ${asked.join(' ')}; ${(await heap()).toFixed(1)} MB`);
  assert.ok(asked.length <= 4, asked.join('\n'));
  assert.deepEqual(faults, []);
});

test('with 200 changes a second nothing moves under the pointer, the selection stays, and keys are answered', { timeout }, async (t) => {
  const { page, faults } = await measured('jobs');
  await page.locator('[data-row-link]').first().waitFor();
  const before = await idsOf(page);
  await page.getByLabel(`Select default/${before[1]}`).check();
  await page.evaluate(() => {
    inputs.splice(0);
    longTasks.splice(0);
  });
  const filter = page.getByLabel('Filter');
  await filter.focus();
  for (let second = 0; second < 3; second++) {
    const changed = Array.from({ length: 200 }, (_, at) => `job-${String((200 * second + at) % jobs).padStart(5, '0')}`);
    await Promise.all([engine.ask('change', changed, `burst ${second}`), page.waitForTimeout(1000), page.keyboard.type('abcdef', { delay: 100 })]);
  }
  await page.getByRole('button', { name: /^\d+ changes?: show/ }).waitFor();
  assert.deepEqual(await idsOf(page), before);
  assert.ok(await page.getByLabel(`Select default/${before[1]}`).isChecked());
  const [slowest, longest] = await page.evaluate(() => [inputs, longTasks].map((list) => Math.max(0, ...list.map(({ duration }) => duration))));
  figure(t, `200 changes a second: slowest input ${slowest} ms, longest task ${longest} ms`);
  assert.ok(slowest <= 100, `input took ${slowest} ms`);
  assert.ok(longest <= 50, `a task of ${longest} ms`);
  await page.getByRole('button', { name: /^\d+ changes?: show/ }).click();
  await eventually(async () => ((await idsOf(page))[0] === before[0] ? undefined : true), () => 'the changes');
  assert.deepEqual(faults, []);
});

/** Hours of the engine's clock; `SIGNALBOX_HOURS=24` for a day. */
const hours = Number(process.env.SIGNALBOX_HOURS ?? 8);

test(`${hours} hours of changes: no long task, no growing memory, and the order of the server`, { timeout }, async (t) => {
  const periodic = Array.from({ length: 10 }, (_, at) => ({ ID: `every-${at}`, Periodic: { Specs: [`${at}/10 * * * *`] } }));
  await engine.ask('register', periodic);
  const { page, faults, heap } = await measured('jobs');
  await linkTo(page, 'every-9').waitFor();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(1000);
  const before = await heap();
  await page.evaluate(() => longTasks.splice(0));
  for (let step = 0; step < 6 * hours; step++) {
    const changed = Array.from({ length: 10 }, (_, at) => `job-${String(((10 * step + at) * 7919) % jobs).padStart(5, '0')}`);
    await engine.ask('change', changed, String(step));
    await engine.ask('advance', 10 * 60_000);
    await page.waitForTimeout(20);
  }
  const tasks = await page.evaluate(() => longTasks.map(({ duration }) => Math.round(duration)));
  const first = await engine.ask('list', { namespace: '*', sort: '-changed', filter: 'ParentID == ""', perPage: 20 });
  await eventually(async () => ((await idsOf(page)).slice(0, 20).join() === first.join() ? true : undefined), () => `the order of the server, ${first}`);
  const after = await heap();
  figure(t, `${hours} h: ${tasks.length} tasks over 50 ms, the longest ${Math.max(0, ...tasks)} ms; memory ${before.toFixed(1)} to ${after.toFixed(1)} MB`);
  assert.ok(after - before <= 10, `memory grew from ${before} to ${after} MB`);
  assert.deepEqual(tasks, []);
  assert.deepEqual(faults, []);
});
