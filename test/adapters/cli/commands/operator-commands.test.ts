import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, connect, orThrow } from '../../../../src/client/index.js';
import { endAll, signalbox } from '../cli-process.js';
import { typed } from '../typed-commands.js';

/** Commands for whoever runs the servers, against one that is open and one that asks for tokens; neither runs jobs. */

let origin = '';
let box: Client;
let guarded = '';
let token = '';

beforeAll(async () => {
  const open = signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner']);
  const closed = signalbox(['serve', '--listen', '127.0.0.1:0', '--no-runner']);
  origin = await open.origin();
  box = connect({ url: origin });
  guarded = await closed.origin();
  token = await closed.printed(/management token, shown this once: (\S+)/);
});
afterAll(endAll);

const run = (...words: readonly string[]) => typed(origin, {}, ...words);
const withToken = (...words: readonly string[]) =>
  typed(guarded, { environment: { SIGNALBOX_TOKEN: token } }, ...words);

describe('the configuration of the scheduler', () => {
  it('is read, and changed where something is told', async () => {
    expect((await run('operator', 'scheduler', 'get')).out).toMatch(/^Algorithm += binpack\n(.*\n)*Index += \d+\n$/);
    const words = ['operator', 'scheduler', 'set', '-scheduler-algorithm=spread', '-preempt-batch-scheduler=true'];
    expect((await run(...words)).out).toMatch(/^the configuration is changed, index \d+\n$/);
    expect((await run('operator', 'scheduler', 'set', '-memory-oversubscription', 'true')).code).toBe(0);
    const { value } = await orThrow(box.scheduler.readConfiguration());
    expect(value).toMatchObject({
      SchedulerAlgorithm: 'spread',
      MemoryOversubscriptionEnabled: true,
      NodeLimitForFeasibilityChecks: 100,
      PreemptionConfig: { BatchSchedulerEnabled: true, SystemSchedulerEnabled: true },
    });
    const late = ['-check-index', '1', '-memory-oversubscription', 'false'];
    expect(await run('operator', 'scheduler', 'set', ...late)).toMatchObject({
      code: 1,
      error: 'signalbox: the configuration has another modify index: read it again\n',
    });
    expect(JSON.parse((await run('operator', 'scheduler', 'get', '-json')).out)).toEqual(value);
  });

  it.each([
    [['-pause-eval-broker', 'maybe'], 2, '--pause-eval-broker takes true or false, not "maybe"'],
    [['-scheduler-algorithm', 'guess'], 2, '--scheduler-algorithm takes binpack or spread, not "guess"'],
    // Every node is ranked, so there is no limit to set.
    [['-node-limit', '50'], 2, 'unknown option --node-limit'],
  ])('is not changed to %j', async (options, code, message) => {
    const refused = await run('operator', 'scheduler', 'set', ...options);
    expect([refused.code, refused.error]).toEqual([code, expect.stringContaining(message)]);
  });
});

describe('evaluations', () => {
  it('are listed in pages, and deleted while none is worked on', async () => {
    const main = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } };
    for (const ID of ['one', 'two']) {
      await orThrow(
        box.jobs.register({ ID, Type: 'batch', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [main] }] }),
      );
    }
    await expect.poll(async () => (await run('eval', 'list', '-status', 'pending')).out).toBe('no evaluations\n');
    expect((await run('eval', 'list', '-job', 'one')).out).toMatch(/^ID +Priority .*\n\w{8} +50 +job-register +one /);
    const page = await run('eval', 'list', '-per-page', '1');
    const next = /^next page: --page-token (\S+)\n$/.exec(page.error)?.[1] ?? '';
    expect((await run('eval', 'list', '-per-page=100', '-page-token', next)).out).not.toContain(
      page.out.split('\n')[1],
    );

    expect((await run('eval', 'delete')).code).toBe(2);
    const all = ['eval', 'delete', '-filter', 'JobID == "one"'];
    expect((await run(...all)).code).toBe(1);
    expect((await run('operator', 'scheduler', 'set', '-pause-eval-broker=true')).code).toBe(0);
    expect((await run(...all)).out).toMatch(/^\d+ evaluations? (is|are) deleted\n$/);
    expect((await run('eval', 'list', '-job', 'one')).out).toBe('no evaluations\n');
    const { value } = await orThrow(box.evaluations.list({ job: 'two' }));
    const ids = value.items.map(({ ID }) => ID);
    expect(JSON.parse((await run('eval', 'delete', '-json', ...ids)).out)).toMatchObject({ count: ids.length });
    expect((await run('eval', 'delete', 'ffffffff')).error).toBe('signalbox: there is no evaluation ffffffff\n');
    expect((await run('operator', 'scheduler', 'set', '-pause-eval-broker=false')).code).toBe(0);
  });
});

