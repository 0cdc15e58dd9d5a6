import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Served, startServed } from './served.js';

/*
 * The contract of the job interface, statement by statement, against a running server with its default names. Each case
 * names the statement that it checks.
 */

const task = (further: object = {}) => ({
  Name: 't',
  Driver: 'raw_exec',
  Config: { command: '/bin/sh', args: ['-c', 'sleep 600'] },
  Resources: { CPU: 20, MemoryMB: 16 },
  LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
  ...further,
});
const group = (further: object = {}) => ({
  Name: 'g',
  EphemeralDisk: { SizeMB: 10 },
  Tasks: [task()],
  ...further,
});
const service = (id: string, further: object = {}) => ({
  ID: id,
  Name: id,
  Type: 'service',
  Datacenters: ['*'],
  TaskGroups: [group()],
  ...further,
});
const batch = (id: string, further: object = {}) => {
  const ended = task({ Config: { command: '/bin/true' } });
  return service(id, { Type: 'batch', TaskGroups: [group({ Tasks: [ended] })], ...further });
};
const template = (id: string) => batch(id, { ParameterizedJob: { Payload: 'optional', MetaOptional: ['colour'] } });
const cron = (id: string) => batch(id, { Periodic: { Specs: ['0 0 1 1 *'], ProhibitOverlap: true } });
/** Scaled at any time: changes of it make no deployment. */
const undeployed = (id: string) => service(id, { Update: { MaxParallel: 0 } });
/** Its deployment waits for a health that nobody sets. */
const deploying = (id: string, count = 1) =>
  service(id, {
    TaskGroups: [group({ Count: count })],
    Update: {
      MaxParallel: 1,
      HealthCheck: 'manual',
      MinHealthyTime: 1e9,
      HealthyDeadline: 6e11,
      ProgressDeadline: 1.2e12,
    },
  });

let server: Served;
beforeAll(async () => {
  server = await startServed();
});
afterAll(() => server.stop());

async function register(job: object, further: object = {}) {
  const answered = await server.ask('POST', '/v1/jobs', { body: { Job: job, ...further } });
  expect([answered.status, answered.text]).toEqual([200, expect.any(String)]);
  return answered.json;
}

/** A job with a running allocation; its ID. */
async function running(job: { readonly ID: string }): Promise<string> {
  await register(job);
  const found = await server.until(`/v1/job/${job.ID}/allocations`, ({ json }) => json[0]?.ClientStatus === 'running');
  return String(found.json[0].ID);
}

describe('what the service does', () => {
  it('keeps jobs in a namespace; the query parameter `namespace` is `default` when absent', async () => {
    await server.ask('PUT', '/v1/namespace', { body: { Name: 'team' } });
    await register(batch('in-default'));
    await server.ask('POST', '/v1/jobs?namespace=team', { body: { Job: batch('in-team') } });
    const found = async (target: string) => (await server.ask('GET', target)).status;
    expect(await found('/v1/job/in-default')).toBe(200);
    expect(await found('/v1/job/in-default?namespace=default')).toBe(200);
    expect(await found('/v1/job/in-team')).toBe(404);
    expect(await found('/v1/job/in-team?namespace=team')).toBe(200);
  });

  it('refuses a namespace that the token may not access', async () => {
    const token = await server.tokenWith('read-job', 'list-jobs');
    expect((await server.ask('GET', '/v1/jobs', { token })).status).toBe(200);
    expect((await server.ask('GET', '/v1/jobs?namespace=team', { token })).status).toBe(403);
  });
});

