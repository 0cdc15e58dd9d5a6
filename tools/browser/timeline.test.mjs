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
