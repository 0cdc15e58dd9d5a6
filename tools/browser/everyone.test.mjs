// What holds on every screen: accessibility, hostile names, small windows, the keyboard's focus, the connection, and the sizes of what is loaded.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, afterEach, before, test } from 'node:test';
import { allocationOf, eventually, jobNamed, register, startBrowser, startServer, watched } from './support.mjs';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Visible as text wherever it is shown. */
const hostile = '<img src=x onerror=alert(1)> javascript:alert(1) \u202etxt';
const shownHostile = '<img src=x onerror=alert(1)> javascript:alert(1) ‹U+202E›txt';

let server;
let browser;
let address;
const contexts = [];

before(async () => {
  [server, browser] = await Promise.all([startServer('--access', 'open'), startBrowser([])]);
  const web = jobNamed('web', `printf '%s\\n' 'started' 'ERROR <b>x</b>' '{"level":"warn","msg":"slow"}'; sleep 600`, [
    { Name: 'greet', Command: '/bin/echo', Args: ['hello'] },
  ]);
  web.Meta = { note: hostile };
  web.TaskGroups[0].Tasks[0].Meta = { [`key`]: hostile };
  const batch = { ...jobNamed('once', 'echo "no data for bob <img src=x onerror=alert(1)>" >&2; exit 1'), Type: 'batch' };
  batch.TaskGroups[0].RestartPolicy = { Attempts: 0, Mode: 'fail' };
  batch.TaskGroups[0].ReschedulePolicy = { Attempts: 0, Unlimited: false };
  const dispatched = { ...jobNamed('dispatched', 'exit 0'), Type: 'batch' };
  dispatched.ParameterizedJob = { MetaRequired: ['customer'], MetaOptional: ['day'], Payload: 'optional' };
  const periodic = { ...jobNamed('periodic', 'exit 0'), Type: 'batch', Periodic: { Specs: ['30 2 * * *'], TimeZone: 'Europe/Berlin' } };
  const large = jobNamed('large', 'exit 0');
  large.TaskGroups[0].Tasks[0].Resources = { CPU: 20, MemoryMB: 9_000_000 };
  const odd = { ...jobNamed('a/b%#?é🚀', 'exit 0'), Type: 'batch', Name: hostile };
  for (const job of [web, batch, dispatched, periodic, large, odd]) await register(server.url, job);
  const id = await allocationOf(server.url, 'web', ['running']);
  const nodes = await (await fetch(`${server.url}/v1/nodes`)).json();
  address = {
    now: '',
    jobs: 'jobs',
    'jobs, filtered empty': 'jobs?q=ID+contains+%22nothing%22',
    'job: overview': 'jobs/default/web',
    'job: definition': 'jobs/default/web/definition',
    'job: versions': 'jobs/default/web/versions',
    'job: deployments': 'jobs/default/web/deployments',
    'job: evaluations': 'jobs/default/web/evaluations',
    'job: edit': 'jobs/default/web/plan',
    'job: waiting for room': 'jobs/default/large',
    'job: runs': 'jobs/default/periodic/runs',
    'job: failed': 'jobs/default/once',
    'job: schedule': 'jobs/default/periodic/schedule',
    'job: dispatch': 'jobs/default/dispatched/dispatch',
    'job: odd name': `jobs/default/${encodeURIComponent('a/b%#?é🚀')}`,
    'job: gone': 'jobs/default/none',
    'new job': 'jobs/new',
    allocation: `allocs/${id}`,
    'allocation: gone': 'allocs/00000000-0000-4000-8000-000000000000',
    logs: `allocs/${id}/logs/main/stdout`,
    'both logs': `allocs/${id}/logs/main/both?q=x`,
    files: `allocs/${id}/files`,
    actions: `allocs/${id}/actions`,
    functions: 'functions',
    schedule: 'schedule?try=*+*+*+*+*+*&zone=UTC',
    nodes: 'nodes',
    node: `nodes/${nodes[0].ID}`,
    system: 'system',
    'not found': 'none/at/all',
  };
});
after(async () => {
  await browser?.close();
  await server?.ended();
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

async function opened(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  contexts.push(context);
  const page = await context.newPage();
  const faults = await watched(page);
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { context, page, faults };
}

/** Waits until the screen shows what it has read. */
async function arrived(page) {
  await page.locator('main h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('main .skeleton, main [aria-busy=true]') === null);
}

/** Goes to a screen within the page, as a link does. */
async function goTo(page, path) {
  await page.evaluate((to) => {
    history.pushState({}, '', new URL(to, document.baseURI));
    dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  }, path);
  await arrived(page);
}

async function violationsOf(page) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary.split('\n').slice(1, 2).join(' ').trim()}`));
  });
}

test('nothing on any screen is inaccessible, wider than 320 px, or obeys a hostile name, in light', async () => {
  const { page, faults } = await opened();
  await page.goto(`${server.url}/ui/`);
  await arrived(page);
  const found = {};
  const wide = {};
  const titles = new Map();
  for (const [name, path] of Object.entries(address)) {
    await goTo(page, path);
    const violations = await violationsOf(page);
    if (violations.length > 0) found[name] = violations;
    titles.set(name, await page.title());
    await page.setViewportSize({ width: 320, height: 640 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 320) {
      wide[name] = await page.evaluate(() => {
        const inTable = (each) => each.closest('table, pre, code, .scroll, .window, .log, .cm-editor') !== null;
        return [...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > 320.5 && !inTable(each)).slice(0, 4).map((each) => each.outerHTML.slice(0, 120));
      });
      wide[name].unshift(width);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  }
  assert.deepEqual(found, {});
  assert.deepEqual(wide, {});
  const same = [...titles].filter(([name, title]) => !name.endsWith('logs') && [...titles].some(([other, its]) => other !== name && its === title && !other.endsWith('logs')));
  console.log('# same titles', JSON.stringify(same));
  assert.deepEqual(faults, []);
});

for (const [name, options] of [
  ['dark', { colorScheme: 'dark' }],
  ['forced colours', { forcedColors: 'active', reducedMotion: 'reduce' }],
]) {
  test(`nothing on any screen is inaccessible in ${name}`, async () => {
    const { page, faults } = await opened(options);
    await page.goto(`${server.url}/ui/`);
    await arrived(page);
    const found = {};
    const moving = {};
    for (const [screen, path] of Object.entries(address)) {
      await goTo(page, path);
      const violations = await violationsOf(page);
      if (violations.length > 0) found[screen] = violations;
      if (options.reducedMotion === 'reduce') {
        const running = await page.evaluate(() => document.getAnimations().length);
        if (running > 0) moving[screen] = running;
      }
    }
    assert.deepEqual(found, {});
    assert.deepEqual(moving, {});
    assert.deepEqual(faults, []);
  });
}