describe('resources', () => {
  it('a job has an ID, a version, a status, a type, meta and an index for check-and-set', async () => {
    await register(batch('fields', { Meta: { colour: 'red' } }));
    const { json } = await server.ask('GET', '/v1/job/fields');
    expect(json).toMatchObject({ ID: 'fields', Version: 0, Type: 'batch', Meta: { colour: 'red' } });
    expect(json.Status).toEqual(expect.any(String));
    expect(json.JobModifyIndex).toEqual(expect.any(Number));
  });

  it('a submission has the source, format and variables of its version', async () => {
    const Submission = { Source: 'job "source" {}', Format: 'hcl2', VariableFlags: { n: '1' }, Variables: 'm = 2' };
    await register(batch('source'), { Submission });
    const { status, json } = await server.ask('GET', '/v1/job/source/submission?version=0');
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...Submission, JobID: 'source', Version: 0 });
  });

  it('a submission exists only if it was given at registration', async () => {
    await register(batch('sourceless'));
    expect((await server.ask('GET', '/v1/job/sourceless/submission?version=0')).status).toBe(404);
  });

  it('the most recent 6 sources are retained', async () => {
    for (let version = 0; version < 8; version += 1) {
      const Submission = { Source: `# ${version}`, Format: 'hcl2' };
      await register(batch('six', { Meta: { version: String(version) } }), { Submission });
    }
    const found = await Promise.all(
      [0, 1, 2, 3, 4, 5, 6, 7].map(
        async (version) => (await server.ask('GET', `/v1/job/six/submission?version=${version}`)).status,
      ),
    );
    // 404 for the first two of the eight.
    expect(found).toEqual([404, 404, 200, 200, 200, 200, 200, 200]);
  });

  it.each(['hcl2', 'hcl1', 'json'])('the format of a submission may be %s', async (Format) => {
    await register(batch(`format-${Format}`), { Submission: { Source: '{}', Format } });
    const { json } = await server.ask('GET', `/v1/job/format-${Format}/submission?version=0`);
    expect(json.Format).toBe(Format);
  });

  it('a plan has the diff, the next launch, evaluations, the index, failed groups and annotations', async () => {
    await register(service('planned'));
    const Job = service('planned', { TaskGroups: [group({ Count: 2, Tasks: [task({ Resources: { CPU: 40 } })] })] });
    const { status, json } = await server.ask('POST', '/v1/job/planned/plan', { body: { Job, Diff: true } });
    expect(status).toBe(200);
    const known = (await server.ask('GET', '/v1/job/planned')).json;
    expect(json).toMatchObject({
      JobModifyIndex: known.JobModifyIndex,
      Annotations: { DesiredTGUpdates: { g: expect.any(Object) } },
      Diff: {
        Type: 'Edited',
        TaskGroups: [
          { Name: 'g', Tasks: [{ Name: 't', Objects: [{ Name: 'Resources', Fields: expect.any(Array) }] }] },
        ],
      },
    });
    for (const name of ['NextPeriodicLaunch', 'CreatedEvals', 'FailedTGAllocs']) expect(json).toHaveProperty(name);
  });

  it('a plan has a seal on request, and the registration with it is carried out once', async () => {
    const Job = service('sealed');
    const unsealed = await server.ask('POST', '/v1/job/sealed/plan', { body: { Job } });
    expect(unsealed.json).not.toHaveProperty('Seal');
    const { json } = await server.ask('POST', '/v1/job/sealed/plan', { body: { Job, Seal: true } });
    const apply = () => server.ask('POST', '/v1/jobs', { body: { Job, Seal: json.Seal } });
    expect((await apply()).status).toBe(200);
    const again = await apply();
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('the plan is out of date: job')]);
    const wrong = await server.ask('POST', '/v1/jobs', { body: { Job, Seal: 'x' } });
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('Seal must be')]);
  });

  it('a plan tells why a group would find no place, and the next launch of a periodic job', async () => {
    const Job = service('too-large', { TaskGroups: [group({ Tasks: [task({ Resources: { CPU: 9e8 } })] })] });
    const refused = await server.ask('POST', '/v1/job/too-large/plan', { body: { Job } });
    expect(refused.json.FailedTGAllocs.g).toMatchObject({ NodesEvaluated: expect.any(Number) });
    const periodic = await server.ask('POST', '/v1/job/yearly/plan', { body: { Job: cron('yearly') } });
    expect(Date.parse(periodic.json.NextPeriodicLaunch)).toBeGreaterThan(0);
  });

  it('a scale result is that of an update; an evaluation is in it only if the scaling created one', async () => {
    const updated = await register(undeployed('scaled'));
    const body = { Count: 2, Target: { Group: 'g' }, Message: 'more' };
    const scaled = (await server.ask('POST', '/v1/job/scaled/scale', { body })).json;
    expect(Object.keys(scaled).toSorted()).toEqual(Object.keys(updated).toSorted());
    expect(scaled).toMatchObject({ EvalID: expect.stringMatching(/^.{36}$/), EvalCreateIndex: expect.any(Number) });
    const told = { Target: { Group: 'g' }, Message: 'only noted' };
    const noted = (await server.ask('POST', '/v1/job/scaled/scale', { body: told })).json;
    expect(noted).not.toHaveProperty('EvalID');
    expect(noted).not.toHaveProperty('EvalCreateIndex');
  });
});

describe('states', () => {
  it('stop with `purge` removes the job and stops its allocations', async () => {
    await running(service('purged'));
    expect((await server.ask('DELETE', '/v1/job/purged?purge=true')).status).toBe(200);
    expect((await server.ask('GET', '/v1/job/purged')).status).toBe(404);
    await server.until('/v1/allocations', ({ json }) =>
      json.every(
        (one: { JobID: string; DesiredStatus: string }) => one.JobID !== 'purged' || one.DesiredStatus === 'stop',
      ),
    );
  });

  it('stop without `purge` deregisters the job, which can still be read, and stops its allocations', async () => {
    await running(service('stopped'));
    expect((await server.ask('DELETE', '/v1/job/stopped?purge=false')).status).toBe(200);
    expect((await server.ask('GET', '/v1/job/stopped')).json.Stop).toBe(true);
    await server.until('/v1/job/stopped/allocations', ({ json }) => json[0].DesiredStatus === 'stop');
  });

  it('`Stable` is as given, of the version in `JobVersion`', async () => {
    await register(service('stable'));
    await register(service('stable', { Priority: 60 }));
    for (const Stable of [true, false]) {
      const body = { JobID: 'stable', JobVersion: 1, Stable };
      expect((await server.ask('POST', '/v1/job/stable/stable', { body })).status).toBe(200);
      const { json } = await server.ask('GET', '/v1/job/stable/versions');
      expect(json.Versions.map((one: { Version: number; Stable: boolean }) => [one.Version, one.Stable])).toEqual([
        [1, Stable],
        [0, false],
      ]);
    }
  });

  it('a dispatch creates an instance and leaves the job as it is', async () => {
    await register(template('template'));
    const before = (await server.ask('GET', '/v1/job/template')).json;
    const { json } = await server.ask('POST', '/v1/job/template/dispatch', { body: { Meta: { colour: 'red' } } });
    expect(json.DispatchedJobID).toMatch(/^template\/dispatch-/);
    expect((await server.ask('GET', `/v1/job/${encodeURIComponent(json.DispatchedJobID)}`)).status).toBe(200);
    expect((await server.ask('GET', '/v1/job/template')).json).toMatchObject({ Version: before.Version, Stop: false });
  });
});

