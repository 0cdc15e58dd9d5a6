// What holds on every screen: accessibility, hostile names, small windows, the keyboard's focus, the connection, and the sizes of what is loaded.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { allocationOf, eventually, jobNamed, register, startBrowser, startServer, violationsOf, watched } from './support.mjs';

/** Visible as text wherever it is shown. */
const hostile = '<img src=x onerror=alert(1)> javascript:alert(1) \u202etxt';
const hostileOn = {
  'job: definition': '<img src=x onerror=alert(1)> javascript:alert(1) ‹U+202E›txt',
  'job: failed': 'once',
  logs: 'ERROR <b>x</b>',
  'timeline: run': 'no data for bob <img src=x onerror=alert(1)>',
  'runs: compared': '<img src=x onerror=alert(1)> javascript:alert(1) ‹U+202E›txt',
};

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
  const instances = [];
  for (const customer of ['bob', hostile]) instances.push(await ranFor(customer));
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
    timeline: 'timeline',
    'timeline: job': 'timeline?of=job:default/web',
    'timeline: run': 'timeline?of=run:default/once/1',
    'timeline: filtered empty': 'timeline?of=run:default/once/1&show=notifications',
    'timeline: gone': 'timeline?of=job:default/none',
    'timeline: nothing': 'timeline?of=none',
    'runs: one': 'runs/default/once/1',
    'runs: compared': `runs/default/dispatched/${instances[0]}?with=${instances[1]}`,
    'runs: gone': 'runs/default/once/99',
    system: 'system',
    'try rules': 'access/try?call=jobs.stop',
    'action on many jobs, of another tab': 'bulk/none',
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

/** Dispatches a run and waits for its end; returns the end of its ID. */
async function ranFor(customer) {
  const asked = { method: 'POST', body: JSON.stringify({ Meta: { customer } }) };
  const { DispatchedJobID } = await (await fetch(`${server.url}/v1/job/dispatched/dispatch`, asked)).json();
  await eventually(
    async () => ((await (await fetch(`${server.url}/v1/jobs/runs?job=${encodeURIComponent(DispatchedJobID)}`)).json()).length > 0 ? true : undefined),
    () => `the end of ${DispatchedJobID}`,
  );
  return DispatchedJobID.slice('dispatched/'.length);
}

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

const schemes = {
  dark: { colorScheme: 'dark' },
  'forced colours': { colorScheme: 'light', forcedColors: 'active', reducedMotion: 'reduce' },
};

test('every screen is accessible in light, dark and forced colours, and no wider than 320 px, or 1,280 px at 200 %, but its tables and code', async () => {
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
    for (const [scheme, media] of Object.entries(schemes)) {
      await page.emulateMedia(media);
      const faint = await violationsOf(page, ['color-contrast', 'link-in-text-block']);
      if (faint.length > 0) found[`${name}, ${scheme}`] = faint;
    }
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0, `${name} moves`);
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', reducedMotion: 'no-preference' });
    titles.set(name, await page.title());
    // A narrow screen, and 1,280 px at 200 %.
    for (const [most, height] of [[320, 640], [640, 450]]) {
      await page.setViewportSize({ width: most, height });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width <= most) continue;
      wide[`${name}, ${most} px`] = await page.evaluate((right) => {
        const inTable = (each) => each.closest('table, pre, code, .scroll, .window, .log, .cm-editor') !== null;
        return [...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > right + 0.5 && !inTable(each)).slice(0, 4).map((each) => each.outerHTML.slice(0, 120));
      }, most);
      wide[`${name}, ${most} px`].unshift(width);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  }
  assert.deepEqual(found, {});
  assert.deepEqual(wide, {});
  const names = [...titles].filter(([name]) => /^(?:now|jobs|new job|functions|schedule|nodes|timeline|runs: one|system|not found|job: edit)$/.test(name));
  assert.equal(new Set(names.map(([, title]) => title)).size, names.length, JSON.stringify(names));
  assert.deepEqual(faults, []);
});

