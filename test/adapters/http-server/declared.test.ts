import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/http-server/index.js';
import type { Route } from '../../../adapters/http-server/route.js';
import { routeTable } from '../../../adapters/http-server/route-table.js';
import { accessTables } from '../../../src/access/tables.js';
import {
  type Engine,
  hostPrincipal,
  listJobAllocations,
  type Principal,
  pendingTask,
  registerJob,
  reportAllocations,
  scaleJob,
} from '../../../src/index.js';
import { jobTables } from '../../../src/jobs/tables.js';
import { notificationTables } from '../../../src/notifications/tables.js';
import type { ReadView } from '../../../src/ports/storage.js';
import { schedulerTables } from '../../../src/scheduler/tables.js';
import type { Table } from '../../../src/shared/table.js';
import { filledEngine } from './engine-under-test.js';
import { bodyFor, places, sampleJob, targetFor } from './route-samples.js';

/*
 * Whatever a route declares, it does: for each query parameter and each body field of each route, two valid values that
 * must end differently, in the answer or in the store. A declared name without a pair here fails the test, and so does a
 * pair that makes no difference, because then the value was accepted and dropped.
 */

/** Two values; undefined leaves the name out. `beside` is sent with both. */
interface Pair {
  readonly values: readonly [unknown, unknown];
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly caller?: Principal;
  /** Changes the engine before both. */
  readonly prepare?: (engine: Engine) => Promise<unknown>;
}

const pair = (one: unknown, other: unknown, further: Omit<Pair, 'values'> = {}): Pair => ({
  values: [one, other],
  ...further,
});

/** Names that mean the same wherever they stand. */
const everywhere: Readonly<Record<string, Pair>> = {
  namespace: pair('default', 'spare'),
  region: pair('global', 'elsewhere'),
  prefix: pair('', 'zzz'),
  filter: pair('', 'ID == "x"'),
  per_page: pair('0', '1'),
  reverse: pair('false', 'true'),
  Namespace: pair('default', 'spare'),
  Region: pair('global', 'elsewhere'),
  'page[number]': pair('1', '2'),
  'page[size]': pair('1', '2'),
};

/** Why a name makes no difference, and where its meaning is proven instead. */
const withoutEffect: Readonly<Record<string, string>> = {
  stale: 'every answer of this server is current',
  global: 'there is one region',
  index: 'waiting is proven with the blocking queries',
  wait: 'waiting is proven with the blocking queries',
  all: 'a purge takes the allocations and deployments of a registration along, so that none is left to be hidden',
  'listDeployments.namespace': 'there are no deployments yet',
  'listJobDeployments.namespace': 'there are no deployments yet',
  'readLatestDeployment.namespace': 'there are no deployments yet',
  'validateJob.namespace': 'the namespace of the document counts',
};

const mayNotOverride: Principal = {
  ...hostPrincipal,
  management: false,
  namespaces: { default: { capabilities: ['submit-job', 'scale-job', 'read-job', 'list-jobs'] } },
};

const manyJobs = async (engine: Engine): Promise<void> => {
  for (const id of ['a-job', 'b-job'])
    await registerJob(engine, hostPrincipal, { job: sampleJob(id, { Meta: { k: 'v' } }) });
};

const scaled = (change: object) => ({
  ...sampleJob('job'),
  TaskGroups: [{ ...sampleJob('job').TaskGroups[0], ...change }],
});
const resources = (CPU: number) => ({ Tasks: [{ ...sampleJob('job').TaskGroups[0]?.Tasks[0], Resources: { CPU } }] });

const ofTemplate = { Meta: { colour: 'red' } };
const source =
  'variable "n" { default = "1" }\njob "x" {\n  group "g" {\n    task "t" {\n      driver = "a${var.n}"\n    }\n  }\n}\n';

const registering: Readonly<Record<string, Pair>> = {
  Job: pair(sampleJob('job'), sampleJob('job', { Priority: 70 })),
  Submission: pair(undefined, { Source: 'x', Format: 'hcl2' }, { beside: { Job: sampleJob('job', { Priority: 70 }) } }),
  EnforceIndex: pair(false, true, { beside: { JobModifyIndex: 1 } }),
  JobModifyIndex: pair(1, 2, { beside: { EnforceIndex: true } }),
  PolicyOverride: pair(false, true, { caller: mayNotOverride }),
  PreserveCounts: pair(false, true, { beside: { Job: scaled({ Count: 3 }) } }),
  PreserveResources: pair(false, true, { beside: { Job: scaled(resources(222)) } }),
  EvalPriority: pair(0, 77),
  Namespace: pair('default', 'spare'),
};