/** The endpoints with their methods and paths; `blocking`: whether a read waits for a change. */
type Endpoint = [operation: string, method: string, path: string, blocking: 'yes' | 'no', body?: object];
const endpoints: Endpoint[] = [
  ['List jobs', 'GET', '/v1/jobs', 'yes'],
  ['Create job', 'POST', '/v1/jobs', 'no', { Job: batch('created') }],
  ['Parse job', 'POST', '/v1/jobs/parse', 'no', { JobHCL: 'job "x" {}' }],
  ['Read job', 'GET', '/v1/job/:job_id', 'yes'],
  ['Read job submission', 'GET', '/v1/job/:job_id/submission?version=0', 'yes'],
  ['List job versions', 'GET', '/v1/job/:job_id/versions', 'yes'],
  ['List job allocations', 'GET', '/v1/job/:job_id/allocations', 'yes'],
  ['List job evaluations', 'GET', '/v1/job/:job_id/evaluations', 'yes'],
  ['List job deployments', 'GET', '/v1/job/:job_id/deployments', 'yes'],
  ['Read most recent deployment', 'GET', '/v1/job/:job_id/deployment', 'yes'],
  ['Read job summary', 'GET', '/v1/job/:job_id/summary', 'yes'],
  ['Read scale status', 'GET', '/v1/job/:job_id/scale', 'yes'],
  ['Job services', 'GET', '/job/:job_id/services', 'yes'],
  ['Job services below /v1', 'GET', '/v1/job/:job_id/services', 'yes'],
  ['List job actions', 'GET', '/v1/job/:job_id/actions', 'no'],
  ['Update job', 'POST', '/v1/job/:job_id', 'no', { Job: service('ends') }],
  ['Dispatch job', 'POST', '/v1/job/:template/dispatch', 'no', {}],
  ['Revert job', 'POST', '/v1/job/:job_id/revert', 'no', { JobID: 'ends', JobVersion: 0 }],
  ['Set job stability', 'POST', '/v1/job/:job_id/stable', 'no', { JobID: 'ends', JobVersion: 0, Stable: true }],
  ['Create job evaluation', 'POST', '/v1/job/:job_id/evaluate', 'no', { JobID: 'ends' }],
  ['Create job plan', 'POST', '/v1/job/:job_id/plan', 'no', { Job: service('ends') }],
  ['Force periodic instance', 'POST', '/v1/job/:cron/periodic/force', 'no'],
  ['Scale task group', 'POST', '/v1/job/:undeployed/scale', 'no', { Count: 1, Target: { Group: 'g' }, Message: 'm' }],
  ['Stop job', 'DELETE', '/v1/job/:job_id', 'no'],
];

describe('endpoints', () => {
  beforeAll(async () => {
    const provided = { Services: [{ Name: 'web', Provider: 'nomad', AddressMode: 'host', PortLabel: '8080' }] };
    await running(service('ends', { TaskGroups: [group(provided)] }));
    await register(service('ends', { Priority: 60, TaskGroups: [group(provided)] }), {
      Submission: { Source: 'x', Format: 'hcl2' },
    });
    await server.ask('POST', '/v1/job/ends', {
      body: { Job: service('ends', { TaskGroups: [group(provided)] }), Submission: { Source: 'x', Format: 'hcl2' } },
    });
    await register(template('ends-template'));
    await register(cron('ends-cron'));
    await register(undeployed('ends-undeployed'));
  });

  it.each(endpoints)('%s: %s %s, blocking: %s', async (_operation, method, path, blocking, body) => {
    const target = path
      .replace(':job_id', 'ends')
      .replace(':template', 'ends-template')
      .replace(':cron', 'ends-cron')
      .replace(':undeployed', 'ends-undeployed')
      .replace('version=0', 'version=2');
    const answered = await server.ask(method, target, body === undefined ? {} : { body });
    expect([answered.status, answered.text]).toEqual([200, expect.any(String)]);
    expect(answered.headers.get('content-type')).toBe('application/json');
    const index = answered.headers.get('x-svc-index');
    if (method !== 'GET') return;
    const waiting = `${target}${target.includes('?') ? '&' : '?'}index=${Number(index) + 1000}&wait=80ms`;
    const began = performance.now();
    expect((await server.ask('GET', waiting)).status).toBe(200);
    const waited = performance.now() - began;
    if (blocking === 'yes') expect(waited).toBeGreaterThan(75);
  });

  it('the services of a job are the same at both paths, and take the consistency modes', async () => {
    await running(
      service('served', {
        TaskGroups: [group({ Services: [{ Name: 's', Provider: 'nomad', AddressMode: 'host', PortLabel: '8080' }] })],
      }),
    );
    const found = await server.until('/job/served/services', ({ json }) => json?.length === 1);
    expect(found.json).toMatchObject([{ ServiceName: 's', JobID: 'served' }]);
    for (const path of ['/job/served/services', '/v1/job/served/services']) {
      for (const query of ['', '?stale', '?consistent', '?namespace=default']) {
        const answered = await server.ask('GET', path + query);
        expect([answered.status, answered.json]).toEqual([200, found.json]);
        expect(answered.headers.get('x-svc-index')).toBe(found.headers.get('x-svc-index'));
      }
    }
    expect((await server.ask('GET', '/job/served/services?namespace=team')).status).toBe(404);
    expect((await server.ask('GET', '/job/none/services')).status).toBe(404);
  });

  it('an ID with slashes is found at both paths of its services', async () => {
    await register(batch('a/b'));
    for (const path of ['/job/a/b/services', '/job/a%2Fb/services', '/v1/job/a/b/services']) {
      expect((await server.ask('GET', path)).status, path).toBe(200);
    }
  });

  it('another method at the path of the services is a 405 that names the allowed one', async () => {
    const { status, headers } = await server.ask('POST', '/job/served/services', { body: {} });
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  });
});

