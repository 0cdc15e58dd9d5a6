// The web page: variables, access, evaluations and the capacity of nodes.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { callsOf, eventually, openSignedIn, startBrowser, startServer, watchedPage } from './support.mjs';

let server;
let browser;
let token;
let call;
let context;
let page;
let faults;
const timeout = 30_000;

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
  page.setDefaultTimeout(5000);
});

const putVariable = (path, Items, query = '') => call('PUT', `/v1/var/${path}${query}`, { Path: path, Items });
const items = async (path) => (await call('GET', `/v1/var/${path}`)).Items;

const signedIn = (path = '', secret = token) => openSignedIn(page, server.url, secret, path);
const button = (name) => page.getByRole('button', { name, exact: true });
const clean = () => assert.deepEqual(faults, []);

/** Everything of the page that outlives what it shows, and what it shows. */
const traces = () =>
  page.evaluate(() =>
    JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state, location.href, document.documentElement.outerHTML,
      [...document.querySelectorAll('input, textarea')].map(({ value }) => value)]),
  );

test('values are in the page only while they are shown, for 30 s', { timeout }, async () => {
  await page.clock.install();
  await putVariable('app/db', { password: 'hunter-2-secret', user: 'ada' });
  await putVariable('app/db/replica', { host: 'r1' });
  await signedIn('variables');
  await page.getByRole('link', { name: 'app/', exact: true }).click();
  await page.getByRole('link', { name: 'db', exact: true }).click();
  await page.getByText('password').waitFor();
  await page.getByRole('link', { name: 'replica' }).waitFor();
  assert.equal(page.url(), `${server.url}/ui/variables/default/app/db`);
  assert.ok(!(await traces()).includes('hunter-2-secret'));
  await button('Show the values').click();
  await page.getByText('hunter-2-secret').waitFor();
  await page.clock.runFor(500);
  await page.clock.fastForward(31_000);
  await button('Show the values').waitFor();
  assert.ok(!(await traces()).includes('hunter-2-secret'));
  await button('Edit').click();
  await button('Show and change the value of password').click();
  assert.equal(await page.getByLabel('Value', { exact: true }).inputValue(), 'hunter-2-secret');
  await page.clock.runFor(500);
  await page.clock.fastForward(31_000);
  await button('Show and change the value of password').waitFor();
  assert.ok(!(await traces()).includes('hunter-2-secret'));
  clean();
});

test('a variable is created and edited; a lost race shows both versions', { timeout }, async () => {
  await signedIn('variables');
  await button('New variable…').click();
  await page.getByLabel('Path').fill('nomad/jobs/web');
  await button('Continue').click();
  await page.getByLabel('Name', { exact: true }).fill('mode');
  await page.getByLabel('Value').fill('one');
  await button('Save').click();
  await button('Edit').waitFor();
  assert.deepEqual(await items('nomad/jobs/web'), { mode: 'one' });
  assert.equal(await page.getByRole('link', { name: 'web', exact: true }).getAttribute('href'), '/ui/jobs/default/web');

  await button('Edit').click();
  await button('Show and change the value of mode').click();
  await page.getByLabel('Value').fill('mine');
  await button('Add an item').click();
  await page.getByLabel('Name', { exact: true }).nth(1).fill('extra');
  await putVariable('nomad/jobs/web', { mode: 'theirs', third: 'x' });
  await button('Save').click();
  await page.getByRole('heading', { name: 'Nothing was saved: it has changed meanwhile' }).waitFor();
  assert.deepEqual(await items('nomad/jobs/web'), { mode: 'theirs', third: 'x' });
  assert.ok(!(await traces()).includes('theirs'));
  await button('Show the values').click();
  await page.getByText('theirs', { exact: true }).waitFor();
  await page.getByRole('row', { name: /mode/ }).getByRole('radio').nth(1).check();
  await button('Save both together').click();
  await button('Edit').waitFor();
  assert.deepEqual(await items('nomad/jobs/web'), { mode: 'theirs', third: 'x', extra: '' });

  await button('Remove…').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('heading', { name: 'Variables of default' }).waitFor();
  assert.equal((await fetch(`${server.url}/v1/var/nomad/jobs/web`, { headers: { 'X-SVC-Token': token } })).status, 404);
  clean();
});

test('of variables only what the server allows is offered, and locks are shown', { timeout }, async () => {
  await putVariable('team/locked', { a: 'b' }, '?lock-acquire');
  await putVariable('team/open', { a: 'b' });
  await call('POST', '/v1/acl/policy/team', {
    Name: 'team',
    Rules: 'namespace "default" { variables { path "team/*" { capabilities = ["read"] }\n path "team/open" { capabilities = ["read", "write"] } } }',
  });
  const { SecretID } = await call('POST', '/v1/acl/token', { Name: 'ada', Type: 'client', Policies: ['team'] });
  await signedIn('variables/default/team/locked');
  await page.getByText('It is locked for 15s').waitFor();
  assert.equal(await button('Edit').or(button('Remove…')).count(), 0);

  await signedIn('variables/default/team/locked', SecretID);
  await page.getByText('It is locked for 15s').waitFor();
  await page.getByRole('link', { name: 'Variables' }).first().waitFor();
  await page.goto(`${server.url}/ui/variables/default/team/open`);
  await button('Edit').waitFor();
  assert.equal(await button('Remove…').count(), 0);
  assert.deepEqual(await items('team/open'), { a: 'b' });

  await call('POST', '/v1/acl/policy/none', { Name: 'none', Rules: 'namespace "default" { policy = "read" }' });
  const other = await call('POST', '/v1/acl/token', { Name: 'bob', Type: 'client', Policies: ['none'] });
  const answered = page.waitForResponse((answer) => answer.request().method() === 'DELETE');
  await signedIn('variables/default/team/open', other.SecretID);
  await page.getByText('There is no variable at this path, or you may not list it.').waitFor();
  assert.equal((await answered).status(), 403);
  assert.equal(await button('Create a variable here').or(button('Edit')).count(), 0);
  clean();
});

