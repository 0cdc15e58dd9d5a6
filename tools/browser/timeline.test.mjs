// One timeline from a dispatch to the answers of destinations, and two runs side by side.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { callsOf, eventually, jobNamed, register, startBrowser, startServer, watchedPage } from './support.mjs';

const hostile = '<img src=x onerror=alert(1)> \u202e hook';
const visible = '<img src=x onerror=alert(1)> ‹U+202E› hook';
const workspace = 'ws-team';

let folder;
let receiver;
let server;
let browser;
let call;
const contexts = [];
/** Answers of the paths in turn, 200 afterwards. */
const answers = new Map();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-timeline-'));
  const seed = join(folder, 'seed.json');
  await writeFile(
    seed,
    JSON.stringify({
      workspaces: [{ id: workspace, name: 'Team', organization: 'demo' }],
      run_notifications: [{ workspace, job: 'report' }],
    }),
  );
  receiver = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(answers.get(request.url)?.shift() ?? 200).end('ok'));
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const retry = ['--set', 'notifications.delivery.retry.generic=200ms', '--set', 'notifications.delivery.jitter=0'];
  server = await startServer('--access', 'open', '--seed', seed, '--allow-outbound', '127.0.0.1/32', ...retry);
  call = callsOf(server, undefined);
  for (const [name, path] of [['Good hook', '/good'], [hostile, '/bad']]) await createConfiguration(name, path);
  await register(server.url, reportJob('exit 3'));
  browser = await startBrowser([]);
});
after(async () => {
  await browser?.close();
  await server?.ended();
  receiver?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

async function createConfiguration(name, path) {
  const url = `http://127.0.0.1:${receiver.address().port}${path}`;
  const attributes = { name, 'destination-type': 'generic', url, enabled: true, triggers: ['run:errored'] };
  const answer = await fetch(`${server.url}/workspaces/${workspace}/notification-configurations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/vnd.api+json' },
    body: JSON.stringify({ data: { type: 'notification-configurations', attributes } }),
  });
  assert.equal(answer.status, 201, await answer.text());
}

/** A job that is dispatched for a customer and fails as the script does. */
function reportJob(script) {
  const job = { ...jobNamed('report', `echo "fatal: no data for $NOMAD_META_customer" >&2; ${script}`), Type: 'batch' };
  job.ParameterizedJob = { MetaRequired: ['customer'], Payload: 'optional' };
  job.TaskGroups[0].RestartPolicy = { Attempts: 0, Mode: 'fail' };
  job.TaskGroups[0].ReschedulePolicy = { Attempts: 0, Unlimited: false };
  return job;
}

/** Dispatches a run and waits for its end; returns its ID. */
async function ranFor(customer, payload = '') {
  const { DispatchedJobID: id } = await call('POST', '/v1/job/report/dispatch', {
    Meta: { customer },
    ...(payload === '' ? {} : { Payload: Buffer.from(payload).toString('base64') }),
  });
  await eventually(
    async () => ((await call('GET', `/v1/jobs/runs?job=${encodeURIComponent(id)}`)).length > 0 ? true : undefined),
    () => `the end of ${id}`,
  );
  return id;
}

async function opened(path) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  contexts.push(context);
  const { page, faults } = await watchedPage(context);
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`${server.url}/ui/${path}`);
  await page.locator('main h1').waitFor();
  return { page, faults };
}

const instanceOf = (id) => id.slice('report/'.length);
const timelineOf = (id) => `timeline?of=${encodeURIComponent(`run:default/report/${instanceOf(id)}`)}`;
const entriesOf = async (page) => (await page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());

test('the timeline of a failed run shows what happened in order, to the answers of the destinations, and its links lead there', async () => {
  answers.set('/bad', [503]);
  const id = await ranFor(hostile);
  const { page, faults } = await opened(timelineOf(id));
  await page.getByText('try 2: accepted, answer 200').waitFor();
  const entries = await entriesOf(page);
  const expected = [
    /dispatched report\/dispatch-\S+ was dispatched/,
    /event run:created: Run Created; nobody was notified/,
    /evaluated Evaluated, because .*: g: place 1/,
    /placed g\[0\] was placed on /,
    /started Task main of g\[0\] started/,
    /ended Task main of g\[0\] ended with exit code 3/,
    /failed report\/dispatch-\S+ failed after .*, exit code 3: fatal: no data for <img src=x onerror=alert\(1\)>/,
    /event run:errored: Run Errored; for 2 destinations/,
  ];
  const found = expected.map((pattern) => entries.findIndex((entry) => pattern.test(entry)));
  assert.ok(!found.includes(-1), `${found} ${entries.join('\n')}`);
  assert.deepEqual(found, found.toSorted((a, b) => a - b), entries.join('\n'));
  const tries = entries.filter((entry) => / try \d: /.test(entry));
  assert.equal(tries.length, 3);
  assert.ok(entries.indexOf(tries[0]) > found.at(-1));
  const ofBad = tries.filter((entry) => entry.includes(visible));
  assert.match(ofBad[0], /try failed .* try 1: failed with a server error, answer 503/);
  assert.match(ofBad[1], /delivered .* try 2: accepted, answer 200/);
  assert.match(tries.find((entry) => entry.includes('Good hook')), /delivered Good hook: try 1: accepted, answer 200/);
  assert.equal(await page.locator('main img').count(), 0);

  const follow = async (entry, heading) => {
    const line = page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').filter({ hasText: entry });
    await line.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  };
  for (const [entry, heading] of [
    ['was dispatched', id],
    ['Evaluated, because', `Evaluation of ${id}`],
    ['was placed on', `${id}.g[0]`],
    ['exit code 3: fatal', `Run ${instanceOf(id)}`],
    ['Run Errored', 'run:errored'],
    ['try 1: failed', 'Delivery of run:errored'],
  ]) {
    await follow(entry, heading);
    if (entry.startsWith('try 1')) break;
    await page.goBack();
    await page.getByText('try 2: accepted').waitFor();
  }
  assert.equal(new URL(page.url()).searchParams.get('try'), '1');
  await page.locator('main').getByRole('link', { name: 'Timeline', exact: true }).click();
  const chosen = page.getByRole('listitem').filter({ hasText: 'this event' });
  await chosen.waitFor();
  assert.match(await chosen.innerText(), /run:errored/);
  assert.match(await page.title(), /^Timeline of run:errored · /);
  await page.getByText('was dispatched').waitFor();

  await page.getByLabel('Show').first().selectOption('notifications');
  await eventually(async () => ((await page.getByText('was placed on').count()) === 0 ? true : undefined), () => 'notifications alone');
  assert.match(page.url(), /show=notifications/);
  assert.deepEqual(faults, []);
});

test('the overview of a job shows the last entries and leads to the whole; the form finds a run and an event', async () => {
  const id = await ranFor('carol');
  const { page, faults } = await opened(`jobs/default/${encodeURIComponent(id)}`);
  const last = page.getByRole('list', { name: 'The last entries' });
  await last.getByText('Good hook: try 1: accepted').waitFor();
  assert.equal(await last.getByRole('listitem').count(), 5);
  await page.getByRole('link', { name: 'The whole timeline' }).click();
  await page.getByRole('heading', { level: 1, name: `Timeline of ${id}` }).waitFor();
  const link = page.getByRole('listitem').filter({ hasText: 'Run Errored' }).getByRole('link');
  const event = decodeURIComponent((await link.getAttribute('href')).split('/').at(-1));

  await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Timeline' }).click();
  await page.getByRole('link', { name: id }).waitFor();
  const field = page.getByLabel('Job, run or event');
  const show = page.getByRole('button', { name: 'Show' });
  await show.click();
  await page.getByText('An ID must be given.').waitFor();
  await field.fill('ne-none');
  await show.click();
  await page.getByText('There is no such event').waitFor();
  await field.fill(event);
  await show.click();
  await page.getByRole('heading', { level: 1, name: 'Timeline of run:errored' }).waitFor();
  await page.goBack();
  await field.fill('none');
  await show.click();
  await page.getByText('Neither the job nor a record of its runs is kept').waitFor();
  await page.goto(`${server.url}/ui/timeline?of=run:x`);
  await page.getByText('“run:x” names neither a job, a run nor an event.').waitFor();
  assert.deepEqual(faults, []);
});

test('names with signs of addresses lead to their timeline, also after a reload', async () => {
  const odd = 'a/b%#?é🚀';
  await register(server.url, { ...jobNamed(odd, 'exit 0'), Type: 'batch' });
  const { page, faults } = await opened(`jobs/default/${encodeURIComponent(odd)}`);
  await page.getByRole('link', { name: 'The whole timeline' }).click();
  await page.getByRole('heading', { level: 1, name: `Timeline of ${odd}` }).waitFor();
  await page.reload();
  await page.getByText('Run 1 succeeded').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Run 1 succeeded' }).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Run 1' }).waitFor();
  await page.reload();
  await page.locator('main').getByRole('link', { name: 'Timeline', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: `Timeline of ${odd}, run 1` }).waitFor();
  await page.getByText('Run 1 succeeded').waitFor();
  assert.deepEqual(faults, []);
});

test('a timeline says what could not be read, and what it needs', async () => {
  const id = await ranFor('dora');
  const { page, faults } = await opened('timeline');
  let answer = (route) => route.fulfill({ status: 500, body: 'the disk is gone' });
  await page.route('**/notification-events?*', (route) => answer(route));
  await page.goto(`${server.url}/ui/${timelineOf(id)}`);
  await page.getByText('The notifications could not be read').waitFor();
  await page.getByText('was placed on').waitFor();
  assert.equal(await page.getByText('Run Errored').count(), 0);
  answer = (route) => route.continue();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Run Errored').waitFor();

  await page.route('**/v1/job/**', (route) => route.fulfill({ status: 403, body: 'Permission denied' }));
  await page.reload();
  await page.getByText('It needs read-job in default').waitFor();
  assert.deepEqual(faults, []);
});

test('two runs of the list are compared: what differs is said, with the differences of the versions', async () => {
  const one = await ranFor('bob', '{"day":1}');
  await register(server.url, reportJob('exit 4'));
  const other = await ranFor(hostile, '{"day":1}');
  const { page, faults } = await opened('jobs/default/report/runs');
  for (const id of [one, other]) await page.getByRole('checkbox', { name: `Select ${id}` }).check();
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: `Runs ${instanceOf(one)} and ${instanceOf(other)}` }).waitFor();
  const row = async (name) => {
    const cells = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) }).getByRole('cell');
    await cells.first().waitFor();
    return (await cells.allInnerTexts()).map((text) => text.trim());
  };
  assert.deepEqual(await row('Input customer'), ['differs', 'bob', visible]);
  assert.deepEqual(await row('Payload'), ['same', '{"day":1}', '{"day":1}']);
  assert.deepEqual(await row('Outcome'), ['same', 'failed', 'failed']);
  assert.deepEqual(await row('Exit code'), ['differs', '3', '4']);
  const [word, before, now] = await row('Version of the job');
  assert.deepEqual([word, Number(now) - Number(before)], ['differs', 1]);
  assert.match((await row('First error')).join(), /differs,fatal: no data for bob,fatal: no data for <img/);
  assert.equal((await row('Node'))[0], 'same');
  assert.deepEqual(await row('Attempts'), ['same', '1 allocation, 0 restarts', '1 allocation, 0 restarts']);
  await page.getByText(`v${before} → v${now}`).waitFor();
  await page.getByText('exit 4').first().waitFor();
  assert.equal(await page.locator('main img').count(), 0);

  await page.getByLabel('Compare with').selectOption('');
  await page.getByRole('heading', { level: 1, name: `Run ${instanceOf(one)}` }).waitFor();
  await page.goto(`${server.url}/ui/runs/default/report/${instanceOf(one)}?with=dispatch-1-none`);
  await page.getByText('Nothing is kept of the run dispatch-1-none.').waitFor();
  await page.goto(`${server.url}/ui/runs/default/report/dispatch-1-none`);
  await page.getByText('The server does not have the run').waitFor();
  assert.deepEqual(faults, []);
});
