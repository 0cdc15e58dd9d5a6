// What if: simulations of plans, nodes and changes; actions on all jobs that a filter matches; policies that are tried.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { callsOf, eventually, openSignedIn, rewrite, sourceField, sourceText, startBrowser, startNodes, startServer, violationsOf, watchedPage } from './support.mjs';

let server;
let nodes;
let browser;
let token;
let call;
let context;
let page;
let faults;
const timeout = 90_000;

before(async () => {
  server = await startServer('--access', 'token', '--no-runner');
  token = await server.printed(/^management token.*: (\S+)/);
  call = callsOf(server, token);
  nodes = await startNodes(server, call, { 'n-1': 1024, 'n-2': 1024, 'n-3': 512 });
  browser = await startBrowser([]);
});
after(async () => {
  await browser?.close();
  await nodes?.ended();
  await server?.ended();
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
  ({ page, faults } = await watchedPage(context));
  page.setDefaultTimeout(10_000);
});

const task = (memory) => ({
  Name: 'main',
  Driver: 'raw_exec',
  Config: { command: '/bin/sleep', args: ['600'] },
  Resources: { CPU: 20, MemoryMB: memory },
});
const service = (ID, count, memory, group = {}) => ({
  ID,
  Type: 'service',
  Datacenters: ['*'],
  Update: { MinHealthyTime: 0, HealthCheck: 'task_states' },
  TaskGroups: [{ Name: 'g', Count: count, Tasks: [task(memory)], ...group }],
});
const register = (job, more = {}) => call('POST', '/v1/jobs', { Job: job, ...more });
const stopped = (id) => call('DELETE', `/v1/job/${encodeURIComponent(id)}?purge=true`);
/** Live allocations of a job: name and node. */
async function placesOf(id) {
  const all = await call('GET', `/v1/job/${encodeURIComponent(id)}/allocations`);
  const live = all.filter(({ DesiredStatus, ClientStatus }) => DesiredStatus === 'run' && ClientStatus !== 'complete');
  return live.map(({ Name, NodeName }) => `${Name} ${NodeName}`).sort();
}
/** A job has so many running allocations, and no deployment is under way. */
const running = (id, count) =>
  eventually(
    async () => {
      const all = await call('GET', `/v1/job/${encodeURIComponent(id)}/allocations`);
      const live = all.filter(({ ClientStatus, DesiredStatus }) => ClientStatus === 'running' && DesiredStatus === 'run');
      const deployment = await call('GET', `/v1/job/${encodeURIComponent(id)}/deployment`);
      return live.length === count && deployment?.Status !== 'running' ? true : undefined;
    },
    () => `${count} running allocations of ${id}`,
  );

const signedIn = (path = '', secret = token) => openSignedIn(page, server.url, secret, path);
const button = (name) => page.getByRole('button', { name, exact: true });
const clean = () => assert.deepEqual(faults, []);
/** The cells of a table, by row. */
const rowsOf = (name) =>
  page
    .getByRole('region', { name, exact: true })
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
/** A caller with rules of a policy. */
async function callerWith(name, rules) {
  await call('POST', `/v1/acl/policy/${name}`, { Name: name, Rules: rules });
  return (await call('POST', '/v1/acl/token', { Name: name, Type: 'client', Policies: [name] })).SecretID;
}

const source = (id, count, memory) => `# kept by hand: memory = ${memory} is meant
job "${id}" {
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
        memory = ${memory} # of ${memory}
      }
    }
  }
}
`;
async function submit(id, count, memory, change = (text) => text) {
  const text = change(source(id, count, memory));
  const { Job } = { Job: await call('POST', '/v1/jobs/parse', { JobHCL: text, Canonicalize: false }) };
  await register(Job, { Submission: { Source: text, Format: 'hcl2' } });
}