const pairs: Readonly<Record<string, Readonly<Record<string, Pair>>>> = {
  agentHealth: { type: pair('client', 'server') },
  listJobs: {
    meta: pair('false', 'true', { prepare: manyJobs }),
    next_token: pair('', 'default.b-job', { prepare: manyJobs }),
    reverse: pair('false', 'true', { prepare: manyJobs }),
    per_page: pair('0', '1', { prepare: manyJobs }),
  },
  readJobSubmission: { version: pair('0', '7') },
  listJobVersions: { diffs: pair('false', 'true') },
  listEvaluations: {
    status: pair('', 'blocked'),
    job: pair('', 'nobody'),
    next_token: pair('', '999.x'),
  },
  listAllocations: {
    resources: pair('false', 'true'),
    task_states: pair('true', 'false', { prepare: runningAllocation }),
    next_token: pair('', '999.x'),
    per_page: pair('0', '1', { prepare: manyAllocations }),
    reverse: pair('false', 'true', { prepare: manyAllocations }),
  },
  listNodes: { resources: pair('false', 'true'), os: pair('false', 'true') },
  readEvaluation: { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  listEvaluationAllocations: { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  readAllocation: { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  registerJob: registering,
  updateJob: registering,
  dispatchJob: {
    JobID: pair('template', 'other', { beside: ofTemplate }),
    Payload: pair('aGVsbG8=', 'aGk='),
    Meta: pair({ colour: 'red' }, { colour: 'blue' }),
    IdPrefixTemplate: pair('', 'x'),
    Priority: pair(0, 77),
    IdempotencyToken: pair('', 'once'),
    idempotency_token: pair('', 'once'),
  },
  dispatchJobPayload: { idempotency_token: pair('', 'once') },
  revertJob: {
    JobID: pair('job', 'other'),
    JobVersion: pair(0, 1),
    EnforcePriorVersion: pair(1, 7),
  },
  setJobStability: { JobID: pair('job', 'other'), JobVersion: pair(0, 1), Stable: pair(true, false) },
  evaluateJob: {
    JobID: pair('job', 'other'),
    EvalOptions: pair({ ForceReschedule: false }, { ForceReschedule: true }, { prepare: failedAllocation }),
  },
  parseJob: {
    JobHCL: pair(source, source.replaceAll('"x"', '"y"')),
    Variables: pair('', 'n = "2"', { beside: { JobHCL: source } }),
    Canonicalize: pair(false, true),
    HCLv1: pair(false, true, { beside: { JobHCL: 'job "x" {\n  meta {\n    "a.b" = "c"\n  }\n}' } }),
    namespace: pair('default', 'spare', { caller: mayNotOverride }),
  },
  validateJob: { Job: pair(sampleJob('x'), sampleJob('x', { Priority: 900 })) },
  stopJob: {
    purge: pair('false', 'true'),
    eval_priority: pair('0', '77'),
    no_shutdown_delay: pair('false', 'true'),
  },
  scaleJob: {
    Count: pair(2, 3),
    Target: pair({ Group: 'g' }, { Group: 'other' }),
    Message: pair('more', 'less'),
    Error: pair('broken', 'broken too', { beside: { Count: undefined, Message: undefined } }),
    Meta: pair({ a: 1 }, { a: 2 }),
    PolicyOverride: pair(false, true, { caller: mayNotOverride }),
    EnforceIndex: pair(false, true),
    JobModifyIndex: pair(0, 1),
  },
  tagJobVersion: {
    Version: pair(0, 1),
    Latest: pair(false, true, { beside: { Version: undefined } }),
    Description: pair('kept', 'not kept'),
  },
  putNamespace: namespaceFields('made'),
  putNamedNamespace: namespaceFields('spare'),
  listNamespaces: { prefix: pair('', 'spare') },
  listNotificationDeliveries: {
    'filter[outcome]': pair('pending', 'dead'),
    'filter[trigger]': pair('run:errored', 'run:completed'),
  },
};

function namespaceFields(name: string): Readonly<Record<string, Pair>> {
  return {
    Name: pair(name, 'default'),
    Description: pair('one', 'two'),
    Meta: pair({ a: '1' }, { a: '2' }),
    Capabilities: pair(null, { EnabledTaskDrivers: ['raw_exec'] }),
    Quota: pair('', 'small'),
    NodePoolConfiguration: pair(null, { Default: 'x' }),
    VaultConfiguration: pair(null, { Default: 'x' }),
    ConsulConfiguration: pair(null, { Default: 'x' }),
    RequiredExtraClaims: pair(null, ['x']),
    OptionalExtraClaims: pair(null, ['x']),
  };
}

/** Two more allocations of the job, the first of which runs. */
async function manyAllocations(engine: Engine): Promise<void> {
  await report(engine, 'running');
  await scaleJob(engine, hostPrincipal, { jobId: 'job', target: { Group: 'g' }, count: 3, message: 'more' });
  engine.start();
  for (let known = 0; known < 3; ) {
    const listed = (await listJobAllocations(engine, hostPrincipal, { jobId: 'job' }))._unsafeUnwrap();
    known = listed.value.length;
    if (known < 3) {
      await listJobAllocations(engine, hostPrincipal, { jobId: 'job', waiting: { after: listed.index, wait: 60_000 } });
    }
  }
  await engine.stop();
}

function runningAllocation(engine: Engine): Promise<void> {
  return report(engine, 'running');
}

function failedAllocation(engine: Engine): Promise<void> {
  return report(engine, 'failed');
}

async function report(engine: Engine, clientStatus: 'running' | 'failed'): Promise<void> {
  const taskStates = { t: pendingTask };
  const reports = [{ allocationId: places['allocation_id'] ?? '', clientStatus, clientDescription: '', taskStates }];
  await reportAllocations(engine, hostPrincipal, { nodeId: places['node_id'] ?? '', reports });
}

function fieldsOf(route: Route): readonly string[] {
  if (route.requestBody === undefined || route.half === 'notifications') return [];
  return Object.keys((route.requestBody.schema() as { properties?: object }).properties ?? {});
}

const walked = routeTable.filter((route) => Object.keys(route.parameters).length + fieldsOf(route).length > 0);

describe.each(walked.map((route) => ({ name: `${route.methods[0]} ${route.path}`, route })))('$name', ({ route }) => {
  const declared = [
    ...Object.keys(route.parameters).map((name) => ({ name, where: 'query' as const })),
    ...fieldsOf(route).map((name) => ({ name, where: 'body' as const })),
  ].filter(({ name }) => (withoutEffect[`${route.operation}.${name}`] ?? withoutEffect[name]) === undefined);

  it.each(declared)('does what $name in the $where asks for', async ({ name, where }) => {
    const found = pairs[route.operation]?.[name] ?? everywhere[name];
    expect(found, `no pair of values for ${route.operation}.${name}`).toBeDefined();
    if (found === undefined) return;
    const [one, other] = await Promise.all(found.values.map((value) => outcome(route, name, where, found, value)));
    expect(one?.answer).not.toMatch(/"status":500,.*internal error/);
    expect(one, JSON.stringify(found.values)).not.toEqual(other);
  });
});

async function outcome(route: Route, name: string, where: 'query' | 'body', given: Pair, value: unknown) {
  const engine = await filledEngine();
  await given.prepare?.(engine);
  const caller = given.caller ?? hostPrincipal;
  const handler = createHttpHandler(engine, { authenticate: () => caller });
  const body = {
    ...((bodyFor(route) ?? {}) as object),
    ...given.beside,
    ...(where === 'body' ? { [name]: value } : {}),
  };
  const target = targetFor(route);
  const query = where === 'query' && value !== undefined ? `${name}=${encodeURIComponent(String(value))}` : '';
  const sample = target.split('?')[1]?.startsWith(name + '=') === true ? target.slice(0, target.indexOf('?')) : target;
  const response = await handler(
    requestFrom({
      method: route.methods[0],
      target: query === '' ? sample : sample + (sample.includes('?') ? '&' : '?') + query,
      ...(bodyFor(route) === undefined ? {} : { body }),
    }),
  );
  const answer = JSON.stringify({ status: response.status, body: response.body.toString(), headers: response.headers });
  return { answer, store: (await engine.storage.read(textOfStore))._unsafeUnwrap() };
}

/** Everything that is stored. */
function textOfStore(view: ReadView): string {
  return [...accessTables, ...jobTables, ...schedulerTables, ...notificationTables]
    .map(
      (table) =>
        `${table.name}: ${view
          .list(table as Table<unknown>)
          .map((row) => row.text)
          .join('\n')}`,
    )
    .join('\n\n');
}

describe('the list of pairs', () => {
  it('names nothing that no route declares', () => {
    const known = new Map(
      routeTable.map((route) => [route.operation, [...Object.keys(route.parameters), ...fieldsOf(route)]]),
    );
    const stale = Object.entries(pairs).flatMap(([operation, names]) =>
      Object.keys(names)
        .filter((name) => known.get(operation)?.includes(name) !== true)
        .map((name) => `${operation}.${name}`),
    );
    expect(stale).toEqual([]);
    expect(places['workspace_id']).toBeDefined();
  });
});