test('a policy, a role and a token are made; the secret is shown once', { timeout }, async () => {
  await signedIn('access/new-policy');
  await page.getByLabel('Name', { exact: true }).fill('readers');
  await page.getByLabel('Rules').fill('namespace "default" {\n  policy = "reed"\n}');
  await button('Create').click();
  await page.getByRole('alert').getByText('at line').waitFor();
  await page.getByLabel('Rules').fill('namespace "default" {\n  policy = "read"\n}');
  await button('Create').click();
  await page.getByRole('heading', { name: 'What it grants' }).waitFor();
  await page.getByRole('row', { name: /namespace default read list-jobs/ }).waitFor();

  await page.goto(`${server.url}/ui/access/new-role`);
  await page.getByLabel('Name', { exact: true }).fill('looking');
  await page.getByLabel('readers').check();
  await button('Create').click();
  await page.getByRole('heading', { name: 'looking' }).waitFor();

  await page.goto(`${server.url}/ui/access/new-token`);
  await page.getByLabel('Name', { exact: true }).fill('eve');
  await page.getByLabel('looking').check();
  await page.getByLabel('Ends').selectOption({ label: 'in 8 h' });
  await button('Create').click();
  await page.getByRole('heading', { name: 'The token is created' }).waitFor();
  const [secret = ''] = await page.locator('code').allTextContents();
  const own = await call('GET', '/v1/acl/token/self', undefined, secret);
  assert.deepEqual([own.Name, own.ExpirationTTL, own.Roles[0].Name], ['eve', '8h0m0s', 'looking']);
  assert.ok((await traces()).includes(secret));
  // Leaving by accident is asked about first; nobody answers here.
  await page.getByRole('link', { name: 'Jobs' }).click();
  await button('I have the secret').click();
  await page.getByRole('heading', { name: 'eve' }).waitFor();
  assert.ok(!(await traces()).includes(secret));
  assert.ok((await traces()).includes(own.AccessorID));

  await button('Edit').click();
  await page.getByLabel('Name', { exact: true }).fill('eve the second');
  await button('Save').click();
  await page.getByRole('heading', { name: 'eve the second' }).waitFor();
  await page.getByText('in 7 h').waitFor();
  assert.equal((await call('GET', '/v1/acl/token/self', undefined, secret)).Roles[0].Name, 'looking');

  await signedIn('access', secret);
  await page.getByText('list-jobs').waitFor();
  await page.getByRole('link', { name: 'readers' }).click();
  await page.getByRole('heading', { name: 'What it grants' }).waitFor();
  assert.equal(await button('Edit').or(button('Remove…')).count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Tokens' }).count(), 0);

  await signedIn(`access/roles/${own.Roles[0].ID}`);
  await button('Remove…').click();
  await page.getByRole('dialog').getByText('1 token loses its rights.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('heading', { name: 'Roles' }).waitFor();
  await page.goto(`${server.url}/ui/access/tokens/${own.AccessorID}`);
  await button('Revoke…').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('heading', { name: 'Tokens' }).waitFor();
  assert.equal((await fetch(`${server.url}/v1/acl/token/self`, { headers: { 'X-SVC-Token': secret } })).status, 403);
  clean();
});

test('an evaluation tells its story, and the capacity of nodes has sums, boxes and a table', { timeout }, async () => {
  const Tasks = [
    { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['600'] }, Resources: { CPU: 20, MemoryMB: 16 } },
  ];
  await call('POST', '/v1/jobs', {
    Job: { ID: 'fits', Type: 'service', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Count: 2, Tasks }] },
  });
  const huge = [{ ...Tasks[0], Resources: { CPU: 20, MemoryMB: 900_000_000 } }];
  await call('POST', '/v1/jobs', {
    Job: { ID: 'huge', Type: 'service', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: huge }] },
  });
  await signedIn('jobs/default/huge/evaluations');
  await page.locator('td a[data-row-link], td a.id').last().click();
  await page.getByRole('heading', { name: 'Evaluation of huge' }).waitFor();
  await page.getByText('g had no room.').waitFor();
  await page.getByText('lacks room: memory').waitFor();
  await page.getByRole('heading', { name: 'The chain, 2 evaluations' }).waitFor();
  await page.getByRole('link', { name: /^open/ }).click();
  await page.getByText('Nothing yet: it waits until a node may have room.').waitFor();

  await eventually(
    async () => ((await call('GET', '/v1/job/fits/allocations')).length === 2 ? true : undefined),
    () => 'the allocations',
  );
  await page.goto(`${server.url}/ui/nodes`);
  await page.getByRole('link', { name: 'Capacity' }).click();
  await page.getByText('memory 32 MiB of').first().waitFor();
  const box = page.locator('.density a');
  assert.match(await box.getAttribute('aria-label'), /memory \d+ %, CPU \d+ %, 2 allocations$/);
  await page.getByLabel('As a table').check();
  await page.getByRole('row', { name: /32 MiB of/ }).waitFor();
  assert.match(page.url(), /\/ui\/topology\?view=table$/);
  clean();
});