describe('list jobs', () => {
  const ids = async (query: string) =>
    (await server.ask('GET', `/v1/jobs?${query}`)).json.map(({ ID }: { ID: string }) => ID);
  beforeAll(async () => {
    for (const id of ['list-a', 'list-b', 'list-c']) await register(batch(id, { Meta: { of: id } }));
    await server.ask('PUT', '/v1/namespace', { body: { Name: 'lists' } });
    await server.ask('POST', '/v1/jobs?namespace=lists', { body: { Job: batch('list-d') } });
  });

  it('`prefix` filters by the beginning of the ID', async () => {
    expect(await ids('prefix=list-')).toEqual(['list-a', 'list-b', 'list-c']);
    expect(await ids('prefix=list-b')).toEqual(['list-b']);
  });

  it('`per_page` and `next_token` page, the token is in `X-SVC-NextToken`', async () => {
    const first = await server.ask('GET', '/v1/jobs?prefix=list-&per_page=2');
    expect(first.json.map(({ ID }: { ID: string }) => ID)).toEqual(['list-a', 'list-b']);
    const token = encodeURIComponent(first.headers.get('x-svc-nexttoken') ?? '');
    const second = await server.ask('GET', `/v1/jobs?prefix=list-&per_page=2&next_token=${token}`);
    expect(second.json.map(({ ID }: { ID: string }) => ID)).toEqual(['list-c']);
    expect(second.headers.get('x-svc-nexttoken')).toBeNull();
  });

  it('without `per_page`, and with 0, the answer is not paginated', async () => {
    for (const query of ['prefix=list-', 'prefix=list-&per_page=0']) {
      expect(await ids(query)).toHaveLength(3);
      expect((await server.ask('GET', `/v1/jobs?${query}`)).headers.get('x-svc-nexttoken')).toBeNull();
    }
  });

  it('`filter` is a filter expression', async () => {
    expect(await ids(`filter=${encodeURIComponent('ID matches "^list-[bc]$"')}`)).toEqual(['list-b', 'list-c']);
  });

  it('`namespace=*` lists all namespaces that the token may read', async () => {
    expect(await ids('namespace=*&prefix=list-')).toEqual(['list-a', 'list-b', 'list-c', 'list-d']);
    const token = await server.tokenWith('list-jobs');
    const { json } = await server.ask('GET', '/v1/jobs?namespace=*&prefix=list-', { token });
    expect(json.map(({ ID }: { ID: string }) => ID)).toEqual(['list-a', 'list-b', 'list-c']);
  });

  it('`meta` adds the meta of each job', async () => {
    const [without] = (await server.ask('GET', '/v1/jobs?prefix=list-a')).json;
    const [beside] = (await server.ask('GET', '/v1/jobs?prefix=list-a&meta=true')).json;
    expect(without.Meta ?? null).toBeNull();
    expect(beside.Meta).toEqual({ of: 'list-a' });
  });
});