test('simulations and actions on many jobs are accessible with their results, and no wider than 320 px', async () => {
  const { page, faults } = await opened();
  const click = (name) => page.getByRole('button', { name }).click();
  const found = {};
  const check = async (name) => {
    for (const media of [{ colorScheme: 'light' }, { colorScheme: 'dark' }]) {
      await page.emulateMedia(media);
      const violations = await violationsOf(page);
      if (violations.length > 0) found[`${name}, ${media.colorScheme}`] = violations;
    }
    await page.setViewportSize({ width: 320, height: 640 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 320) found[`${name}, width`] = width;
    await page.setViewportSize({ width: 1280, height: 900 });
  };
  await page.goto(`${server.url}/ui/${address.node}`);
  await click('What if it is lost?');
  await page.getByRole('heading', { name: /^If .* were lost$/ }).waitFor();
  await check('node');
  await goTo(page, address['job: waiting for room']);
  await page.getByText('Try a change', { exact: true }).click();
  await page.getByLabel('Memory in MiB').fill('16');
  await click('Simulate');
  await page.getByText(/^Would place 1 on /).waitFor();
  await check('a change');
  await page.getByRole('link', { name: 'Open the editor with this change' }).click();
  await page.getByRole('button', { name: 'Discard the changes' }).waitFor();
  await check('a change in the editor');
  await click(/^Plan/);
  await click('Simulate');
  await page.getByText(/^Places 1 allocation: /).waitFor();
  await page.getByText(/^All \d+ lines/).click();
  await check('a plan');
  await click('Discard the changes');
  await page.getByRole('button', { name: 'Discard the changes' }).waitFor({ state: 'detached' });
  for (const id of ['many-1', 'many-2']) await register(server.url, { ...jobNamed(id, 'sleep 600'), Type: 'batch' });
  await goTo(page, 'jobs?q=many-');
  await page.getByLabel('Select default/many-1').check();
  await click('Select all 2 that match');
  await check('a selection');
  await click('Stop…');
  await page.getByRole('dialog').waitFor();
  await check('the question');
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('2 of 2 jobs are stopped.').waitFor();
  await check('the result of an action');
  await goTo(page, address['try rules']);
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByText('ACL support disabled').waitFor();
  await check('rules that cannot be tried');
  assert.deepEqual(found, {});
  assert.deepEqual(faults, []);
});

test('hostile names are text, and a link of data leads nowhere but to web pages', async () => {
  const { page, faults } = await opened();
  for (const screen of Object.keys(hostileOn)) {
    await page.goto(`${server.url}/ui/${address[screen]}`);
    await arrived(page);
    await page.waitForFunction((text) => document.querySelector('main').innerText.includes(text), hostileOn[screen]);
    assert.equal(await page.locator('main img, main b').count(), 0);
  }
  await page.goto(`${server.url}/ui/${address['job: odd name']}`);
  await arrived(page);
  await page.reload();
  await arrived(page);
  assert.equal(await page.locator('main img, a[href^="javascript"]').count(), 0);
  assert.equal(new URL(page.url()).pathname.split('/').at(-1), encodeURIComponent('a/b%#?é🚀'));
  assert.deepEqual(faults, []);
});

test('states: loading, failed with a retry, stale, forbidden', async () => {
  const { page, faults } = await opened();
  let answer = () => undefined;
  await page.route('**/v1/jobs?*', (route) => answer(route) ?? route.continue());
  answer = (route) => new Promise(() => route);
  await page.goto(`${server.url}/ui/jobs`);
  await page.locator('main h1').waitFor();
  await page.locator('main [aria-busy=true]').waitFor();
  assert.deepEqual(await violationsOf(page), []);
  answer = (route) => route.fulfill({ status: 500, body: 'the disk is gone' });
  await page.reload();
  await page.getByRole('alert').getByText('the disk is gone').waitFor();
  assert.deepEqual(await violationsOf(page), []);
  await page.getByRole('button', { name: 'Copy the error' }).click();
  answer = () => undefined;
  // The page may have read it again by itself.
  await page.getByRole('button', { name: 'Try again' }).click({ timeout: 2000 }).catch(() => undefined);
  await page.getByRole('link', { name: 'web', exact: true }).waitFor();
  answer = (route) => route.fulfill({ status: 403, body: 'Permission denied' });
  await page.reload();
  await page.getByText('You may not read the jobs').waitFor();
  assert.deepEqual(await violationsOf(page), []);
  assert.deepEqual(faults, []);
});

test('the first load stays within its budget, and a part loads only where it is used', async () => {
  const { page, context } = await opened();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  const sizes = new Map();
  const urls = new Map();
  session.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, new URL(response.url).pathname));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => sizes.set(urls.get(requestId), encodedDataLength));
  const isPart = (path) => path !== undefined && (path === '/ui/' || path.startsWith('/ui/assets/'));
  await page.goto(`${server.url}/ui/`);
  await arrived(page);
  const first = [...sizes].filter(([path]) => isPart(path));
  const bytes = first.reduce((sum, [, size]) => sum + size, 0);
  console.log(`# first load ${bytes} bytes in ${first.length} requests`);
  assert.ok(bytes <= 75_000, JSON.stringify(first));
  // The document, a script with what it imports, a style sheet and an icon.
  assert.ok(first.length <= 6, JSON.stringify(first));
  assert.ok(![...sizes.keys()].some((path) => /\/(?:allocation|edit|schedule)-/.test(path ?? '')));
  await goTo(page, address.logs);
  await eventually(() => ([...sizes.keys()].some((path) => path?.includes('/allocation-')) ? true : undefined), () => 'the part of allocations');
  assert.ok(![...sizes.keys()].some((path) => /\/(?:edit|pattern-worker)-/.test(path ?? '')));
});

