// The keyboard's focus after a control is gone or was disabled: always on something that can be seen, near to where it was.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { callsOf, eventually, jobNamed, openSignedIn, startBrowser, startServer, usedByKeyboard, watchedPage } from './support.mjs';

let server;
let browser;
let token;
let call;
let context;
let page;
let faults;
const timeout = 60_000;

before(async () => {
  server = await startServer('--access', 'token');
  token = await server.printed(/^management token.*: (\S+)/);
  call = callsOf(server, token);
  browser = await startBrowser([]);
});
after(async () => {
  await browser?.close();
  await server?.ended();
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext();
  ({ page, faults } = await watchedPage(context));
  page.setDefaultTimeout(10_000);
});

const signedIn = (path = '', secret = token) => openSignedIn(page, server.url, secret, path);
const button = (name, within = page) => within.getByRole('button', { name, exact: true });
const inDialog = (name) => button(name, page.getByRole('dialog'));
const register = (job) => call('POST', '/v1/jobs', { Job: job });
const service = (ID, script, more = {}) => ({ ...jobNamed(ID, script), Update: { MinHealthyTime: 0, HealthCheck: 'task_states' }, ...more });
const running = (id) =>
  eventually(
    async () => ((await call('GET', `/v1/job/${id}/allocations`)).some(({ ClientStatus }) => ClientStatus === 'running') ? true : undefined),
    () => `an allocation of ${id}`,
  );
const deploymentOf = (id, status) =>
  eventually(
    async () => ((await call('GET', `/v1/job/${id}/deployment`))?.Status === status ? true : undefined),
    () => `the deployment of ${id}, ${status}`,
  );

const use = (...used) => usedByKeyboard(page, ...used);
const gone = (control) => () => control.waitFor({ state: 'detached' });
const shown = (text) => () => page.getByText(text).first().waitFor();
const clean = () => assert.deepEqual(faults, []);


test('of a job: stop, undo, evaluate again', { timeout }, async () => {
  await register(service('web', 'exec sleep 600'));
  await running('web');
  await signedIn('jobs/default/web');
  const stop = button('Stop…', page.locator('main'));
  await use(stop, () => page.getByRole('dialog').waitFor(), /^button Cancel/);
  await use(inDialog('Stop'), gone(stop), /^button Start again/);
  await use(button('Undo'), () => stop.waitFor(), /^h1 web/);
  await page.goto(`${server.url}/ui/jobs/default/web/evaluations`);
  await use(button('Evaluate again'), shown('The job is evaluated again'), /^button Evaluate again/);
  clean();
});