test('what is simulated of a plan is what applying it then places', { timeout }, async () => {
  await register(service('planned', 2, 300));
  await running('planned', 2);
  const before = await placesOf('planned');
  await signedIn('jobs/default/planned/plan');
  await rewrite(page, (await sourceText(page)).replace('"Count": 2', '"Count": 4'));
  await page.getByRole('button', { name: /^Plan/ }).click();
  await button('Simulate').click();
  const simulation = page.getByRole('region', { name: 'Simulation' });
  await simulation.getByText(/^Places 2 allocations: /).waitFor();
  await simulation.getByText(/^Made (?:just now|.* ago) from the cluster as it was at /).waitFor();
  const moves = await rowsOf('Allocations that are placed or stop');
  const simulated = moves.map(([, name, , to]) => `${name} ${to}`);
  assert.equal(simulated.length, 2);
  assert.deepEqual(await placesOf('planned'), before, 'nothing is stored');
  await button('Apply this plan').click();
  await running('planned', 4);
  assert.deepEqual((await placesOf('planned')).filter((place) => !before.includes(place)), simulated.sort());
  await stopped('planned');
  clean();
});

test('a plan without room says what does not run', { timeout }, async () => {
  await register(service('short', 1, 300));
  await running('short', 1);
  await signedIn('jobs/default/short/plan');
  await rewrite(page, (await sourceText(page)).replace('"Count": 1', '"Count": 9'));
  await page.getByRole('button', { name: /^Plan/ }).click();
  await page.getByLabel('Simulated time').selectOption('10 minutes');
  await button('Simulate').click();
  await page.getByText(/^\d of the 9 allocations that are wanted do not run at the end: there is no room/).waitFor();
  const [[job, placed, , , end]] = await rowsOf('Jobs that it concerns');
  assert.equal(job, 'short');
  assert.equal(end.startsWith(`${Number(placed) + 1} running`), true, end);
  await stopped('short');
  clean();
});

test('a node that were drained lists what then really moves, and a loss what would have no room', { timeout }, async () => {
  // One of the two larger nodes has the large one, the other has no room for it.
  await register(service('large', 1, 700));
  await running('large', 1);
  await register(service('filler', 1, 600));
  await running('filler', 1);
  const migrate = { MaxParallel: 4, HealthCheck: 'task_states', MinHealthyTime: 0, HealthyDeadline: 300e9 };
  await register(service('movable', 4, 100, { Migrate: migrate }));
  await register({ ...service('every', 1, 20), Type: 'system' });
  await Promise.all([running('movable', 4), running('every', 3)]);
  const home = (await placesOf('large'))[0].split(' ')[1];
  await signedIn(`nodes/${nodes.ids[home]}`);
  await button('What if it is lost?').click();
  await page.getByText(/has no room elsewhere|have no room elsewhere/).waitFor();
  const lost = await rowsOf('What becomes of its allocations');
  await button('What if it is drained?').click();
  await page.getByText(`If ${home} were drained within an hour`).waitFor();
  const fates = await rowsOf('What becomes of its allocations');
  const of = (rows, job) => rows.filter(([name]) => name === job);
  assert.deepEqual(of(lost, 'large').map(([, , fate]) => fate), ['no room elsewhere']);
  assert.deepEqual(of(fates, 'large').map(([, , fate]) => fate), ['no room elsewhere']);
  assert.deepEqual(of(fates, 'every').map(([, , fate]) => fate), ['ends with the node']);
  const moves = of(fates, 'movable').map(([, name, fate, to]) => {
    assert.equal(fate, 'moves');
    return `${name} ${to}`;
  });
  const before = await placesOf('movable');
  assert.equal(before.filter((place) => place.endsWith(` ${home}`)).length, moves.length);
  await call('POST', `/v1/node/${nodes.ids[home]}/drain`, { DrainSpec: { Deadline: 3600e9, IgnoreSystemJobs: false } });
  await eventually(
    async () => ((await call('GET', `/v1/node/${nodes.ids[home]}`)).DrainStrategy === null ? true : undefined),
    () => 'the end of the drain',
  );
  await running('movable', 4);
  assert.deepEqual((await placesOf('movable')).filter((place) => !before.includes(place)), moves.sort());
  assert.deepEqual(await placesOf('large'), []);
  assert.equal((await placesOf('every')).length, 2);
  await call('POST', `/v1/node/${nodes.ids[home]}/eligibility`, { Eligibility: 'eligible' });
  for (const id of ['movable', 'large', 'filler', 'every']) await stopped(id);
  clean();
});

