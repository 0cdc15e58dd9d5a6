// The web page of a server with access control: addresses, sign-in, rights, and what people do with jobs.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { callsOf, eventually, openSignedIn, rewrite, sourceField, sourceText, startBrowser, startPrefixProxy, startServer, watchedPage } from './support.mjs';

let server;
let proxy;
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
  proxy = await startPrefixProxy('/tools/jobs', server.url);
  browser = await startBrowser([]);
});
after(async () => {
  await browser?.close();
  proxy?.ended();
  await server?.ended();
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext();
  ({ page, faults } = await watchedPage(context));
});


const task = (script, resources = { CPU: 20, MemoryMB: 16 }) => ({
  Name: 'main',
  Driver: 'raw_exec',
  Config: { command: '/bin/sh', args: ['-c', script] },
  Resources: resources,
});
const service = (ID, more = {}, script = 'exec sleep 600') => ({
  ID,
  Type: 'service',
  Datacenters: ['*'],
  Update: { MinHealthyTime: 0, HealthCheck: 'task_states' },
  ...more,
  TaskGroups: [{ Name: 'g', Count: 1, Tasks: [task(script)], ...more.group }],
});
const register = (job, more = {}) => call('POST', '/v1/jobs', { Job: job, ...more });
const stopped = (id) => call('DELETE', `/v1/job/${encodeURIComponent(id)}?purge=true`);

const signedIn = (path = '', secret = token, base = server.url) => openSignedIn(page, base, secret, path);

/** The deployment of a job has ended: only then it can be scaled. */
const settled = (id) =>
  eventually(
    async () => ((await call('GET', `/v1/job/${id}/deployment`))?.Status === 'successful' ? true : undefined),
    () => `the deployment of ${id}`,
  );
const heading = () => page.getByRole('heading', { level: 1 }).textContent();
const clean = () => assert.deepEqual(faults, []);

