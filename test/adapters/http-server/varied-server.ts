import type { HttpRequest, HttpResponse } from '../../../adapters/compat/index.js';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import type { Node } from '../../../src/scheduler/node.js';
import { second } from '../../../src/shared/duration.js';
import { recordedTranscripts } from '../../replay/http/player.js';
import { type FakeCluster, fakeCluster } from '../../support/fake-agents.js';
import { everything } from './engine-under-test.js';

/** The body of an answer that ends. */
export async function bodyText({ body }: HttpResponse): Promise<string> {
  if (typeof body === 'string' || body instanceof Uint8Array) return body.toString();
  let text = '';
  for await (const part of body) text += part.toString();
  return text;
}

export interface VariedServer extends AsyncDisposable {
  readonly cluster: FakeCluster;
  readonly handler: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;
  /** The answers to the changes that made the content, each with its request. */
  readonly changes: readonly { readonly path: string; readonly text: string }[];
}

const nodeIds = [
  '00000000-0000-4000-8000-00000000000a',
  '00000000-0000-4000-8000-00000000000b',
  '00000000-0000-4000-8000-00000000000c',
] as const;

const room = { Memory: { MemoryMB: 100_000 }, Disk: { DiskMB: 100_000 } };
const driver = { Detected: true, Healthy: true, HealthDescription: '', UpdateTime: '2026-01-01T00:00:00Z' };

/** A node whose agent reports null wherever it may. */
const leastNode: Partial<Node> = {
  Meta: null,
  Links: null,
  HostVolumes: null,
  Drivers: { raw_exec: { ...driver, Attributes: null } },
  NodeResources: {
    ...room,
    Cpu: { CpuShares: 1000, TotalCpuCores: 1, ReservableCpuCores: null },
    Networks: null,
    NodeNetworks: null,
    Devices: null,
  },
};

const wholeNode: Partial<Node> = {
  Meta: { rack: 'r1' },
  HostVolumes: { data: { Name: 'data', Path: '/srv', ReadOnly: true } },
  Drivers: { raw_exec: { ...driver, Attributes: { version: '1' } } },
  NodeResources: {
    ...room,
    Cpu: { CpuShares: 100_000, TotalCpuCores: 4, ReservableCpuCores: [0, 1] },
    NodeNetworks: [{ Mode: 'host', Device: 'eth0', Addresses: null }],
    Devices: [{ Vendor: 'v', Type: 'gpu', Name: 'n', Instances: [{ ID: 'i', Healthy: true }], Attributes: null }],
  },
};

const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' }, Resources: { CPU: 20, MemoryMB: 10 } };
const group = (more: object = {}, ofTask: object = {}): object => ({
  Name: 'g',
  EphemeralDisk: { SizeMB: 110 },
  Tasks: [{ ...task, ...ofTask }],
  ...more,
});
const job = (ID: string, more: object = {}): object => ({ Job: { ID, Type: 'batch', TaskGroups: [group()], ...more } });

const oneRetry = { Attempts: 1, Interval: 86_400e9, Delay: 5e9, DelayFunction: 'constant', Unlimited: false };
const failing = [group({ ReschedulePolicy: oneRetry, RestartPolicy: { Attempts: 0, Mode: 'fail' } })];
const huge = (MemoryMB: number): object =>
  job('huge', { TaskGroups: [group({}, { Resources: { CPU: 9_000_000, MemoryMB } })] });
const web = (more: object = {}, ofTask: object = {}): object =>
  job('web', {
    Type: 'service',
    Update: { MaxParallel: 1, Canary: 1, HealthCheck: 'manual' },
    TaskGroups: [
      group(
        {
          Scaling: { Min: 0, Max: 5, Policy: { cooldown: '1m' } },
          Networks: [{ DynamicPorts: [{ Label: 'http' }], ReservedPorts: [{ Label: 'fixed', Value: 8080 }] }],
          Services: [{ Name: 'web', Provider: 'nomad', PortLabel: 'http' }],
          ...more,
        },
        ofTask,
      ),
    ],
  });
const JobHCL = 'job "x" {\n  group "g" {\n    task "t" {\n      driver = "raw_exec"\n    }\n  }\n}\n';
const rules = { Rules: 'namespace "*" { policy = "read" }' };