test('on navigation the heading has the focus and the title changes; back restores the scroll position', async () => {
  const { page, faults } = await opened({ viewport: { width: 1000, height: 300 } });
  await page.goto(`${server.url}/ui/jobs`);
  await page.getByRole('link', { name: 'web', exact: true }).click();
  await arrived(page);
  await eventually(async () => ((await page.evaluate(() => document.activeElement.textContent)) === 'web' ? true : undefined), () => 'the focus on the heading');
  assert.match(await page.title(), /^web · /);
  await page.goBack();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Jobs' && document.title.startsWith('Jobs'));
  assert.deepEqual(faults, []);
});

test('copy works over plain HTTP and gives the whole value', async () => {
  const { page, context, faults } = await opened();
  await page.addInitScript(() => {
    // As in an insecure context, where the interface is missing.
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.addEventListener('copy', () => {
      globalThis.copiedText = document.activeElement.value;
    });
  });
  await page.goto(`${server.url}/ui/${address.allocation}`);
  await page.getByRole('button', { name: "Copy the allocation's ID" }).first().click();
  await page.getByText("Copied: the allocation's ID").waitFor();
  assert.equal(await page.evaluate(() => globalThis.copiedText), address.allocation.split('/')[1]);
  assert.deepEqual(faults, []);
  await context.close();
});

test('two tabs have one event stream; a hidden one makes no request after half a minute, and is current when shown', async () => {
  const { context, page, faults } = await opened();
  const streams = new Set();
  const asked = { first: 0, second: 0 };
  const watch = (tab, name) => {
    tab.on('request', (request) => {
      asked[name] += 1;
      if (request.url().includes('/v1/event/stream')) streams.add(request);
    });
    for (const end of ['requestfinished', 'requestfailed']) tab.on(end, (request) => streams.delete(request));
  };
  watch(page, 'first');
  await page.goto(`${server.url}/ui/jobs`);
  await eventually(() => (streams.size === 1 ? true : undefined), () => 'a stream');
  const second = await context.newPage();
  watch(second, 'second');
  await second.clock.install();
  await second.goto(`${server.url}/ui/jobs`);
  await second.getByRole('link', { name: 'web', exact: true }).waitFor();
  await register(server.url, { ...jobNamed('both-tabs', 'exit 0'), Type: 'batch' });
  await page.getByRole('link', { name: 'both-tabs', exact: true }).waitFor();
  await second.clock.runFor(1000);
  await second.getByRole('link', { name: 'both-tabs', exact: true }).waitFor();
  assert.equal(streams.size, 1);

  const hide = (hidden) =>
    second.evaluate((is) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: is });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await hide(true);
  await second.clock.runFor(31_000);
  // What was asked before that has its answer.
  await second.waitForLoadState('networkidle');
  const before = asked.second;
  await register(server.url, { ...jobNamed('while-hidden', 'exit 0'), Type: 'batch' });
  await page.getByRole('link', { name: 'while-hidden', exact: true }).waitFor();
  await second.clock.runFor(60_000);
  assert.equal(asked.second, before);
  await hide(false);
  await second.clock.runFor(1000);
  await second.getByRole('link', { name: 'while-hidden', exact: true }).waitFor();
  assert.equal(streams.size, 1);
  assert.deepEqual(faults, []);
});
