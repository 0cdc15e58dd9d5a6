// The web page in Firefox as people have it: a person's way through it by keyboard, every kind of screen, editor and terminal under the policy, two tabs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { callsOf, eventually, jobNamed, sourceField, startFirefox, startServer, violationsOf, watchedPage } from './support.mjs';

const workspace = 'ws-team';
/** Visible as text wherever it is shown. */
const hostile = '<img src=x onerror=alert(1)> javascript:alert(1) \u202etxt';
const hostileShown = '<img src=x onerror=alert(1)> javascript:alert(1) ‹U+202E›txt';
const timeout = 60_000;

let folder;
/** Where the browser puts what is saved. */
let downloads;
let receiver;
let server;
let token;
let call;
let browser;
/** One window for all tests: Firefox needs a second for each. */
let context;
let page;
let faults;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-firefox-'));
  downloads = join(folder, 'downloads');
  const seed = join(folder, 'seed.json');
  const workspaces = [{ id: workspace, name: 'Team', organization: 'demo' }];
  await writeFile(seed, JSON.stringify({ workspaces, run_notifications: [{ workspace, job: 'report' }] }));
  receiver = await startReceiver();
  [server, browser] = await Promise.all([
    startServer('--access', 'token', '--seed', seed, '--allow-outbound', '127.0.0.1/32'),
    startFirefox({ downloadsPath: downloads }),
  ]);
  token = await server.printed(/^management token.*: (\S+)/);
  call = callsOf(server, token);
  context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: 'Asia/Tokyo' });
  context.setDefaultTimeout(10_000);
  ({ page, faults } = await watchedPage(context));
});
after(async () => {
  await browser?.close();
  await server?.ended();
  receiver?.ended();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  faults.length = 0;
});

