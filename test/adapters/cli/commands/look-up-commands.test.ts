import { beforeAll, describe, expect, it } from 'vitest';
import { orThrow } from '../../../../src/client/index.js';
import { signalbox } from '../cli-process.js';
import { servedCommands } from '../served-commands.js';

/** Commands that look things up, against a server with a runner whose job offers a service. */

const served = servedCommands();
const { run } = served;
let allocation = '';

beforeAll(async () => {
  const Config = { command: '/bin/sh', args: ['-c', 'echo kept > ../alloc/data/kept.txt; exec sleep 1000'] };
  const main = { Name: 'main', Driver: 'raw_exec', Config, Resources: { CPU: 20, MemoryMB: 16 } };
  const Services = [{ Name: 'shop', Provider: 'nomad' as const, AddressMode: 'host' as const, Tags: ['blue'] }];
  const Update = { MinHealthyTime: 50e6 };
  const groups = [{ Name: 'web', Update, Services, Tasks: [main] }];
  await orThrow(served.box.jobs.register({ ID: 'shop-1', Type: 'service', Datacenters: ['*'], TaskGroups: groups }));
  allocation = await healthy('shop-1');
});

/** Waits for the end of the job's deployment; gives the ID of an allocation. */
async function healthy(job: string): Promise<string> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(served.box.jobs.latestDeployment(job, waiting));
    if (value?.Status === 'successful') break;
    waiting = { index, wait: '10s' };
  }
  return (await orThrow(served.box.jobs.allocations(job))).value?.[0]?.ID ?? '';
}

describe('of a job', () => {
  it('allocations and deployments are listed', async () => {
    expect((await run('job', 'allocs', 'shop-1')).out).toMatch(/^ID +Group .*\n\w{8} +web +0 .* run +running/);
    expect((await run('job', 'deployments', 'shop-1')).out).toMatch(/^ID +Job .*\n\w{8} +shop-1 +0 +successful/);
    expect((await run('job', 'deployments', '-latest', 'shop-1')).out).toMatch(/Status += successful\n/);
    for (const words of [
      ['job', 'allocs'],
      ['job', 'deployments'],
      ['job', 'deployments', '-latest'],
    ]) {
      expect(await run(...words, 'none')).toMatchObject({ code: 1, error: 'signalbox: there is no job none\n' });
    }
  });

  it('that is periodic, an instance is launched by hand', async () => {
    const main = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } };
    const Periodic = { Spec: '0 0 1 1 *', SpecType: 'cron', Enabled: true };
    const groups = [{ Name: 'g', Tasks: [main] }];
    await orThrow(
      served.box.jobs.register({ ID: 'yearly', Type: 'batch', Datacenters: ['*'], Periodic, TaskGroups: groups }),
    );
    const { code, out } = await run('job', 'periodic', 'force', 'yearly');
    expect(code).toBe(0);
    expect(out).toMatch(/^evaluation \w{8} .*\nevaluation \w{8} is complete\n$/s);
    expect((await run('job', 'periodic', 'force', 'shop-1')).code).toBe(1);
  });
});

