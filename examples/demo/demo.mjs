// Shows the main features with real parts: a server on SQLite, real processes, a webhook receiver, and a kill in the middle.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startReceiver } from './receiver.mjs';
import { startServer } from './server.mjs';
import { check, closedPort, section, step, until } from './story.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const workspace = 'ws-demo';
const secret = 'a-secret-shared-with-the-team';
const folder = mkdtempSync(join(tmpdir(), 'signalbox-demo-'));
const marks = join(folder, 'marks');
const deadline = setTimeout(() => void finish(new Error('the demo took longer than 60 seconds')), 60_000);

let server;
let receiver;
const summary = [];

async function story() {
  section('Start');
  mkdirSync(marks);
  const seed = join(folder, 'seed.json');
  writeFileSync(
    seed,
    JSON.stringify({
      workspaces: [{ id: workspace, name: 'reports', organization: 'acme', execution_mode: 'remote' }],
      run_notifications: [{ workspace, meta: { team: 'reports' } }],
    }),
  );
  receiver = await startReceiver(secret);
  step(`webhook receiver of the team on ${receiver.url}`);
  server = await startServer(folder, seed);
  step(`engine, HTTP API and runner on ${server.origin}, everything in ${join(folder, 'demo.sqlite')}`);

  section('A destination must answer before it is enabled');
  const dead = `http://127.0.0.1:${await closedPort()}/hook`;
  const refused = await server.api(
    'POST',
    `/workspaces/${workspace}/notification-configurations`,
    configuration('Dead', dead),
  );
  check(
    refused.status === 400,
    `towards a dead port with enabled: true: ${refused.status}, ${refused.body.errors?.[0]?.detail}`,
  );
  const none = await server.api('GET', `/workspaces/${workspace}/notification-configurations`);
  check(none.body.data.length === 0, 'nothing was saved');
  const created = await server.api(
    'POST',
    `/workspaces/${workspace}/notification-configurations`,
    configuration('Team', receiver.url),
  );
  check(
    created.status === 201 && created.body.data.attributes.enabled === true,
    `towards the receiver: ${created.status}, enabled`,
  );
  check(receiver.verifications() === 1, 'the verification request arrived, and its signature is right');

  section('A parameterized job');
  const source = readFileSync(join(here, 'report.nomad.hcl'), 'utf8');
  const variables = `marks = ${JSON.stringify(marks)}`;
  const parsed = await server.api('POST', '/v1/jobs/parse', {
    JobHCL: source,
    Variables: variables,
    Canonicalize: true,
  });
  check(parsed.status === 200, 'the job file was parsed');
  const Submission = { Source: source, Format: 'hcl2', Variables: variables };
  const registered = await server.api('POST', '/v1/jobs', { Job: parsed.body, Submission });
  check(registered.status === 200, `registered at index ${registered.body.JobModifyIndex}`);

  section('Dispatch');
  const first = await dispatch('ada', '0.2 good', 'order-1');
  const again = await dispatch('ada', '0.2 good', 'order-1');
  check(first === again, `one idempotency token, dispatched twice: one run, ${first}`);
  const bad = await dispatch('bob', '0.2 bad', 'order-2');
  step(`a run that will fail: ${bad}`);
  const long = await dispatch('eve', '4 good', 'order-3');
  step(`a run that is still going when everything is killed: ${long}`);
  await until(() => readdirSync(marks).length === 3, 'all three processes have started');
  await until(() => receiver.sawTrigger(bad, 'run:errored'), 'the receiver was notified of the failure');

  section('SIGKILL');
  receiver.refuse(true);
  const late = await dispatch('joe', '0.1 good', 'order-4');
  await until(() => readdirSync(marks).includes('joe'), `a fourth run has started: ${late}`);
  server.kill();
  check(
    await server.ended(),
    'the whole server process is dead, with a process of its running and notifications undelivered',
  );
  receiver.refuse(false);
  server = await startServer(folder, seed);
  step(`started again on ${server.origin}, over the same file`);
  const repeated = await dispatch('ada', '0.2 good', 'order-1');
  check(repeated === first, 'the idempotency token is still known: no new run');

  section('Nothing is lost, and nothing that had finished ran twice');
  const runs = [
    ['ada', first, 'run:completed'],
    ['bob', bad, 'run:errored'],
    ['eve', long, 'run:completed'],
    ['joe', late, 'run:completed'],
  ];
  for (const [customer, id, end] of runs) {
    await until(() => receiver.sawTrigger(id, end), `${id}: ${end} arrived`);
    const status = (await server.api('GET', `/v1/job/${encodeURIComponent(id)}`)).body.Status;
    const starts = readFileSync(join(marks, customer), 'utf8').trim().split('\n').length;
    summary.push({ run: id, customer, status, starts, notified: receiver.triggersOf(id).join(' ') });
  }
  check(
    summary.every((row) => row.status === 'dead'),
    'every run has ended',
  );
  check(
    summary.every((row) => row.starts === 1),
    'every process was started exactly once',
  );
  check(receiver.faults().length === 0, `all ${receiver.count()} requests were signed correctly`);
}

function configuration(name, url) {
  const triggers = ['run:created', 'run:planning', 'run:applying', 'run:completed', 'run:errored'];
  const attributes = { name, url, token: secret, enabled: true, triggers, 'destination-type': 'generic' };
  return { data: { type: 'notification-configuration', attributes } };
}

async function dispatch(customer, order, token) {
  const body = { Payload: Buffer.from(`${order}\n`).toString('base64'), Meta: { customer } };
  const answer = await server.api('POST', `/v1/job/report/dispatch?idempotency_token=${token}`, body);
  if (answer.status !== 200)
    throw new Error(`the dispatch was refused: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.DispatchedJobID;
}

async function finish(error) {
  clearTimeout(deadline);
  if (summary.length > 0) console.table(summary);
  await server?.stop();
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
  if (error === undefined) console.log('\nThe story is true.');
  else console.error(`\nThe demo failed: ${error.message}`);
  process.exit(error === undefined ? 0 : 1);
}

await story().then(() => finish(), finish);