test('a change is tried where a group waits, and the editor opens with it in the source as it was written', { timeout }, async () => {
  await submit('tight', 1, 5000);
  await signedIn('jobs/default/tight');
  await page.getByText('Try a change', { exact: true }).click();
  const memory = page.getByLabel('Memory in MiB');
  const suggested = Number(await memory.inputValue());
  assert.ok(suggested > 500 && suggested <= 1024, String(suggested));
  await memory.fill('4000');
  await button('Simulate').click();
  await page.getByText('It would not help').waitFor();
  await memory.fill(String(suggested));
  await button('Simulate').click();
  const verdict = page.getByText(/^Would place 1 on n-\d\.$/);
  await verdict.waitFor();
  const node = /on (n-\d)/.exec(await verdict.textContent())[1];
  await page.getByRole('link', { name: 'Open the editor with this change' }).click();
  await sourceField(page).waitFor();
  const wanted = source('tight', 1, 5000).replace('memory = 5000 # of', `memory = ${suggested} # of`);
  await eventually(async () => ((await sourceText(page)) === wanted ? true : undefined), () => 'the change in the source');
  await page.getByRole('button', { name: /^Plan/ }).click();
  await button('Apply this plan').click();
  await running('tight', 1);
  assert.deepEqual(await placesOf('tight'), [`tight.g[0] ${node}`]);
  await stopped('tight');
  clean();
});

test('a change of a value that the source does not have makes it JSON, and says so; a draft is kept until it is replaced', { timeout }, async () => {
  await submit('defaulted', 1, 16, (text) => text.replace(/ +count = 1\n/, ''));
  await running('defaulted', 1);
  await signedIn('jobs/default/defaulted/plan?group=g&count=2');
  await page.getByText('so this is the definition as JSON').waitFor();
  assert.equal(JSON.parse(await sourceText(page)).Job.TaskGroups[0].Count, 2);
  await button('Discard the changes').click();
  assert.ok((await sourceText(page)).startsWith('# kept by hand'));
  await rewrite(page, `${source('defaulted', 1, 16)}# a draft`);
  page.on('dialog', (dialog) => dialog.accept());
  await page.getByRole('link', { name: 'Now' }).click();
  await page.getByRole('heading', { name: 'Now', exact: true }).waitFor();
  await page.goBack();
  await button('Use the change that you tried instead').waitFor();
  assert.ok((await sourceText(page)).endsWith('# a draft'));
  await button('Use the change that you tried instead').click();
  await page.getByText('so this is the definition as JSON').waitFor();
  await stopped('defaulted');
  clean();
});

test('limits, refusals and cuts of a simulation are said', { timeout }, async () => {
  await signedIn(`nodes/${nodes.ids['n-1']}`);
  let answer;
  await page.route('**/v1/jobs/simulate*', (route) => answer(route));
  answer = (route) => route.fulfill({ status: 400, body: 'the cluster is too large to be simulated: at most 500 nodes' });
  await button('What if it is drained?').click();
  await page.getByRole('alert').getByText('at most 500 nodes').waitFor();
  answer = async (route) => {
    const response = await route.fetch();
    const played = await response.json();
    const playedUntil = new Date(Date.parse(played.from) + 90_000).toISOString();
    const { 'content-encoding': _, 'content-length': __, ...headers } = response.headers();
    await route.fulfill({ headers, body: JSON.stringify({ ...played, playedUntil, isCut: true }) });
  };
  await button('What if it is drained?').click();
  await page.getByText('It was played for 1 min 30 s only').waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  clean();
});