describe('create and update job', () => {
  const both = [
    ['create', '/v1/jobs'],
    ['update', '/v1/job/JOB'],
  ] as const;

  it.each(both)('%s: `Job` is required', async (_name, path) => {
    for (const body of [{}, { Job: null }]) {
      expect((await server.ask('POST', path.replace('JOB', 'x'), { body })).status).toBe(400);
    }
  });

  it.each(both)('%s: `EnforceIndex` registers only at the current index, with 0 only a new job', async (name, path) => {
    const id = `cas-${name}`;
    const ask = (JobModifyIndex: number, Priority: number) =>
      server.ask('POST', path.replace('JOB', id), {
        body: { Job: batch(id, { Priority }), EnforceIndex: true, JobModifyIndex },
      });
    const made = await ask(0, 50);
    expect(made.status).toBe(200);
    expect((await ask(0, 51)).status).toBe(409);
    expect((await ask(made.json.JobModifyIndex + 1, 52)).status).toBe(409);
    expect((await ask(made.json.JobModifyIndex, 53)).status).toBe(200);
    expect((await server.ask('GET', `/v1/job/${id}`)).json.Priority).toBe(53);
  });

  it.each(both)(
    '%s: `EvalPriority` overrides the priority of the evaluation, which is otherwise that of the job',
    async (name, path) => {
      const id = `priority-${name}`;
      const priorityOf = async (body: object) => {
        const { json } = await server.ask('POST', path.replace('JOB', id), { body });
        return (await server.ask('GET', `/v1/evaluation/${json.EvalID}`)).json.Priority;
      };
      expect(await priorityOf({ Job: batch(id, { Priority: 40 }), EvalPriority: 77 })).toBe(77);
      expect(await priorityOf({ Job: batch(id, { Priority: 41 }), EvalPriority: 0 })).toBe(41);
    },
  );

  it.each(both)('%s: `PolicyOverride` needs its capability', async (name, path) => {
    const id = `override-${name}`;
    const body = { Job: batch(id), PolicyOverride: true };
    const ask = async (...capabilities: readonly string[]) =>
      (await server.ask('POST', path.replace('JOB', id), { body, token: await server.tokenWith(...capabilities) }))
        .status;
    expect(await ask('submit-job')).toBe(403);
    expect(await ask('submit-job', 'policy-override')).toBe(200);
  });

  it('create: `PreserveCounts` keeps the counts of groups', async () => {
    await register(service('counts', { TaskGroups: [group({ Count: 2 })] }));
    await register(service('counts', { TaskGroups: [group({ Count: 5 })] }), { PreserveCounts: true });
    expect((await server.ask('GET', '/v1/job/counts')).json.TaskGroups[0].Count).toBe(2);
    await register(service('counts', { TaskGroups: [group({ Count: 3 })] }), { PreserveCounts: false });
    expect((await server.ask('GET', '/v1/job/counts')).json.TaskGroups[0].Count).toBe(3);
  });

  it('update: the job is that of the path', async () => {
    const { status, text } = await server.ask('POST', '/v1/job/one', { body: { Job: batch('other') } });
    expect([status, text]).toEqual([400, expect.stringContaining('Job ID')]);
    expect((await server.ask('POST', '/v1/job/fresh', { body: { Job: batch('fresh') } })).status).toBe(200);
  });
});

describe('parse job', () => {
  const JobHCL =
    'variable "n" {\n  default = 40\n}\njob "parsed" {\n  priority = var.n\n  group "g" {\n    task "t" {\n      driver = "raw_exec"\n    }\n  }\n}\n';
  const parse = (body: object, query = '') => server.ask('POST', `/v1/jobs/parse${query}`, { body });

  it('`JobHCL` is required', async () => {
    expect((await parse({})).status).toBe(400);
    expect((await parse({ JobHCL })).json).toMatchObject({ ID: 'parsed', Priority: 40 });
  });

  it('`Canonicalize` fills unset fields, which is off by default', async () => {
    expect((await parse({ JobHCL })).json.Type ?? null).toBeNull();
    expect((await parse({ JobHCL, Canonicalize: true })).json).toMatchObject({ Type: 'service', Region: 'global' });
  });

  it('`Variables` is in the format of files of variables', async () => {
    expect((await parse({ JobHCL, Variables: 'n = 70\n' })).json.Priority).toBe(70);
  });

  it('`HCLv1` uses the parser of version 1', async () => {
    const old = 'job "old" {\n  meta {\n    "a.b" = "c"\n  }\n}';
    expect((await parse({ JobHCL: old, HCLv1: true })).json.Meta).toEqual({ 'a.b': 'c' });
  });

  it('`namespace` is a query parameter', async () => {
    const token = await server.tokenWith('parse-job');
    expect((await server.ask('POST', '/v1/jobs/parse', { body: { JobHCL }, token })).status).toBe(200);
    expect((await server.ask('POST', '/v1/jobs/parse?namespace=lists', { body: { JobHCL }, token })).status).toBe(403);
  });
});

describe('reads of one job', () => {
  it('a submission needs `version`', async () => {
    const { status, text } = await server.ask('GET', '/v1/job/six/submission');
    expect([status, text]).toEqual([400, expect.stringContaining('version')]);
  });

  it('`diffs` fills Diffs with what differs between versions', async () => {
    const without = (await server.ask('GET', '/v1/job/six/versions')).json;
    expect(without.Diffs).toBeNull();
    const { json } = await server.ask('GET', '/v1/job/six/versions?diffs=true');
    expect(json.Diffs).toHaveLength(json.Versions.length - 1);
    expect(json.Diffs[0]).toMatchObject({ Type: 'Edited', ID: 'six' });
  });

  it.each(['allocations', 'deployments'])('`all` of the %s is a bool, false when absent', async (list) => {
    for (const query of ['', '?all=true', '?all=false']) {
      expect((await server.ask('GET', `/v1/job/counts/${list}${query}`)).status).toBe(200);
    }
  });

  it.each([
    'allocations',
    'evaluations',
    'deployments',
    'deployment',
    'summary',
    'scale',
    'versions',
    'actions',
    'services',
  ])('%s takes `namespace`', async (what) => {
    await server.ask('POST', '/v1/jobs?namespace=lists', { body: { Job: service('elsewhere') } });
    const within = await server.ask('GET', `/v1/job/elsewhere/${what}?namespace=lists`);
    expect(within.status).toBe(200);
    const without = await server.ask('GET', `/v1/job/elsewhere/${what}`);
    expect(without.status === 404 || without.text === '[]' || without.text === 'null').toBe(true);
  });

  it('the actions are those that tasks have', async () => {
    const Actions = [{ Name: 'greet', Command: '/bin/echo', Args: ['hello'] }];
    await register(service('acting', { TaskGroups: [group({ Tasks: [task({ Actions })] })] }));
    expect((await server.ask('GET', '/v1/job/acting/actions')).json).toMatchObject([
      { Name: 'greet', Command: '/bin/echo', TaskName: 't', TaskGroupName: 'g' },
    ]);
  });
});