test('of a deployment: pause, resume, promote, fail; and of Now: promote, later', { timeout }, async () => {
  const canary = (script, more) => service('canary', script, { Update: { MaxParallel: 1, Canary: 1, MinHealthyTime: 0, HealthCheck: 'task_states', ...more } });
  await register(canary('exec sleep 600'));
  await deploymentOf('canary', 'successful');
  await register(canary('exec sleep 601'));
  await signedIn('jobs/default/canary/deployments');
  await use(button('Pause'), () => button('Resume').waitFor(), /^button Resume/);
  await use(button('Resume'), () => button('Pause').waitFor(), /^button Pause/);
  await use(button('Promote'), gone(button('Promote')), /^button Copy the deployment's ID/);
  await deploymentOf('canary', 'successful');
  await register(canary('exec sleep 602'));
  await page.goto(`${server.url}/ui/`);
  const line = page.locator('.line', { hasText: 'v2 waits for promotion' });
  await use(button('Promote', line), gone(line), /^h2 Needs you/);
  await deploymentOf('canary', 'successful');
  await register(canary('exec sleep 603'));
  await use(button('Later', page.locator('.line', { hasText: 'v3 waits for promotion' })), gone(page.locator('.line', { hasText: 'v3 waits' })), /^h2 Needs you/);
  await page.goto(`${server.url}/ui/jobs/default/canary/deployments`);
  await use(button('Fail…'), () => page.getByRole('dialog').waitFor(), /^button Cancel/);
  await use(inDialog('Fail it'), gone(button('Fail…')), /^button Copy the deployment's ID/);
  clean();
});

test('of a node: take nothing new, drain, end the drain', { timeout }, async () => {
  const [node] = await call('GET', '/v1/nodes');
  // One after the other, and there is no other node for the first: the drain does not end.
  await register({ ...service('stays', 'exec sleep 600', { Migrate: { MaxParallel: 1, MinHealthyTime: 300e9, HealthCheck: 'task_states', HealthyDeadline: 600e9 } }), TaskGroups: [{ ...jobNamed('stays', 'exec sleep 600').TaskGroups[0], Count: 2 }] });
  await running('stays');
  await signedIn(`nodes/${node.ID}`);
  await use(button('Take nothing new'), () => button('Take allocations again').waitFor(), /^button Take allocations again/);
  await use(button('Take allocations again'), () => button('Take nothing new').waitFor(), /^button Take nothing new/);
  await use(button('Drain…'), () => page.getByRole('dialog').waitFor(), /^button Cancel/);
  await use(inDialog('Drain'), () => button('End the drain').waitFor(), /^button End the drain/);
  await use(button('End the drain'), gone(button('End the drain')), /^button Drain…/);
  clean();
});

test('of a list of jobs: show what has changed, select all that match', { timeout }, async () => {
  for (let at = 0; at < 3; at++) await register({ ...jobNamed(`many-${at}`, 'exit 0'), Type: 'batch' });
  await signedIn('jobs?q=many-');
  await page.getByRole('link', { name: 'many-0' }).focus();
  for (let at = 3; at < 6; at++) await register({ ...jobNamed(`many-${at}`, 'exit 0'), Type: 'batch' });
  const changes = page.getByRole('button', { name: /changes?: show$/ });
  await use(changes, gone(changes), /^section Jobs/);
  await page.getByLabel('Select default/many-1').focus();
  await page.keyboard.press(' ');
  const all = button('Select all 6 that match');
  await use(all, gone(all), /^button Stop…/);
  await use(button('Clear the selection'), gone(button('Clear the selection')), /^section Jobs/);
  clean();
});

test('of a token: sign out and in again in place, revoke', { timeout }, async () => {
  await call('POST', '/v1/acl/policy/team', { Name: 'team', Rules: 'namespace "default" { policy = "read" }' });
  const { AccessorID } = await call('POST', '/v1/acl/token', { Name: 'ada', Type: 'client', Policies: ['team'] });
  await signedIn(`access/tokens/${AccessorID}`);
  await use(button('Sign out'), () => page.getByLabel('Token').waitFor(), /^input/);
  await page.keyboard.insertText(token);
  await use(button('Sign in'), gone(page.getByRole('dialog')), /^button Sign out/);
  await use(button('Revoke…'), () => page.getByRole('dialog').waitFor(), /^button Cancel/);
  await use(inDialog('Revoke'), gone(page.getByRole('dialog')), /^h1/);
  clean();
});

test('of a page that was signed out: sign in', { timeout }, async () => {
  await page.goto(`${server.url}/ui/jobs`);
  await page.getByLabel('Token').fill(token);
  await use(button('Sign in'), gone(button('Sign in')), /^h1 Jobs/);
  clean();
});

test('of a variable: show and hide', { timeout }, async () => {
  await call('PUT', '/v1/var/app/db', { Path: 'app/db', Items: { password: 'secret' } });
  await signedIn('variables/default/app/db');
  await use(button('Show the values'), () => button('Hide the values').waitFor(), /^button Hide the values/);
  await use(button('Hide the values'), () => button('Show the values').waitFor(), /^button Show the values/);
  await use(button('Edit'), gone(button('Edit')), /^button Copy the path/);
  const show = button('Show and change the value of password');
  await use(show, gone(show), /^button Hide the value of password/);
  await use(button('Hide the value of password'), () => show.waitFor(), /^button Show and change the value of password/);
  clean();
});

test('a key that is held down acts once, wherever the focus goes', { timeout }, async () => {
  await register(service('held', 'exec sleep 600'));
  await running('held');
  await signedIn('jobs/default/held');
  await button('Stop…', page.locator('main')).focus();
  await page.keyboard.down('Enter');
  await page.getByRole('dialog').waitFor();
  await inDialog('Stop').focus();
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  clean();
});