test('a deep link below a prefix that the server does not know loads everything below the prefix', { timeout }, async () => {
  await register(service('prefixed'));
  const outside = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${proxy.url}/`)) outside.push(request.url());
  });
  await signedIn('jobs/default/prefixed/versions', token, proxy.url);
  await page.getByRole('region', { name: 'Version 0' }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Allocations' }).waitFor();
  assert.equal(page.url(), `${proxy.url}/ui/jobs/default/prefixed`);
  assert.deepEqual(outside, []);
  await stopped('prefixed');
  clean();
});

test('a job ID with signs of addresses and emoji survives list, job, reload and the copied address', { timeout }, async () => {
  const id = 'a/b%#?&🚦';
  await register(service(id));
  await signedIn('jobs');
  await page.getByRole('link', { name: id }).click();
  assert.equal(await heading(), id);
  const address = page.url();
  await page.reload();
  assert.equal(await heading(), id);
  const other = await context.newPage();
  await other.goto(address);
  assert.equal(await other.getByRole('heading', { level: 1 }).textContent(), id);
  await stopped(id);
  clean();
});

test('back restores filter and focus; addresses of the anchor lead to ours; an unknown one says so', { timeout }, async () => {
  await register(service('backed'));
  await signedIn('jobs?q=back');
  await page.getByRole('link', { name: 'backed' }).click();
  await page.getByRole('heading', { name: 'Groups' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H1');
  assert.equal(await page.title(), 'backed · Signalbox');
  await page.goBack();
  await page.getByRole('link', { name: 'backed' }).waitFor();
  assert.equal(await page.getByRole('searchbox').inputValue(), 'back');
  assert.equal(await page.title(), 'Jobs · Signalbox');
  await page.goto(`${server.url}/ui/jobs/backed@default`);
  await page.getByRole('heading', { name: 'backed' }).waitFor();
  await page.goto(`${server.url}/ui/nothing/here`);
  await page.getByText('There is no page at this address.').waitFor();
  await stopped('backed');
  clean();
});

test('a deep link leads to sign-in and back, and the token is nowhere afterwards', { timeout }, async () => {
  await register(service('deep'));
  await page.goto(`${server.url}/ui/jobs/default/deep?x=1`);
  await page.getByLabel('Token').fill('not a token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('the token is unknown or has expired').waitFor();
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'deep' }).waitFor();
  assert.equal(page.url(), `${server.url}/ui/jobs/default/deep?x=1`);
  const readable = await page.evaluate(() =>
    JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state, location.href, document.documentElement.outerHTML,
      [...document.querySelectorAll('input')].map(({ value }) => value)]),
  );
  assert.ok(!readable.includes(token));
  await stopped('deep');
  clean();
});

test('a one-time token of the address is exchanged once and gone from it', { timeout }, async () => {
  const { OneTimeToken } = await call('POST', '/v1/acl/token/onetime');
  const secret = OneTimeToken.OneTimeSecretID;
  await page.goto(`${server.url}/ui/jobs?ott=${secret}&q=x`);
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  assert.equal(page.url(), `${server.url}/ui/jobs?q=x`);
  const fresh = await browser.newContext();
  const second = await fresh.newPage();
  await second.goto(`${server.url}/ui/jobs?ott=${secret}`);
  await second.getByText('the one-time token is unknown, has been used or has expired').waitFor();
  assert.ok(!second.url().includes(secret));
  await fresh.close();
  clean();
});

test('a session that ends while one writes is renewed in place; sign-out ends all tabs', { timeout }, async () => {
  const { SecretID, AccessorID } = await call('POST', '/v1/acl/token', { Name: 'writer', Type: 'management' });
  await signedIn('jobs/new', SecretID);
  await rewrite(page, 'job "draft" {}');
  await call('DELETE', `/v1/acl/token/${AccessorID}`);
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor({ state: 'detached' });
  assert.equal(await sourceText(page), 'job "draft" {}');
  const other = await context.newPage();
  await other.goto(`${server.url}/ui/jobs`);
  await other.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You have signed out in another tab.').waitFor();
  clean();
});

test('what the caller may not do is not offered, and granted rights show without a reload', { timeout }, async () => {
  await register(service('guarded'));
  await call('POST', '/v1/acl/policy/look', { Name: 'look', Rules: 'namespace "default" { policy = "read" }' });
  const { SecretID } = await call('POST', '/v1/acl/token', { Name: 'ada', Type: 'client', Policies: ['look'] });
  await signedIn('jobs/default/guarded', SecretID);
  await page.getByRole('heading', { name: 'Groups' }).waitFor();
  await page.getByText('ada', { exact: true }).waitFor();
  for (const name of ['Stop…', 'Edit', 'Scale…', 'Restart…', 'Main', 'Sign in'])
    assert.equal(await page.getByRole('button', { name, exact: true }).or(page.getByRole('link', { name, exact: true })).count(), 0, name);
  assert.equal(await page.getByRole('link', { name: 'Nodes' }).count(), 0);
  await page.goto(`${server.url}/ui/nodes`);
  await page.getByText('You may not read the nodes.').waitFor();
  await page.getByText('you are ada').waitFor();
  await page.goto(`${server.url}/ui/jobs/default/guarded`);
  await page.getByRole('heading', { name: 'Groups' }).waitFor();
  await call('POST', '/v1/acl/policy/look', { Name: 'look', Rules: 'namespace "default" { policy = "write" }' });
  await page.getByRole('button', { name: 'Stop…' }).waitFor({ timeout: 5000 });
  await call('POST', '/v1/acl/policy/look', { Name: 'look', Rules: 'namespace "default" { policy = "read" }' });
  await page.getByRole('button', { name: 'Stop…' }).waitFor({ state: 'detached', timeout: 5000 });
  await stopped('guarded');
  clean();
});

test('of calls that need two rights, or fewer for a part, only what is allowed is offered; links of a job lead to web pages only', { timeout }, async () => {
  const links = [{ Label: 'Handbook', Url: 'https://example.net/h' }, { Label: 'Trap', Url: 'javascript:alert(1)' }];
  await register({ ...service('halves'), UI: { Description: '<b>About</b>', Links: links } });
  const allocation = await eventually(async () => (await call('GET', '/v1/job/halves/allocations'))[0]?.ID, () => 'an allocation');
  const rules = 'namespace "default" { capabilities = ["list-jobs", "read-job", "deregister-job", "alloc-exec", "register-job"] }';
  await call('POST', '/v1/acl/policy/halves', { Name: 'halves', Rules: rules });
  const { SecretID } = await call('POST', '/v1/acl/token', { Name: 'eve', Type: 'client', Policies: ['halves'] });
  await signedIn('jobs/default/halves', SecretID);
  const about = page.getByRole('region', { name: 'About the job' });
  await about.getByText('<b>About</b>').waitFor();
  assert.deepEqual(await about.getByRole('link').evaluateAll((all) => all.map(({ href }) => href)), ['https://example.net/h']);
  // To edit needs a plan, and its source to be read.
  assert.equal(await page.getByRole('link', { name: 'Edit', exact: true }).count(), 0);
  await page.getByRole('button', { name: 'Stop…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.locator('.title .mark', { hasText: 'Stopped' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Purge…' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
  await page.goto(`${server.url}/ui/allocs/${allocation}`);
  await page.getByRole('link', { name: 'Overview' }).waitFor();
  for (const name of ['Actions', 'Exec']) assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name);
  await stopped('halves');
  clean();
});

test('wrong HCL shows the problem at its line, and the suggestion fixes it', { timeout }, async () => {
  await signedIn('jobs/new');
  const source = sourceField(page);
  const text = (await sourceText(page)).replace('type = "batch"', 'type = "batch"\n  datacenterz = ["*"]');
  await rewrite(page, text);
  await page.getByRole('button', { name: '3:3' }).waitFor();
  await page.locator('#problems button', { hasText: 'datacenters' }).click();
  await page.getByRole('button', { name: '3:3' }).waitFor({ state: 'detached' });
  assert.ok((await sourceText(page)).includes('datacenters = ["*"]'));
  clean();
});

test('the editor marks a problem at its line; one key uses the suggestion, and Escape leaves the editor', { timeout }, async () => {
  await signedIn('jobs/new');
  const source = sourceField(page);
  await rewrite(page, 'job "marked" {\n  datacenterz = ["*"]\n}\n');
  await page.locator('.cm-lintRange-error', { hasText: 'datacenterz' }).waitFor();
  await page.locator('.cm-lint-marker-error').waitFor();
  assert.equal(await source.getAttribute('aria-invalid'), 'true');
  await page.keyboard.press('F9');
  await page.locator('.cm-lintRange-error').waitFor({ state: 'detached' });
  assert.equal(await sourceText(page), 'job "marked" {\n  datacenters = ["*"]\n}\n');
  await page.keyboard.press('Control+z');
  assert.equal(await sourceText(page), 'job "marked" {\n  datacenterz = ["*"]\n}\n', 'the suggestion can be taken back');
  // Letters are text and not shortcuts; text that replaces a selection has no styles of what it replaces.
  await page.keyboard.type('job "typed" {\ngroup "g" {');
  assert.equal(await sourceText(page), 'job "typed" {\n  group "g" {');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Tab');
  assert.equal(await sourceText(page), 'job "typed" {\n    group "g" {', 'Tab indents');
  await page.keyboard.press('ArrowRight');
  // Problems of a source have buttons after the editor: it is left when the finished source has been checked, and has none.
  const isFinished = (source) => /^job "typed" \{\s+group "g" \{\s+\}\s+\}$/.test(source);
  const checked = page.waitForResponse((answer) => isFinished(answer.request().postDataJSON()?.JobHCL));
  await page.keyboard.type('\n}\n}');
  await checked;
  await page.locator('#problems li').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement?.closest('.cm-editor') ?? document.activeElement?.localName), 'summary');
  page.once('dialog', (dialog) => dialog.accept());
  await page.getByRole('link', { name: 'Now' }).click();
  await page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
  await page.goBack();
  await source.waitFor();
  assert.ok((await sourceText(page)).startsWith('job "typed"'), 'the draft is kept');
  await page.getByRole('button', { name: 'Discard the changes' }).click();
  assert.ok((await sourceText(page)).startsWith('job "hello"'));
  clean();
});

test('without the editor a plain field takes the source', { timeout }, async () => {
  await page.route(/editor-[\w-]+\.js$/, (route) => route.abort());
  await signedIn('jobs/new');
  const source = page.getByLabel('Job specification');
  await source.fill((await source.inputValue()).replace('type = "batch"', 'type = "batch"\n  datacenterz = ["*"]'));
  await page.getByRole('button', { name: '3:3' }).click();
  assert.equal(await source.evaluate((area) => area.selectionStart), (await source.inputValue()).indexOf('datacenterz'));
  await page.locator('#problems button', { hasText: 'datacenters' }).click();
  await page.getByRole('button', { name: '3:3' }).waitFor({ state: 'detached' });
  assert.ok((await source.inputValue()).includes('datacenters = ["*"]'));
  clean();
});

test('by keyboard: edit, plan and apply registers what was shown; a change in between is refused', { timeout }, async () => {
  const source = (count, memory = 16) => `# by hand
job "planned" {
  datacenters = ["*"]
  update {
    min_healthy_time = "0s"
    health_check     = "task_states"
  }
  group "g" {
    count = ${count}
    task "main" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["600"]
      }
      resources {
        cpu    = 20
        memory = ${memory}
      }
    }
  }
}
`;
  await signedIn('jobs/new');
  await rewrite(page, source(1));
  await page.keyboard.press('Control+Enter');
  await page.getByRole('button', { name: 'Apply this plan' }).waitFor();
  await page.getByRole('button', { name: 'Apply this plan' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'planned' }).waitFor();
  await page.getByRole('link', { name: 'Edit', exact: true }).waitFor();
  await page.keyboard.press('e');
  const area = sourceField(page);
  await area.waitFor();
  assert.ok((await sourceText(page)).startsWith('# by hand'), 'the source with its comments');
  await rewrite(page, source(2));
  await page.getByRole('button', { name: /^Plan/ }).click();
  await page.locator('.diff').getByText('Count').waitFor();
  // Somebody else registers another version.
  await settled('planned');
  await call('POST', '/v1/job/planned/scale', { Count: 3, Target: { Group: 'g' }, Message: 'elsewhere' });
  await page.getByRole('button', { name: 'Apply this plan' }).click();
  await page.getByRole('alert').waitFor();
  assert.equal((await call('GET', '/v1/job/planned')).TaskGroups[0].Count, 3);
  await page.getByRole('button', { name: /^Plan/ }).click();
  await page.getByRole('button', { name: 'Apply this plan' }).click();
  await page.getByRole('heading', { name: 'planned', exact: true }).waitFor();
  await eventually(async () => ((await call('GET', '/v1/job/planned')).TaskGroups[0].Count === 2 ? true : undefined), () => 'the applied plan');
  clean();
});

test('versions are compared, and a return to one shows its plan first', { timeout }, async () => {
  await signedIn('jobs/default/planned/versions');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.locator('.diff').first().getByText('Count').waitFor();
  assert.match(page.url(), /versions\/\d+\.\.\d+$/);
  const version = page.getByRole('region', { name: 'Version 0' });
  await version.getByRole('button', { name: 'Return to this…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Count').waitFor();
  await dialog.getByRole('button', { name: 'Return', exact: true }).click();
  await page.getByText('wanted 1').waitFor();
  assert.equal((await call('GET', '/v1/job/planned')).TaskGroups[0].Count, 1);
  clean();
});

test('Stop says how many allocations end, Undo starts the job again with its source', { timeout }, async () => {
  // The one of the version before may still be ending.
  const isLive = ({ ClientStatus }) => ClientStatus === 'running' || ClientStatus === 'pending';
  await eventually(
    async () => ((await call('GET', '/v1/job/planned/allocations')).filter(isLive).length === 1 ? true : undefined),
    () => 'one allocation',
  );
  await signedIn('jobs/default/planned');
  await page.getByRole('cell', { name: 'running' }).first().waitFor();
  await page.getByRole('button', { name: 'Stop…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('This ends 1 allocation in default').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Cancel');
  await dialog.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => ((await call('GET', '/v1/job/planned')).Stop === false ? true : undefined), () => 'the start');
  await page.getByRole('link', { name: 'Definition' }).click();
  await page.getByText('# by hand').waitFor();
  await stopped('planned');
  clean();
});

test('a job without room says why on Now, and the suggested change places it', { timeout }, async () => {
  await register(service('large', {}, 'exec sleep 600'));
  await register({ ...service('large'), TaskGroups: [{ Name: 'g', Count: 1, Tasks: [task('exec sleep 600', { CPU: 20, MemoryMB: 9_000_000 })] }] });
  await signedIn();
  const line = page.locator('.line', { hasText: 'large' });
  await line.getByText('The group requests 9000000 MB of memory').waitFor();
  await line.getByRole('link', { name: 'Why' }).click();
  await page.getByText('1 node examined, 0 would take one more').click();
  await page.getByText('The group requests 9000000 MB of memory').last().waitFor();
  await page.getByRole('link', { name: 'Try a change' }).click();
  await rewrite(page, (await sourceText(page)).replace('9000000', '16'));
  await page.getByRole('button', { name: /^Plan/ }).click();
  await page.getByRole('button', { name: 'Apply this plan' }).click();
  await page.getByRole('cell', { name: 'running' }).first().waitFor();
  await stopped('large');
  clean();
});

test('promotion is offered only when the canaries are healthy, on the job and on Now', { timeout }, async () => {
  const canaries = (script) => service('canary', { Update: { MaxParallel: 1, Canary: 1, MinHealthyTime: 0, HealthCheck: 'task_states' } }, script);
  await register(canaries('exec sleep 600'));
  await settled('canary');
  await register(canaries('exec sleep 601'));
  await signedIn('jobs/default/canary');
  await page.getByText('1 of 1 canaries, not promoted').waitFor();
  await page.getByRole('link', { name: 'Now' }).click();
  const line = page.locator('.line', { hasText: 'v1 waits for promotion' });
  await line.getByRole('button', { name: 'Promote' }).click();
  await line.waitFor({ state: 'detached' });
  await settled('canary');
  const slow = canaries('exec sleep 602');
  await register({ ...slow, Update: { ...slow.Update, MinHealthyTime: 300e9, HealthyDeadline: 600e9, ProgressDeadline: 900e9 } });
  await page.goto(`${server.url}/ui/jobs/default/canary`);
  await page.getByText('1 of 1 canaries, not promoted').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Promote' }).count(), 0);
  await stopped('canary');
  clean();
});

test('dispatch by keyboard refuses what is missing, fills defaults in, and leads to the instance', { timeout }, async () => {
  await register({
    ID: 'report',
    Type: 'batch',
    Datacenters: ['*'],
    Meta: { day: 'today' },
    ParameterizedJob: { Payload: 'optional', MetaRequired: ['customer'], MetaOptional: ['day'] },
    TaskGroups: [{ Name: 'g', RestartPolicy: { Attempts: 0, Mode: 'fail' }, ReschedulePolicy: { Attempts: 0, Unlimited: false },
      Tasks: [task('test "$SVC_META_customer$NOMAD_META_customer" = good || { echo "fatal: no data for customer" >&2; exit 3; }')] }],
  });
  await signedIn('jobs/default/report/dispatch');
  await page.getByLabel('customer').waitFor();
  assert.equal(await page.getByLabel('day').inputValue(), 'today');
  await page.getByRole('button', { name: 'Dispatch' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('customer must be given').waitFor();
  await page.getByLabel('Payload').fill('x'.repeat(17_000));
  await page.getByLabel('customer').fill('bob');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('at most 16 KiB are accepted').waitFor();
  await page.getByLabel('Payload').fill('');
  await page.getByLabel('customer').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^report\/dispatch-/ }).waitFor();
  await page.locator('.title .mark', { hasText: 'Failed' }).waitFor();
  clean();
});

test('from Now the failed runs of a job are two clicks away, and run again together', { timeout }, async () => {
  await call('POST', '/v1/job/report/dispatch', { Meta: { customer: 'eve' } });
  await eventually(async () => ((await call('GET', '/v1/jobs/failures?job=report')).failures === 2 ? true : undefined), () => 'two failures');
  await signedIn();
  const line = page.locator('.line', { hasText: '2 runs failed alike' });
  await line.getByText('fatal: no data for customer').waitFor();
  await line.getByRole('button', { name: 'Run all again…' }).click();
  await page.getByRole('dialog').getByText('Dispatches 2 new instances').waitFor();
  await page.getByRole('button', { name: 'Run again', exact: true }).click();
  await eventually(async () => ((await call('GET', '/v1/jobs/failures?job=report')).failures === 4 ? true : undefined), () => 'four failures');
  await line.or(page.locator('.line', { hasText: '4 runs failed alike' })).getByRole('link', { name: 'See the runs' }).click();
  await page.getByRole('heading', { name: 'Ended runs' }).waitFor();
  await eventually(
    async () => ((await page.getByRole('region', { name: 'Ended runs' }).getByRole('row').count()) === 5 ? true : undefined),
    () => 'a heading and four runs',
  );
  await stopped('report');
  clean();
});

test('a restart of several allocations is carried out after the tab is closed', { timeout }, async () => {
  await register({ ...service('many'), TaskGroups: [{ Name: 'g', Count: 4, Tasks: [task('exec sleep 600')] }] });
  await signedIn('jobs/default/many');
  await eventually(async () => ((await page.getByRole('cell', { name: 'running' }).count()) === 4 ? true : undefined), () => 'four allocations');
  await page.getByRole('button', { name: 'Restart…' }).click();
  await page.getByLabel('Allocations at a time').fill('2');
  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.close();
  await eventually(async () => ((await call('GET', '/v1/jobs/restarts?job=many')).state === 'done' ? true : undefined), () => 'the restart');
  assert.equal((await call('GET', '/v1/jobs/restarts?job=many')).restarted, 4);
  await stopped('many');
  clean();
});

test('the list has the order of the server, and does not move under the pointer', { timeout }, async () => {
  for (const id of ['s-b', 's-a', 's-c']) await register(service(id));
  await signedIn('jobs?q=s-');
  const ids = () => page.locator('[data-row-link]').allTextContents();
  await eventually(async () => ((await ids()).length === 3 ? true : undefined), () => 'three jobs');
  await page.getByRole('button', { name: 'Job', exact: true }).click();
  await eventually(async () => ((await ids()).join() === 's-c,s-b,s-a' ? true : undefined), () => 'the descending order');
  await page.getByRole('button', { name: /^Job/ }).click();
  await eventually(async () => ((await ids()).join() === 's-a,s-b,s-c' ? true : undefined), () => 'the ascending order');
  assert.match(page.url(), /sort=id/);
  await page.getByRole('link', { name: 's-b' }).hover();
  await register(service('s-aa'));
  await page.getByRole('button', { name: /1 change: show/ }).waitFor();
  assert.deepEqual(await ids(), ['s-a', 's-b', 's-c']);
  await page.getByRole('button', { name: /1 change: show/ }).click();
  await eventually(async () => ((await ids()).join() === 's-a,s-aa,s-b,s-c' ? true : undefined), () => 'the new row');
  for (const id of ['s-b', 's-a', 's-c', 's-aa']) await stopped(id);
  clean();
});

test('a view that was left while an action ended is current when one returns', { timeout }, async () => {
  await register(service('left'));
  await settled('left');
  await signedIn('jobs/default/left/evaluations');
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  const before = await rows.count();
  let answer;
  const answered = new Promise((resolve) => (answer = resolve));
  await page.route(/\/evaluate(?:\?|$)/, async (route) => {
    await answered;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Evaluate again' }).click();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByText('Version 0').or(page.getByText('v0')).first().waitFor();
  answer();
  await page.getByText('The job is evaluated again').waitFor();
  await page.getByRole('link', { name: 'Evaluations' }).click();
  await eventually(async () => ((await rows.count()) > before ? true : undefined), () => `more than ${before} evaluations`);
  await stopped('left');
  clean();
});

test('Find leads by keyboard to a job by a part of its name', { timeout }, async () => {
  await register(service('find-me-here'));
  await signedIn();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('searchbox').waitFor();
  await page.keyboard.type('me-he');
  await page.getByRole('dialog').getByRole('link', { name: 'find-me-here job default' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'find-me-here' }).waitFor();
  await stopped('find-me-here');
  clean();
});