/** Each kind of record in its smallest form and with all that it can have. In order: some need what comes before. */
const changes: readonly (readonly [path: string, body: object])[] = [
  ...['once', 'failing', 'system', 'sysbatch'].map((id) => {
    const more = id === 'failing' ? { TaskGroups: failing } : id === 'once' ? {} : { Type: id };
    return ['/v1/jobs', job(id, more)] as const;
  }),
  ['/v1/jobs', huge(10)],
  ['/v1/job/huge/plan', { ...huge(11), Diff: true }],
  ['/v1/jobs', job('cron', { Periodic: { Specs: ['0 0 1 1 *'] } })],
  ['/v1/job/cron/periodic/force', {}],
  ['/v1/jobs', job('template', { ParameterizedJob: { Payload: 'optional', MetaOptional: ['colour'] } })],
  ['/v1/job/template/dispatch', {}],
  ['/v1/job/template/dispatch', { Payload: 'aGk=', Meta: { colour: 'red' } }],
  ['/v1/jobs', web()],
  ['/v1/jobs', web({ Count: 2 }, { Env: { COLOUR: 'red' } })],
  ['/v1/jobs', job('service', { Type: 'service', TaskGroups: [group({ Scaling: { Min: 0, Max: 5 } })] })],
  ['/v1/job/service/scale', { Target: { Group: 'g' }, Message: 'no change' }],
  ['/v1/job/service/scale', { Target: { Group: 'g' }, Message: 'failed', Error: true, Meta: { tries: [1] } }],
  ['/v1/job/service/scale', { Count: 2, Target: { Group: 'g' }, Message: 'more' }],
  ['/v1/job/service/evaluate', { JobID: 'service', EvalOptions: {} }],
  ['/v1/job/service/versions/first/tag', { Version: 0 }],
  ['/v1/job/service/revert', { JobID: 'service', JobVersion: 0 }],
  ['/v1/validate/job', job('valid')],
  ['/v1/validate/job', job('invalid', { Type: 'nonsense' })],
  ['/v1/jobs/parse', { JobHCL }],
  ['/v1/jobs/parse', { JobHCL, Canonicalize: true }],
  ['/v1/jobs/statuses', { Jobs: [{ ID: 'web' }, { ID: 'cron' }] }],
  ['/v1/namespace', { Name: 'least' }],
  ['/v1/namespace', { Name: 'whole', Meta: { a: 'b' }, Capabilities: { EnabledTaskDrivers: ['raw_exec'] } }],
  ['/v1/node/pools', { Name: 'least' }],
  ['/v1/node/pools', { Name: 'whole', Description: 'all of it', Meta: { a: 'b' } }],
  ['/v1/var/app/one', { Path: 'app/one', Items: { key: 'value' } }],
  ['/v1/var/app/lock?lock-acquire', { Path: 'app/lock' }],
  ['/v1/acl/policy/least', { Name: 'least', ...rules }],
  ['/v1/acl/policy/whole', { Name: 'whole', ...rules, JobACL: { Namespace: 'default', JobID: 'web' } }],
  ['/v1/acl/role', { Name: 'least', Policies: [{ Name: 'least' }] }],
  ['/v1/acl/token', { Name: 'by policy', Type: 'client', Policies: ['least'] }],
  ['/v1/acl/token', { Name: 'by role', Type: 'client', Roles: [{ Name: 'least' }], ExpirationTTL: 3_600e9 }],
  ['/v1/acl/token', { Name: 'all', Type: 'management' }],
  [`/v1/node/${nodeIds[2]}/drain`, { DrainSpec: { Deadline: 3_600e9 } }],
  [`/v1/node/${nodeIds[0]}/eligibility`, { Eligibility: 'ineligible' }],
  [`/v1/node/${nodeIds[0]}/evaluate`, {}],
  [`/v1/node/${nodeIds[0]}/drain`, { DrainSpec: { Deadline: 3_600e9, IgnoreSystemJobs: true }, Meta: { why: 'disk' } }],
  ...['all', 'jobs', 'allocs', 'vars', 'scaling_policy', 'plugins'].flatMap((Context) => [
    ['/v1/search', { Prefix: 'w', Context }] as const,
    ['/v1/search/fuzzy', { Text: 'we', Context }] as const,
  ]),
];

/** The registrations of the recorded exchanges: jobs with every block, and the smallest of each type. */
function recordedJobs(): readonly (readonly [path: string, body: object])[] {
  const steps = recordedTranscripts().flatMap(({ name, steps: all }) => (name.startsWith('create-') ? all : []));
  return steps.flatMap(({ path, body }) => {
    if (path !== '/v1/jobs' || body === undefined) return [];
    const registration = JSON.parse(JSON.stringify(body).replaceAll('{{run}}', 'run')) as {
      readonly Job?: { ID?: string };
    };
    const submission = {
      Submission: { Source: 'job "a" {}', Format: 'hcl2', VariableFlags: { a: 'b' }, Variables: 'c = 1' },
    };
    const plan = { Job: { ...registration.Job, Priority: 77, Meta: { planned: 'yes' } }, Diff: true };
    const target = `/v1/job/${encodeURIComponent(registration.Job?.ID ?? '')}/plan`;
    return [['/v1/jobs', { ...registration, ...submission }] as const, [target, plan] as const];
  });
}

/** A server whose records differ as much as the interface allows, and the answers to all that made them. */
export async function variedServer(names: 'neutral' | 'upstream'): Promise<VariedServer> {
  const cluster = fakeCluster({
    settings: { events: { kept: 100_000 } },
    behaviour: ({ JobID, RescheduleTracker }) => {
      if (JobID === 'failing') return { ends: 'failed' };
      return JobID === 'once' && RescheduleTracker === undefined ? { ends: 'complete' } : {};
    },
  });
  const handler = createHttpHandler(cluster.engine, { ...everything, names });
  await cluster.addNode(nodeIds[0], leastNode);
  await cluster.addNode(nodeIds[1], wholeNode);
  await cluster.addNode(nodeIds[2]);
  const made: { readonly path: string; readonly text: string }[] = [];
  for (const [path, body] of [...recordedJobs(), ...changes]) {
    const response = await handler(requestFrom({ method: 'PUT', target: path, body }));
    const text = await bodyText(response);
    if (response.status === 200 && text !== '') made.push({ path: path.replace(/\?.*/, ''), text });
    await cluster.clock.advance(2 * second);
    if (path === '/v1/jobs') await cluster.clock.advance(2 * second);
  }
  await cluster.clock.advance(400 * second);
  return { cluster, handler, changes: made, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
}