test('simulations are offered to whom the server allows them', { timeout }, async () => {
  await register(service('seen', 1, 5000));
  const reader = await callerWith('what-if-reader', 'namespace "default" { policy = "read" }\nnode { policy = "read" }');
  await signedIn(`nodes/${nodes.ids['n-1']}`, reader);
  await page.getByRole('heading', { name: 'Facts' }).waitFor();
  assert.equal(await page.getByText('What if').count(), 0);
  await page.goto(`${server.url}/ui/jobs/default/seen`);
  await page.getByText('1 node examined').or(page.getByText('3 nodes examined')).waitFor();
  assert.equal(await page.getByText('Try a change').count(), 0);
  const planner = await callerWith(
    'what-if-planner',
    'namespace "default" { capabilities = ["list-jobs", "read-job", "plan-job"] }',
  );
  await context.clearCookies();
  await signedIn('jobs/default/seen', planner);
  await page.getByText('Try a change', { exact: true }).click();
  await page.getByLabel('Memory in MiB').fill('100');
  await button('Simulate').click();
  await page.getByText('Would place 1.', { exact: true }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Open the editor with this change' }).count(), 0);
  await stopped('seen');
  clean();
});

const isStopped = async (id) => (await call('GET', `/v1/job/${id}`)).Stop;

test('an action on all that match takes exactly these, over all pages, and refuses when their count has changed', { timeout }, async () => {
  const batch = (ID) => ({
    ...{ ID, Type: 'batch', Datacenters: ['*'], Periodic: { Specs: ['0 0 1 1 *'], Enabled: true } },
    TaskGroups: [{ Name: 'g', Tasks: [task(16)] }],
  });
  const pad = (number) => String(number).padStart(3, '0');
  const wanted = Array.from({ length: 130 }, (_, at) => `bulk-yes-${pad(at)}`);
  const others = Array.from({ length: 70 }, (_, at) => `bulk-no-${pad(at)}`);
  for (const id of [...wanted, ...others]) await register(batch(id));
  await signedIn('jobs?q=bulk-yes&sort=id');
  await page.getByText('the first 50 jobs').waitFor();
  await page.getByLabel('Select default/bulk-yes-003').check();
  await page.getByText('1 job selected').waitFor();
  await button('Select all that match').click();
  await page.getByText('all 130 jobs that match selected').waitFor();
  await button('Stop…').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('All 130 jobs in all namespaces, that match bulk-yes, without instances of others').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Cancel');
  // Another one matches by now.
  await register(batch('bulk-yes-late'));
  await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
  await dialog.getByRole('alert').getByText('Now 131 match, not 130. Nothing was done').waitFor();
  assert.deepEqual(await Promise.all(wanted.slice(0, 5).map(isStopped)), [false, false, false, false, false]);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await button('Select all that match').click();
  await page.getByText('all 131 jobs that match selected').waitFor();
  await stopped('bulk-yes-late');
  await button('Stop…').click();
  await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
  await dialog.getByRole('alert').getByText('Now 130 match, not 131. Nothing was done').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await button('Select all that match').click();
  await page.getByText('all 130 jobs that match selected').waitFor();
  // Two of them fail.
  await page.route(/\/v1\/job\/bulk-yes-0(?:07|99)(?:\?|$)/, (route) =>
    route.request().method() === 'DELETE' ? route.fulfill({ status: 500, body: 'the disk is <b>full</b>' }) : route.continue(),
  );
  await button('Stop…').click();
  await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('128 of 130 jobs are stopped, 2 failed.').waitFor();
  assert.match(page.url(), /\/ui\/bulk\/stop-\w+$/);
  const failed = [
    ['bulk-yes-007 default', 'the disk is <b>full</b>'],
    ['bulk-yes-099 default', 'the disk is <b>full</b>'],
  ];
  assert.deepEqual(await rowsOf('Failed'), failed);
  await page.reload();
  await page.getByText('128 of 130 jobs are stopped, 2 failed.').waitFor();
  assert.deepEqual(await rowsOf('Failed'), failed);
  const all = await call('GET', '/v1/jobs?prefix=bulk-');
  assert.deepEqual(all.filter(({ Stop }) => Stop).map(({ ID }) => ID), wanted.filter((id) => id !== 'bulk-yes-007' && id !== 'bulk-yes-099'));
  await page.getByRole('link', { name: 'The list with its filter' }).click();
  await page.getByText('the first 50 jobs').waitFor();
  assert.equal(new URL(page.url()).search, '?q=bulk-yes&sort=id');
  // Another tab knows nothing of it.
  const other = await context.newPage();
  await other.goto(`${server.url}/ui/bulk/stop-1`);
  await other.getByText('This tab has carried out no such action').waitFor();
  clean();
});

test('an action on all that match is ended by a button; the rest is not touched', { timeout }, async () => {
  await signedIn('jobs?q=bulk-no&sort=id');
  await page.getByText('the first 50 jobs').waitFor();
  await page.getByLabel('Select default/bulk-no-000').check();
  await button('Select all that match').click();
  await page.getByText('all 70 jobs that match selected').waitFor();
  let acts = 0;
  await page.route(/\/v1\/job\/bulk-no-/, async (route) => {
    if (route.request().method() === 'DELETE') {
      acts += 1;
      if (acts > 10) await page.getByRole('button', { name: 'Stop here' }).click();
    }
    await route.continue();
  });
  await button('Stop…').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('11 of 70 jobs are stopped. You ended it: 59 jobs were not touched.').waitFor();
  const all = await call('GET', '/v1/jobs?prefix=bulk-no');
  assert.equal(all.filter(({ Stop }) => Stop).length, 11);
  clean();
});

test('rules that are tried say what the server then does', { timeout }, async () => {
  const rules = `namespace "default" { policy = "read" }
namespace "team-*" { capabilities = ["submit-job", "list-jobs"] }
namespace "team-core" { policy = "deny" }
node { policy = "read" }`;
  for (const name of ['team-web', 'team-core']) await call('POST', `/v1/namespace/${name}`, { Name: name });
  const secret = await callerWith('what-if-tried', rules);
  const statusOf = async (method, path, body) => {
    const headers = { 'X-SVC-Token': secret, 'Content-Type': 'application/json' };
    const answer = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    return answer.status;
  };
  const job = (Namespace) => ({ Job: { ...service('tried', 1, 16), Namespace } });
  const list = (namespace) => ['GET', `/v1/jobs?namespace=${namespace}`];
  const cases = [
    ['jobs.list', 'default', 'namespace "default"', list('default')],
    ['jobs.plan', 'default', 'namespace "default"', ['POST', '/v1/job/tried/plan', job('default')]],
    ['jobs.list', 'team-web', 'namespace "team-*"', list('team-web')],
    ['jobs.plan', 'team-web', 'namespace "team-*"', ['POST', '/v1/job/tried/plan', job('team-web')]],
    ['jobs.list', 'team-core', 'namespace "team-core"', list('team-core')],
    ['nodes.read', 'default', 'node', ['GET', `/v1/node/${nodes.ids['n-1']}`]],
    ['nodes.setEligibility', 'default', 'node', ['POST', `/v1/node/${nodes.ids['n-1']}/eligibility`, { Eligibility: 'eligible' }]],
    ['policies.put', 'default', undefined, ['POST', '/v1/acl/policy/tried', { Name: 'tried', Rules: rules }]],
  ];
  await signedIn('access/policies/what-if-tried');
  await page.getByRole('link', { name: 'Try it against a call' }).click();
  await eventually(async () => ((await page.getByLabel('Rules', { exact: true }).inputValue()) === rules ? true : undefined), () => 'the rules of the policy');
  const allowed = [];
  for (const [name, namespace, rule, request] of cases) {
    await page.getByLabel('Call').fill(name);
    await page.getByLabel('In the namespace').fill(namespace);
    await button('Try').click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.waitFor();
    const text = await result.innerText();
    const isAllowed = text.includes('Allowed');
    assert.equal(await statusOf(...request), isAllowed ? 200 : 403, `${name} in ${namespace}: ${text}`);
    if (rule === undefined) assert.match(text, /No rule that matches grants it/);
    else assert.ok(text.includes(`The rule that decides is ${rule}`), text);
    allowed.push(isAllowed);
  }
  assert.deepEqual(await violationsOf(page), []);
  assert.deepEqual(allowed, [true, false, true, true, false, true, false, false]);
  assert.equal(new URL(page.url()).search, '?policy=what-if-tried&call=policies.put&in=default');
  await page.getByLabel('Rules', { exact: true }).fill('namespace "default" {\n  policy = "reed"\n}');
  await button('Try').click();
  await page.getByText(/at line 1, column 1: "reed" is not a policy/).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Result' }).count(), 0);
  await page.getByLabel('Call').fill('jobs.halt');
  await page.getByLabel('Rules', { exact: true }).fill('');
  await button('Try').click();
  await page.getByText('there is no call "jobs.halt"').waitFor();
  await context.clearCookies();
  await signedIn('access/try', secret);
  await page.getByText('You may not try this').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Try rules' }).count(), 0);
  clean();
});