describe('the outlook and the past of jobs', () => {
  it('is why one waits, when one runs next, and how runs ended', async () => {
    const task = (MemoryMB: number, args: string[]) => ({
      ...{ Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/sh', args } },
      ...{ Resources: { CPU: 20, MemoryMB }, RestartPolicy: { Attempts: 0, Mode: 'fail' } },
    });
    const job = (ID: string, tasks: object, more = {}) =>
      orThrow(
        served.box.jobs.register({
          ...{ ID, Type: 'batch', Datacenters: ['*'], ...more },
          TaskGroups: [{ Name: 'g', ReschedulePolicy: { Attempts: 0, Unlimited: false }, Tasks: [tasks] }],
        }),
      );
    await job('too-large', task(9e8, ['-c', 'true']));
    for (let waiting = {}; ; ) {
      const { value, index } = await orThrow(served.box.evaluations.list({ job: 'too-large', ...waiting }));
      if (value.items.some(({ Status }) => Status === 'blocked')) break;
      waiting = { index, wait: '20s' };
    }
    expect((await run('job', 'why', 'too-large')).out).toMatch(
      /^group g: 1 waiting, 1 nodes examined\n {2}No node takes .* of memory, \d+ MB are free\n {2}or change job Resources.MemoryMB: 900000000 MB -> \d+ MB\n/,
    );
    await job('nightly', task(16, ['-c', 'true']), { Periodic: { Specs: ['30 2 * * *'], TimeZone: 'Europe/Berlin' } });
    const { out } = await run('job', 'schedule', '-n', '2', 'nightly');
    expect(out).toMatch(
      /^Job +Launch +Zone +Cron\n(nightly +\S+T02:30:00\+0\d:00 +Europe\/Berlin +30 2 \* \* \*\n){2}/,
    );
    expect(await run('job', 'schedule', '-n', 'many')).toMatchObject({ code: 2 });
    await job('fails', task(16, ['-c', 'echo fatal: no data for 17 >&2; exit 3']));
    for (let waiting = {}; ; ) {
      const { value, index } = await orThrow(served.box.jobs.runs({ jobId: 'fails', ...waiting }));
      if (value.items.length > 0) break;
      waiting = { index, wait: '20s' };
    }
    expect((await run('job', 'runs', 'fails')).out).toMatch(
      /^Job +Outcome .*\nfails +failed +\S+Z +\S+Z +fatal: no data for 17\n/,
    );
    expect((await run('job', 'runs', '-outcome', 'succeeded', 'fails')).out).toBe('no ended runs\n');
    expect((await run('job', 'failures', 'fails')).out).toMatch(
      /\n1 +failed, exit code 3 +fails +\S+Z +fatal: no data for <n>\n/,
    );
  });
});

describe('checks of an allocation', () => {
  it('are shown with what they found last', async () => {
    expect((await run('alloc', 'checks', allocation.slice(0, 8))).out).toBe('no checks\n');
    const main = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/sleep', args: ['1000'] } };
    const check = { Name: 'port', Type: 'tcp', PortLabel: '1', Interval: 1e9, Timeout: 1e9, OnUpdate: 'ignore' };
    const Services = [{ Name: 'checked', Provider: 'nomad' as const, AddressMode: 'host' as const, Checks: [check] }];
    const groups = [{ Name: 'web', Update: { MinHealthyTime: 50e6 }, Services, Tasks: [main] }];
    await orThrow(served.box.jobs.register({ ID: 'checked', Datacenters: ['*'], TaskGroups: groups } as never));
    const id = await healthy('checked');
    await expect
      .poll(async () => (await run('alloc', 'checks', id)).out)
      .toMatch(/^Service +Task +Check +Mode +Status +Output\nchecked +port +readiness +failure .*ECONNREFUSED/);
    expect(Object.values(JSON.parse((await run('alloc', 'checks', '-json', id)).out))).toMatchObject([
      { Check: 'port' },
    ]);
    expect((await run('job', 'stop', '-purge', 'checked')).code).toBe(0);
  });
});

describe('meta of a node', () => {
  it('is added, shown and taken away', async () => {
    const [node] = (await orThrow(served.box.nodes.list())).value.items;
    const id = node?.ID.slice(0, 8) ?? '';
    expect((await run('node', 'meta', 'apply', id, 'rack=r1', 'note=a=b')).out).toMatch(
      /^Name +Value +From\n(.*\n)*note +a=b +applied\n(.*\n)*rack +r1 +applied\n/,
    );
    expect(JSON.parse((await run('node', 'meta', 'read', '-json', id)).out).Dynamic).toEqual({
      note: 'a=b',
      rack: 'r1',
    });
    expect((await run('node', 'meta', 'apply', '-unset', 'rack', '-unset=note', id)).out).not.toContain('rack');
    expect((await run('node', 'meta', 'apply', id)).code).toBe(2);
    expect((await run('node', 'meta', 'apply', id, 'nothing')).code).toBe(2);
    expect((await run('node', 'meta', 'read', 'ffffffff')).error).toBe('signalbox: there is no node ffffffff\n');
  });
});

describe('versions of a job', () => {
  it('get a name, by which they are reverted to, and lose it', async () => {
    expect((await run('job', 'tag', 'apply', '-description', 'works', 'shop-1', 'good')).out).toBe(
      'a version of shop-1 has the tag good\n',
    );
    expect((await run('job', 'history', 'shop-1')).out).toMatch(/Version += 0\n(.*\n)*Tag += good\n/);
    expect((await run('job', 'tag', 'apply', '-version', '7', 'shop-1', 'none')).code).toBe(1);
    expect((await run('job', 'tag', 'unset', 'shop-1', 'good')).out).toBe('no version of shop-1 has the tag good\n');
    expect((await run('job', 'tag', 'unset', 'shop-1', 'good')).code).toBe(1);
  });

  it('have their canaries accepted by the name of the job', async () => {
    const main = { Name: 'main', Driver: 'raw_exec', Resources: { CPU: 20, MemoryMB: 16 } };
    const Update = { MinHealthyTime: 50e6, Canary: 1 };
    const version = (seconds: string) => ({
      ID: 'canary',
      Type: 'service' as const,
      Datacenters: ['*'],
      TaskGroups: [{ Name: 'g', Update, Tasks: [{ ...main, Config: { command: '/bin/sleep', args: [seconds] } }] }],
    });
    await orThrow(served.box.jobs.register(version('1000')));
    await healthy('canary');
    await orThrow(served.box.jobs.register(version('1001')));
    for (let waiting = {}; ; ) {
      const { value, index } = await orThrow(served.box.jobs.latestDeployment('canary', waiting));
      if (value?.JobVersion === 1 && value.TaskGroups['g']?.HealthyAllocs === 1) break;
      waiting = { index, wait: '10s' };
    }
    const { code, out } = await run('job', 'promote', 'canary');
    expect(out).toMatch(/deployment \w{8} is successful: .+\n$/);
    expect(code).toBe(0);
    expect((await run('job', 'promote', 'none')).error).toMatch(/there is no deployment of job none|job not found/);
  });
});

describe('the files of an allocation', () => {
  it('are listed, described and read', async () => {
    const id = allocation.slice(0, 8);
    expect((await run('alloc', 'fs', id)).out).toMatch(/^Mode +Bytes +Modified +Name\n(.*\n)*d.* alloc\/\n/);
    expect((await run('alloc', 'fs', id, 'alloc/data/kept.txt')).out).toBe('kept\n');
    expect((await run('alloc', 'fs', '-stat', id, 'alloc/data/kept.txt')).out).toMatch(/Bytes += 5\n/);
    expect(JSON.parse((await run('alloc', 'fs', '-json', id, 'alloc/data')).out)).toMatchObject([{ Name: 'kept.txt' }]);
    expect((await run('alloc', 'fs', '-json', id, 'alloc/data/kept.txt')).code).toBe(2);
    expect(await run('alloc', 'fs', id, 'alloc/none')).toMatchObject({ code: 1, out: '' });
    expect(await run('alloc', 'fs', id, '../../..')).toMatchObject({ code: 1, out: '' });
  });
});

describe('services', () => {
  it('are listed, shown and taken out', async () => {
    await expect
      .poll(async () => (await run('service', 'list')).out)
      .toMatch(/^Namespace +Service +Tags\ndefault +shop +blue\n$/);
    const { out } = await run('service', 'info', 'shop');
    expect(out).toMatch(/^Job +Address +Tags +Node +Allocation +ID\nshop-1 +\S+ +blue +\w{8} /);
    const id = /(\S+)\n$/.exec(out)?.[1] ?? '';
    expect((await run('service', 'info', '-filter', 'Tags contains "red"', 'shop')).out).toBe('none\n');
    expect((await run('service', 'delete', 'shop', id)).out).toBe(`${id} is removed\n`);
    expect((await run('service', 'info', 'none')).error).toBe('signalbox: there is no service none\n');
  });
});

describe('status', () => {
  it('shows what begins so, when it is one thing', async () => {
    expect((await run('status')).out).toMatch(/^ID +Type +Priority/);
    expect((await run('status', 'shop')).out).toMatch(/^ID += shop-1\n/);
    expect((await run('status', allocation.slice(0, 8))).out).toMatch(/Task "main" is running/);
    const [node] = (await orThrow(served.box.nodes.list())).value.items;
    expect((await run('status', node?.ID ?? '')).out).toMatch(/Eligibility += eligible/);
    expect((await run('status', 'nothing-of-this')).error).toBe('signalbox: nothing begins with nothing-of-this\n');
  });

  it('lists the things when there are several, and shows the one whose name it is', async () => {
    const task = { Name: 'main', Driver: 'raw_exec', Config: { command: '/bin/true' } };
    for (const ID of ['shop-11', 'shop-12']) {
      const ParameterizedJob = {};
      await orThrow(
        served.box.jobs.register({
          ID,
          Type: 'batch',
          Datacenters: ['*'],
          ParameterizedJob,
          TaskGroups: [{ Name: 'g', Tasks: [task] }],
        }),
      );
    }
    expect((await run('status', 'shop-')).out).toBe('Kind  Name\njobs  shop-1\njobs  shop-11\njobs  shop-12\n');
    expect((await run('status', 'shop-1')).out).toMatch(/^ID += shop-1\n/);
  });
});

describe('the server', () => {
  it('collects what has ended', async () => {
    expect(await run('system', 'gc')).toEqual({ code: 0, out: 'garbage collection done\n', error: '' });
    expect((await run('system', 'gc', '-json')).out).toBe('null\n');
  });

  it('tells what it logs', async () => {
    const child = signalbox(['monitor', '-log-level', 'trace'], { SIGNALBOX_ADDR: served.origin });
    let told = false;
    void child.printed(/(\S+)/).then(() => {
      told = true;
    });
    // The log is told from the moment that somebody reads it along: something happens until a line has come.
    await expect.poll(async () => (await run('job', 'eval', '-detach', 'shop-1')) && told).toBe(true);
    expect((await run('monitor', '-log-level', 'loud')).code).toBe(2);
  });
});