/** Has moved: it accepts verifications anywhere, and everything else at `/new` only. */
async function startReceiver() {
  const got = [];
  const listener = createServer(async (request, response) => {
    let sent = '';
    for await (const bytes of request) sent += bytes;
    const { run_id: run } = JSON.parse(sent);
    const isRefused = run !== null && request.url !== '/new';
    if (run !== null && !isRefused) got.push(run);
    response.writeHead(isRefused ? 410 : 200).end(isRefused ? '<b>moved</b>' : 'ok');
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${listener.address().port}`, got, ended: () => listener.close() };
}

const mainScreens = ['now', 'jobs', 'job', 'edit', 'logs', 'node', 'schedule', 'timeline: job', 'configurations', 'delivery', 'access', 'system'];

/** Addresses of every kind of screen, with jobs, a run, a failed delivery and hostile names in them. */
async function everyScreen() {
  const register = (Job) => call('POST', '/v1/jobs', { Job });
  const web = { ...jobNamed('web', 'exec sleep 600'), Meta: { note: hostile }, UI: { Description: hostile } };
  const batch = (id, more) => ({ ...jobNamed(id, 'echo "<img src=x>" >&2; exit 1'), Type: 'batch', ...more });
  const failing = batch('failing', { Name: hostile });
  failing.TaskGroups[0].RestartPolicy = { Attempts: 0, Mode: 'fail' };
  failing.TaskGroups[0].ReschedulePolicy = { Attempts: 0, Unlimited: false };
  const jobs = [web, failing, batch('form', { ParameterizedJob: { MetaRequired: ['customer'] } }), batch('nightly', { Periodic: { Specs: ['30 2 * * *'], TimeZone: 'Europe/Berlin' } })];
  for (const job of jobs) await register(job);
  const configuration = await configured('Screens', '/old', ['run:created']);
  const event = { data: { type: 'notification-events', attributes: { trigger: 'run:created', run_id: 'run-1', message: hostile } } };
  await jsonApi(`/workspaces/${workspace}/notification-events`, event);
  const delivery = await eventually(
    async () => (await jsonApi(`/notification-configurations/${configuration}/deliveries`)).data[0],
    () => 'a delivery',
  );
  const [node] = await call('GET', '/v1/nodes');
  const allocation = await call('GET', `/v1/allocation/${await runningOf('web')}`);
  await eventually(async () => ((await call('GET', '/v1/jobs/runs?job=failing')).length > 0 ? true : undefined), () => 'the failed run');
  const job = 'jobs/default/web';
  const team = `notify/${workspace}`;
  return {
    now: '',
    jobs: 'jobs',
    job,
    definition: `${job}/definition`,
    versions: `${job}/versions`,
    deployments: `${job}/deployments`,
    evaluations: `${job}/evaluations`,
    evaluation: `evaluations/${allocation.EvalID}`,
    edit: `${job}/plan`,
    'new job': 'jobs/new',
    runs: 'jobs/default/failing/runs',
    run: 'runs/default/failing/1',
    dispatch: 'jobs/default/form/dispatch',
    'schedule of a job': 'jobs/default/nightly/schedule',
    bulk: 'bulk/none',
    allocation: `allocs/${allocation.ID}`,
    logs: `allocs/${allocation.ID}/logs/main/stdout`,
    files: `allocs/${allocation.ID}/files`,
    exec: `allocs/${allocation.ID}/exec/main`,
    nodes: 'nodes',
    node: `nodes/${node.ID}`,
    topology: 'topology',
    functions: 'functions',
    schedule: 'schedule?try=*+*+*+*+*+*&zone=UTC',
    timeline: 'timeline',
    'timeline: job': 'timeline?of=job:default/web',
    'timeline: run': 'timeline?of=run:default/failing/1',
    variables: 'variables',
    access: 'access',
    'try rules': 'access/try?call=jobs.stop',
    system: 'system',
    workspaces: 'notify',
    configurations: team,
    'new configuration': `${team}/new`,
    configuration: `${team}/c/${configuration}`,
    'edit configuration': `${team}/c/${configuration}/edit`,
    deliveries: `${team}/deliveries`,
    delivery: `${team}/deliveries/${delivery.id}`,
    events: `${team}/events`,
    event: `${team}/events/${delivery.attributes['event-id']}`,
    recoveries: `${team}/recoveries`,
    explain: `${team}/explain?trigger=run:errored`,
    'portal without a frame': `portal/${workspace}`,
    'not found': 'none/at/all',
  };
}

const runningOf = (job) =>
  eventually(
    async () => (await call('GET', `/v1/job/${job}/allocations`)).find(({ ClientStatus }) => ClientStatus === 'running')?.ID,
    () => `an allocation of ${job}`,
  );

async function jsonApi(path, body) {
  const headers = { 'Content-Type': 'application/vnd.api+json', 'X-SVC-Token': token };
  const answer = await fetch(server.url + path, body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${text}`);
  return JSON.parse(text);
}
/** An enabled configuration for a path of the receiver; returns its ID. */
async function configured(name, path, triggers) {
  const attributes = { name, 'destination-type': 'generic', url: receiver.url + path, enabled: true, triggers };
  const { data } = await jsonApi(`/workspaces/${workspace}/notification-configurations`, { data: { type: 'notification-configurations', attributes } });
  return data.id;
}

async function signedIn(path) {
  await context.request.post(`${server.url}/ui-session`, { data: { token } });
  await page.goto(`${server.url}/ui/${path}`);
  await arrived();
}
/** Waits until the screen shows what it has read. */
const arrived = (tab = page) =>
  tab.waitForFunction(() => document.querySelector('main h1') !== null && document.querySelector('main .skeleton, main [aria-busy=true]') === null);
/** Goes to a screen within the page, as a link does. */
async function goTo(path) {
  await page.evaluate((to) => {
    history.pushState({}, '', new URL(to, document.baseURI));
    dispatchEvent(new PopStateEvent('popstate', { state: {} }));
  }, path);
  await arrived();
}

/** Presses a key, Tab or Shift+Tab, until what has the focus has this name; each stop on the way shows that it has the focus. */
async function tabTo(name, key = 'Tab') {
  const passed = [];
  for (let stop = 0; stop < 80; stop++) {
    const focused = await page.evaluate(async () => {
      const { activeElement } = document;
      const element = activeElement.shadowRoot?.activeElement ?? activeElement;
      const label = element.ariaLabel ?? element.labels?.[0]?.textContent ?? element.textContent;
      // The heading of a new screen needs no frame; that of the editor appears a moment later.
      const frame = element.closest('.cm-editor') ?? element;
      const isVisible = () => frame.matches('body, h1') || getComputedStyle(frame).outlineStyle !== 'none';
      for (let left = 50; left > 0 && !isVisible(); left--) await new Promise((resolve) => setTimeout(resolve, 10));
      return { label: label.trim(), isVisible: isVisible(), isInside: document.hasFocus() };
    });
    assert.ok(focused.isVisible, `the focus is not visible on ${focused.label}`);
    if (typeof name === 'string' ? focused.label === name : name.test(focused.label)) return;
    passed.push(focused.label.slice(0, 40));
    // Behind the last stop is the window of the browser.
    if (!focused.isInside) break;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not reach ${name}; it reaches ${passed.join(', ')}`);
}
async function follow(name, key = 'Tab') {
  await tabTo(name, key);
  await page.keyboard.press('Enter');
}
const headed = (name) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor();

test('by keyboard: sign in, find why a job waits, fix it, read its logs, see who was told, mend the destination and redeliver', { timeout }, async () => {
  const source = `# kept by hand
job "report" {
  type        = "batch"
  datacenters = ["*"]
  group "g" {
    restart {
      attempts = 0
      mode     = "fail"
    }
    reschedule {
      attempts  = 0
      unlimited = false
    }
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo reading; sleep 1; echo 'fatal: <b>no data</b>'; exit 3"]
      }
      resources {
        cpu    = 20
        memory = 9000000
      }
    }
  }
}
`;
  await configured('Ops hook', '/old', ['run:errored']);
  const Job = await call('POST', '/v1/jobs/parse', { JobHCL: source, Canonicalize: false });
  await call('POST', '/v1/jobs', { Job, Submission: { Source: source, Format: 'hcl2' } });

  const { keyboard } = page;
  await page.goto(`${server.url}/ui/`);
  await headed(/^Sign in/);
  await tabTo('Token');
  await keyboard.type(token);
  await keyboard.press('Enter');
  await headed('Now');
  await page.getByText('The group requests 9000000 MB of memory').waitFor();
  await follow('Why');
  await headed('report');
  await page.getByText('No node takes one more allocation').waitFor();
  await page.getByRole('link', { name: 'Edit', exact: true }).waitFor();
  await keyboard.press('e');
  await sourceField(page).waitFor();
  await tabTo('Job specification');
  await keyboard.press('Control+f');
  await keyboard.type('9000000');
  await keyboard.press('Enter');
  await keyboard.press('Escape');
  await keyboard.type('16');
  await keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Apply this plan' }).waitFor();
  await page.locator('.diff').getByText('MemoryMB').first().waitFor();
  // In the editor Tab indents; Escape leaves it.
  await keyboard.press('Escape');
  await follow('Apply this plan');
  await headed('report');
  await page.getByRole('cell', { name: 'running' }).first().waitFor();
  await follow('main');
  await page.getByText('reading', { exact: true }).waitFor();
  await page.getByText('fatal: <b>no data</b>', { exact: true }).waitFor();
  await follow('report', 'Shift+Tab');
  await headed('report');
  await page.locator('.title .mark', { hasText: 'Failed' }).waitFor();
  await page.getByText(/given up, the failure is permanent/).waitFor();
  await follow('delivery');
  await headed('Delivery of run:errored');
  await page.getByRole('region', { name: 'Answer' }).getByText('<b>moved</b>').waitFor();
  const delivery = page.url();

  await follow('Ops hook');
  await headed('Ops hook');
  await page.locator('.title .mark', { hasText: 'Unsteady' }).waitFor();
  await follow(/^Edit/);
  await tabTo('URL');
  await keyboard.press('Control+a');
  await keyboard.type(`${receiver.url}/new`);
  await keyboard.press('Enter');
  await headed('Ops hook');
  await follow('run:errored');
  await headed('Delivery of run:errored');
  assert.equal(page.url(), delivery);
  // What was sent went to the address of then.
  assert.doesNotMatch(await page.getByRole('region', { name: 'Request' }).innerText(), /\/new/);
  await follow('Redeliver now…');
  await page.getByRole('dialog').waitFor();
  await follow('Redeliver now');
  await page.locator('.title .mark', { hasText: 'Delivered' }).waitFor();
  assert.equal(receiver.got.length, 1);
  assert.equal(await page.locator('main b, main img').count(), 0);
  assert.deepEqual(faults, []);
});

test('every kind of screen: no error, no violation, no other origin; the main ones are accessible in light and dark; data is text', { timeout }, async () => {
  const addresses = await everyScreen();
  await signedIn('');
  const found = {};
  for (const [name, path] of Object.entries(addresses)) {
    await goTo(path);
    assert.equal(await page.locator('main img, main b, a[href^="javascript"]').count(), 0, name);
    if (!mainScreens.includes(name)) continue;
    const violations = await violationsOf(page);
    await page.evaluate(() => document.documentElement.style.setProperty('color-scheme', 'dark'));
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), 'rgb(14, 18, 24)');
    violations.push(...(await violationsOf(page, ['color-contrast'])));
    await page.evaluate(() => document.documentElement.style.removeProperty('color-scheme'));
    if (violations.length > 0) found[name] = violations;
  }
  assert.deepEqual(found, {});

  await goTo(addresses.job);
  await page.getByText(hostileShown).first().waitFor();
  await page.getByRole('button', { name: 'Stop…' }).press('Enter');
  await page.getByRole('dialog').waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  assert.equal(await focused(), 'Cancel');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await focused(), 'Stop…');
  await goTo(addresses['timeline: job']);
  await page.getByText('Oldest first, in Asia/Tokyo').waitFor();
  await page.getByLabel('Time zone').selectOption('UTC');
  await page.getByText('Oldest first, in UTC').waitFor();
  assert.deepEqual(faults, []);
  // The policy holds, and what it refuses is seen here.
  assert.equal(await page.evaluate(() => {
    try {
      document.body.innerHTML = '';
    } catch (error) {
      return error.name;
    }
  }), 'TypeError');
  await eventually(() => (faults.some((fault) => fault.startsWith('policy: require-trusted-types-for')) ? true : undefined), () => 'the violation');
});

test('a terminal works under the policy and its output is saved; a pattern is searched in a worker', { timeout }, async () => {
  await call('POST', '/v1/jobs', { Job: jobNamed('shell', 'echo abc; echo abd; exec sleep 600') });
  const id = await runningOf('shell');
  await signedIn(`allocs/${id}/exec/main`);
  const title = await page.title();
  const output = page.locator('.xterm-rows');
  await page.getByRole('button', { name: 'Connect' }).press('Enter');
  await page.getByText('Running', { exact: true }).waitFor();
  await page.keyboard.type(String.raw`printf '\033]52;c;c3RvbGVu\007\033]0;taken\007\033[31m%s\033[0m\n' $((40 + 2))` + '\n');
  await output.locator('span', { hasText: /^42$/ }).waitFor();
  assert.equal(await page.title(), title);
  await page.keyboard.press('Shift+F6');
  await follow('Go past the terminal');
  await follow('Save the output');
  const file = await eventually(
    async () => (await readdir(downloads).catch(() => [])).find((name) => name.endsWith('.txt')),
    () => 'the file',
  );
  await eventually(async () => ((await readFile(join(downloads, file), 'utf8')).includes('\n42') ? true : undefined), () => 'the output');
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type('exit 3\n');
  await page.getByText(/^Exit code 3 after /).waitFor();

  await goTo(`allocs/${id}/logs/main/stdout`);
  const found = async (pattern, text) => {
    await page.keyboard.press('/');
    await page.keyboard.press('Control+a');
    await page.keyboard.type(pattern);
    await page.getByText(text).waitFor();
    await page.keyboard.press('Tab');
  };
  await page.getByText('abd', { exact: true }).waitFor();
  await found('/ab[cd]/', /^1 of 2$/);
  await found('/(/', /^Not a regular expression: /);
  // The connection of a command that has ended is cut without a closing handshake, which Firefox notes.
  assert.deepEqual(faults.filter((fault) => !/\/exec\?.* was interrupted while the page was loading/.test(fault)), []);
});

test('two tabs have one stream; when its tab is left the other one has it; a sign-out is for both', { timeout }, async () => {
  await signedIn('jobs');
  const streamsOf = (tab) => {
    const streams = new Set();
    tab.on('request', (request) => {
      if (request.url().includes('/v1/event/stream')) streams.add(request);
    });
    for (const end of ['requestfinished', 'requestfailed']) tab.on(end, (request) => streams.delete(request));
    return streams;
  };
  const streams = streamsOf(page);
  await page.reload();
  await eventually(() => (streams.size === 1 ? true : undefined), () => 'a stream');
  const { page: second, faults: faultsOfSecond } = await watchedPage(context);
  const others = streamsOf(second);
  await second.goto(`${server.url}/ui/jobs`);
  await arrived(second);
  const appears = async (tab, ID) => {
    await call('POST', '/v1/jobs', { Job: { ...jobNamed(ID, 'exit 0'), Type: 'batch' } });
    await tab.getByRole('link', { name: ID, exact: true }).waitFor();
  };
  await appears(second, 'first-of-tabs');
  await page.getByRole('link', { name: 'first-of-tabs', exact: true }).waitFor();
  assert.deepEqual([streams.size, others.size], [1, 0]);
  await page.goto('about:blank');
  await eventually(() => (others.size === 1 ? true : undefined), () => 'the stream of the other tab');
  await appears(second, 'second-of-tabs');
  // A sign-out in one tab ends the others.
  await page.goto(`${server.url}/ui/jobs`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await second.getByText('You have signed out in another tab.').waitFor();
  assert.deepEqual([...faults, ...faultsOfSecond], []);
});