describe('the server', () => {
  it('tells its members and what it measures', async () => {
    expect((await run('server', 'members')).out).toMatch(/^Name +Address +Status .*\n\S+ +127\.0\.0\.1:\d+ +alive /);
    expect(JSON.parse((await run('operator', 'metrics')).out)).toHaveProperty('Gauges');
    expect((await run('operator', 'metrics', '-prometheus')).code).toBe(0);
  });
});

describe('scaling policies', () => {
  it('are listed and shown', async () => {
    expect((await run('scaling', 'policy', 'list')).out).toBe('no scaling policies\n');
    const main = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } };
    const groups = [{ Name: 'g', Scaling: { Min: 1, Max: 4, Enabled: true }, Tasks: [main] }];
    await orThrow(box.jobs.register({ ID: 'scaled', Datacenters: ['*'], TaskGroups: groups }));
    const { out } = await run('scaling', 'policy', 'list', '-job', 'scaled');
    expect(out).toMatch(/^ID +Enabled +Type +Target\n\S+ +true +horizontal +.*Job:scaled/);
    const id = /\n(\S+) /.exec(out)?.[1] ?? '';
    expect(JSON.parse((await run('scaling', 'policy', 'info', id)).out)).toMatchObject({ ID: id, Max: 4 });
    expect((await run('scaling', 'policy', 'info', 'none')).error).toBe('signalbox: there is no scaling policy none\n');
  });
});

describe('roles and tokens', () => {
  it('are made, shown and removed', async () => {
    const rules = { files: { 'reader.hcl': 'namespace "*" { policy = "read" }' } };
    const environment = { SIGNALBOX_TOKEN: token };
    await typed(guarded, { ...rules, environment }, 'policy', 'put', 'reader', 'reader.hcl');
    expect((await withToken('role', 'list')).out).toBe('no roles\n');
    expect((await withToken('role', 'put', 'dev')).code).toBe(2);
    const put = await withToken('role', 'put', '-policy', 'reader', '-description', 'who develops', 'dev');
    expect(put.out).toMatch(/^ID += \S+\nName += dev\nDescription += who develops\nPolicies += reader\n$/);
    const id = /^ID += (\S+)/.exec(put.out)?.[1] ?? '';
    expect((await withToken('role', 'put', '-policy=reader', '-description=changed', 'dev')).out).toContain(id);
    expect((await withToken('role', 'show', id)).out).toMatch(/Description += changed\n/);
    expect((await withToken('role', 'list')).out).toMatch(/^Name +Policies +ID\ndev +reader +\S+\n$/);

    const made = JSON.parse((await withToken('token', 'create', '-role=dev', '-ttl=1h', '-json', 'ada')).out);
    expect(made).toMatchObject({ Name: 'ada', Roles: [{ Name: 'dev' }], ExpirationTTL: '1h0m0s' });
    expect((await withToken('token', 'show', made.AccessorID)).out).toMatch(/Name += ada\n(.*\n)*Roles += dev\n/);
    const own = await typed(guarded, { environment: { SIGNALBOX_TOKEN: made.SecretID } }, 'token', 'show');
    expect(own.out).toContain(made.AccessorID);
    expect((await withToken('role', 'delete', 'dev')).out).toBe('role dev is deleted\n');
    expect((await withToken('role', 'show', 'dev')).error).toBe('signalbox: there is no role dev\n');
  });
});