describe('dispatch job', () => {
  const dispatch = (body: object, query = '') => server.ask('POST', `/v1/job/sent/dispatch${query}`, { body });
  beforeAll(() => register(template('sent')));

  it('`IdempotencyToken` in the query prevents a second instance', async () => {
    const first = await dispatch({}, '?IdempotencyToken=once');
    const again = await dispatch({}, '?IdempotencyToken=once');
    expect(again.json.DispatchedJobID).toBe(first.json.DispatchedJobID);
    expect((await dispatch({}, '?IdempotencyToken=other')).json.DispatchedJobID).not.toBe(first.json.DispatchedJobID);
  });

  it('`IdPrefixTemplate` begins the ID of the instance', async () => {
    expect((await dispatch({ IdPrefixTemplate: 'blue' })).json.DispatchedJobID).toMatch(/^sent\/dispatch-blue-/);
  });

  it('`Payload` is base64 of at most 16384 bytes', async () => {
    const payload = (bytes: number) => Buffer.alloc(bytes, 'x').toString('base64');
    expect((await dispatch({ Payload: payload(16_384) })).status).toBe(200);
    expect((await dispatch({ Payload: payload(16_385) })).status).toBe(400);
    expect((await dispatch({ Payload: 'no base64!' })).status).toBe(400);
  });

  it('`Meta` is passed to the job', async () => {
    const { json } = await dispatch({ Meta: { colour: 'red' } });
    const instance = await server.ask('GET', `/v1/job/${encodeURIComponent(json.DispatchedJobID)}`);
    expect(instance.json.Meta).toMatchObject({ colour: 'red' });
    expect((await dispatch({ Meta: { size: '1' } })).status).toBe(400);
  });
});

describe('revert, stability and evaluation', () => {
  beforeAll(async () => {
    await register(batch('back', { Priority: 50 }));
    await register(batch('back', { Priority: 60 }));
  });

  it.each(['revert', 'stable', 'evaluate'])('%s: `JobID` is required', async (what) => {
    const { status, text } = await server.ask('POST', `/v1/job/back/${what}`, { body: { JobVersion: 0 } });
    expect([status, text]).toEqual([400, expect.stringContaining('JobID')]);
  });

  it('revert: `EnforcePriorVersion` is checked against the current version', async () => {
    const revert = (further: object) =>
      server.ask('POST', '/v1/job/back/revert', { body: { JobID: 'back', JobVersion: 0, ...further } });
    expect((await revert({ EnforcePriorVersion: 7 })).status).toBe(409);
    expect((await revert({ EnforcePriorVersion: 1, MeshToken: 'm', SecretsToken: 's' })).status).toBe(200);
    expect((await server.ask('GET', '/v1/job/back')).json).toMatchObject({ Version: 2, Priority: 50 });
  });

  it('revert: `JobVersion` is 0 when absent; the current version and unknown ones are refused', async () => {
    await register(batch('back-again'));
    const revert = async (further: object) =>
      (await server.ask('POST', '/v1/job/back-again/revert', { body: { JobID: 'back-again', ...further } })).status;
    expect(await revert({})).toBe(409);
    expect(await revert({ JobVersion: 9 })).toBe(404);
  });

  it('evaluation: `EvalOptions.ForceReschedule`, and no payload at all', async () => {
    const evaluate = (sent: object) => server.ask('POST', '/v1/job/back/evaluate', sent);
    expect((await evaluate({ body: { JobID: 'back' } })).status).toBe(200);
    const body = { JobID: 'back', EvalOptions: { ForceReschedule: true } };
    expect((await evaluate({ body })).json.EvalID).toMatch(/^.{36}$/);
    expect((await evaluate({})).status).toBe(200);
  });
});

describe('plan job', () => {
  it('`Diff` is false when absent', async () => {
    const plan = async (further: object) =>
      (await server.ask('POST', '/v1/job/p/plan', { body: { Job: batch('p'), ...further } })).json.Diff ?? null;
    expect(await plan({})).toBeNull();
    expect(await plan({ Diff: true })).toMatchObject({ Type: 'Added' });
  });

  it('`Job` is required', async () => {
    expect((await server.ask('POST', '/v1/job/p/plan', { body: { Diff: true } })).status).toBe(400);
  });
});

describe('force periodic instance', () => {
  it('creates an instance even if that violates `prohibit_overlap`', async () => {
    const long = { TaskGroups: [group()] };
    await register({ ...cron('overlapping'), ...long });
    await server.ask('POST', '/v1/job/overlapping/periodic/force');
    const second = await server.ask('POST', '/v1/job/overlapping/periodic/force');
    expect([second.status, second.json.EvalID]).toEqual([200, expect.stringMatching(/^.{36}$/)]);
  });
});

describe('stop job', () => {
  it('`eval_priority` is that of the evaluation', async () => {
    await register(batch('ended'));
    const { json } = await server.ask('DELETE', '/v1/job/ended?eval_priority=77');
    expect((await server.ask('GET', `/v1/evaluation/${json.EvalID}`)).json.Priority).toBe(77);
  });

  it.each(['global', 'purge', 'no_shutdown_delay'])('`%s` is a bool', async (name) => {
    await register(batch(`ended-${name}`));
    const ask = async (value: string) => (await server.ask('DELETE', `/v1/job/ended-${name}?${name}=${value}`)).status;
    expect(await ask('perhaps')).toBe(400);
    expect(await ask('false')).toBe(200);
    expect(await ask('true')).toBe(200);
  });
});

describe('scale task group', () => {
  const scale = (body: object) => server.ask('POST', '/v1/job/scalable/scale', { body });
  const Target = { Group: 'g' };
  beforeAll(() => register(undeployed('scalable')));

  it('`Target` must name the group', async () => {
    for (const body of [
      { Count: 1, Message: 'm' },
      { Count: 1, Message: 'm', Target: {} },
    ]) {
      expect((await scale(body)).status).toBe(400);
    }
    const { status, text } = await scale({ Count: 1, Message: 'm', Target: { Group: 'none' } });
    expect([status, text]).toEqual([400, expect.stringContaining('none')]);
  });

  it('exactly one of `Message` and `Error` must be given', async () => {
    expect((await scale({ Count: 1, Target })).status).toBe(400);
    expect((await scale({ Target, Message: 'm', Error: 'e' })).status).toBe(400);
    expect((await scale({ Target, Message: 'm' })).status).toBe(200);
    expect((await scale({ Target, Error: 'e' })).status).toBe(200);
  });

  it('`Message`, `Error` and `Meta` are in the scaling event', async () => {
    await scale({ Count: 2, Target, Message: 'busy', Meta: { load: 3 } });
    await scale({ Target, Error: 'broken' });
    const { json } = await server.ask('GET', '/v1/job/scalable/scale');
    const [failed, scaled] = json.TaskGroups.g.Events;
    expect(failed).toMatchObject({ Error: true, Message: 'broken' });
    expect(scaled).toMatchObject({ Error: false, Message: 'busy', Count: 2, Meta: { load: 3 } });
  });

  it('`EnforceIndex` and `JobModifyIndex` check and set', async () => {
    const refused = await scale({ Count: 1, Target, Message: 'm', EnforceIndex: true, JobModifyIndex: 1 });
    expect(refused.status).toBe(409);
    const { JobModifyIndex } = (await server.ask('GET', '/v1/job/scalable')).json;
    expect((await scale({ Count: 1, Target, Message: 'm', EnforceIndex: true, JobModifyIndex })).status).toBe(200);
  });

  it('is refused with 400 while a deployment is active', async () => {
    await running(deploying('busy'));
    await server.until('/v1/job/busy/deployment', ({ json }) => json?.Status === 'running');
    const { status, text } = await server.ask('POST', '/v1/job/busy/scale', {
      body: { Count: 2, Target, Message: 'm' },
    });
    expect([status, text]).toEqual([400, expect.stringContaining('deployment')]);
  });
});

describe('run action', () => {
  let query: string;
  beforeAll(async () => {
    const Actions = [{ Name: 'greet', Command: '/bin/sh', Args: ['-c', 'echo hello; echo oops >&2; exit 3'] }];
    const allocation = await running(service('actor', { TaskGroups: [group({ Tasks: [task({ Actions })] })] }));
    query = `action=greet&alloc_id=${allocation}&task=t`;
  });

  interface Talked {
    readonly stdout: string;
    readonly stderr: string;
    readonly exit: number | undefined;
    readonly code: number;
  }

  function talk(further: string, { token, first }: { readonly token?: string; readonly first?: object } = {}) {
    const headers = token === undefined ? {} : { 'X-SVC-Token': token };
    const url = `${server.origin.replace('http', 'ws')}/v1/job/actor/action?${query}${further}`;
    const socket = new WebSocket(url, { headers });
    const talked = { stdout: '', stderr: '', exit: undefined as number | undefined };
    return new Promise<Talked>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => (first === undefined ? undefined : socket.send(JSON.stringify(first))));
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString());
        for (const name of ['stdout', 'stderr'] as const) {
          talked[name] += Buffer.from(frame[name]?.data ?? '', 'base64').toString();
        }
        if (frame.exited !== undefined) talked.exit = frame.result?.exit_code;
      });
      socket.on('close', (code) => resolve({ ...talked, code }));
    });
  }

  it('sends stdout and stderr in base64, and the exit code', async () => {
    const talked = await talk('', { token: server.management });
    expect(talked).toMatchObject({ stdout: 'hello\n', stderr: 'oops\n', exit: 3 });
  });

  it('`ws_handshake` takes the token from the first frame', async () => {
    const first = { version: 1, auth_token: server.management };
    expect(await talk('&ws_handshake=true', { first })).toMatchObject({ stdout: 'hello\n', exit: 3 });
    const wrong = { version: 1, auth_token: 'unknown' };
    expect(await talk('&ws_handshake=true', { first: wrong })).toMatchObject({ stdout: '', exit: undefined });
  });

  it('`tty` allocates a terminal, which can be resized', async () => {
    const talked = await talk('&tty=true', {
      token: server.management,
      first: { tty_size: { height: 40, width: 100 } },
    });
    expect(talked).toMatchObject({ exit: 3 });
    expect(talked.stdout).toContain('hello\r\n');
  });

  it('needs `alloc-exec`, and `alloc-node-exec` for a driver without isolation of its files', async () => {
    expect(await talk('', { token: await server.tokenWith('read-job') })).toMatchObject({ exit: undefined });
    expect(await talk('', { token: await server.tokenWith('alloc-exec') })).toMatchObject({ exit: undefined });
    const token = await server.tokenWith('alloc-exec', 'alloc-node-exec');
    expect(await talk('', { token })).toMatchObject({ exit: 3 });
  });
});

interface Needed {
  readonly operation: string;
  readonly ask: readonly [method: string, target: string, body?: object];
  /** Any one of these sets of capabilities is enough. */
  readonly enough: readonly (readonly string[])[];
}

const scaling = { Count: 1, Target: { Group: 'g' }, Message: 'm' };
const reads = [
  '',
  '/versions',
  '/allocations',
  '/evaluations',
  '/deployments',
  '/deployment',
  '/summary',
  '/services',
  '/actions',
];
const needed: Needed[] = [
  { operation: 'List jobs', ask: ['GET', '/v1/jobs'], enough: [['list-jobs']] },
  { operation: 'Create job', ask: ['POST', '/v1/jobs', { Job: batch('right-created') }], enough: [['submit-job']] },
  { operation: 'Update job', ask: ['POST', '/v1/job/rights', { Job: undeployed('rights') }], enough: [['submit-job']] },
  {
    operation: 'Parse job',
    ask: ['POST', '/v1/jobs/parse', { JobHCL: 'job "x" {}' }],
    enough: [['parse-job'], ['submit-job']],
  },
  ...reads.map(
    (path): Needed => ({ operation: `Read job${path}`, ask: ['GET', `/v1/job/rights${path}`], enough: [['read-job']] }),
  ),
  { operation: 'Job services', ask: ['GET', '/job/rights/services'], enough: [['read-job']] },
  { operation: 'Dispatch job', ask: ['POST', '/v1/job/right-template/dispatch', {}], enough: [['dispatch-job']] },
  {
    operation: 'Revert job',
    ask: ['POST', '/v1/job/rights/revert', { JobID: 'rights', JobVersion: 0 }],
    enough: [['submit-job']],
  },
  {
    operation: 'Set job stability',
    ask: ['POST', '/v1/job/rights/stable', { JobID: 'rights', Stable: true }],
    enough: [['submit-job']],
  },
  {
    operation: 'Create job evaluation',
    ask: ['POST', '/v1/job/rights/evaluate', { JobID: 'rights' }],
    enough: [['submit-job']],
  },
  {
    operation: 'Create job plan',
    ask: ['POST', '/v1/job/rights/plan', { Job: undeployed('rights') }],
    enough: [['submit-job']],
  },
  {
    operation: 'Create job plan with PolicyOverride',
    ask: ['POST', '/v1/job/rights/plan', { Job: undeployed('rights'), PolicyOverride: true }],
    enough: [['submit-job', 'policy-override']],
  },
  {
    operation: 'Force periodic instance',
    ask: ['POST', '/v1/job/right-cron/periodic/force'],
    enough: [['dispatch-job'], ['submit-job']],
  },
  {
    operation: 'Read scale status',
    ask: ['GET', '/v1/job/rights/scale'],
    enough: [['read-job-scaling'], ['read-job']],
  },
  {
    operation: 'Scale task group',
    ask: ['POST', '/v1/job/rights/scale', scaling],
    enough: [['scale-job'], ['submit-job']],
  },
  {
    operation: 'Scale task group with PolicyOverride',
    ask: ['POST', '/v1/job/rights/scale', { ...scaling, PolicyOverride: true }],
    enough: [
      ['scale-job', 'policy-override'],
      ['submit-job', 'policy-override'],
    ],
  },
  { operation: 'Stop job', ask: ['DELETE', '/v1/job/rights'], enough: [['submit-job']] },
];
const capabilities = [
  ...['list-jobs', 'submit-job', 'parse-job', 'read-job', 'dispatch-job', 'scale-job', 'read-job-scaling'],
  ...['policy-override', 'read-logs', 'alloc-exec', 'alloc-lifecycle'],
];

describe('authentication', () => {
  beforeAll(async () => {
    await register(undeployed('rights'));
    await register({ ...undeployed('rights'), Priority: 60 });
    await register(template('right-template'));
    await register(cron('right-cron'));
  });

  it.each(needed)('$operation', async ({ ask: [method, target, body], enough }) => {
    const ask = (token: string | null) => server.ask(method, target, body === undefined ? { token } : { token, body });
    const refused = async (token: string | null, about: string) => {
      const { status, text } = await ask(token);
      expect([status, text], about).toEqual([403, expect.stringMatching(/^Permission denied: .+\. Requires one of /)]);
    };
    await refused(null, 'no token');
    await refused('unknown', 'an unknown token');
    const unrelated = capabilities.filter((one) => !enough.flat().includes(one));
    await refused(await server.tokenWith(...unrelated), 'all others');
    for (const set of enough.filter(({ length }) => length > 1)) {
      for (const one of set) await refused(await server.tokenWith(one), `${one} alone`);
    }
    for (const set of enough) {
      const { status, text } = await ask(await server.tokenWith(...set));
      expect([status, text], set.join()).toEqual([200, expect.any(String)]);
    }
  });
});
