import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { routeTable } from '../../../adapters/http-server/calls/route-table.js';
import type { Route } from '../../../adapters/http-server/calls/router.js';
import { tokens } from '../../../src/access/tokens.js';
import { defineFunction } from '../../../src/functions/define-function.js';
import { type Engine, hostPrincipal, type Principal, pendingTask } from '../../../src/index.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { endedRuns } from '../../../src/jobs/runs/job-run.js';
import { putPolicy } from '../../../src/operations/access/policies.js';
import { putRole } from '../../../src/operations/access/roles.js';
import { removeToken, saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import { listJobAllocations } from '../../../src/operations/jobs/reading/read-allocations.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { scaleJob } from '../../../src/operations/jobs/scale-job.js';
import { setNodeEligibility } from '../../../src/operations/nodes/drain-and-eligibility.js';
import { setSchedulerConfiguration } from '../../../src/operations/nodes/scheduler-configuration.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';
import { putVariable } from '../../../src/operations/variables/write-variable.js';

import type { ReadView } from '../../../src/ports/storage.js';
import { deployments } from '../../../src/scheduler/deployment/deployment.js';
import { tables } from '../../../src/tables.js';
import { nodeFrom } from '../../support/nodes.js';
import { bootstrapping, engineUnderTest, filledEngine } from './engine-under-test.js';
import { bodyFor, bodySchemaOf, parametersOf, pathValues, sampleJob, sampleNode, targetFor } from './route-samples.js';

/*
 * Whatever a route declares, it does: for each query parameter and each body field of each route, two valid values that
 * must end differently, in the answer or in the store. A declared name without a pair here fails the test, and so does a
 * pair that makes no difference, because then the value was accepted and dropped.
 */

/** Two values; undefined leaves the name out. `beside` is sent with both. */
interface Pair {
  readonly values: readonly [unknown, unknown];
  readonly beside?: Readonly<Record<string, unknown>>;
  /** A query that is sent with both. */
  readonly query?: string;
  readonly caller?: Principal;
  /** Whether a body is sent; absent, when the route needs one. */
  readonly bodied?: boolean;
  /** The engine has no token yet, and gives the first one. */
  readonly bootstraps?: true;
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
  'jobs.deployments.namespace': 'the sample job is a batch job, which has no deployments',
  'jobs.latestDeployment.namespace': 'the sample job is a batch job, which has no deployments',
  'cluster.events.namespace': 'what a stream tells is proven with the event stream',
  'cluster.events.topic': 'what a stream tells is proven with the event stream',
  'evaluations.read.related': 'the sample evaluation has led to no other one; the operation is proven by itself',
  'system.monitor.log_level': 'what is logged is proven with the log that is read along',
  'system.monitor.log_json': 'what is logged is proven with the log that is read along',
  'system.monitor.plain': 'what is logged is proven with the log that is read along',
  'system.monitor.node_id': 'what is logged is proven with the log that is read along',
  'system.monitor.server_id': 'what is logged is proven with the log that is read along',
  'jobs.validate.namespace': 'the namespace of the document counts',
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

const twoJobs = { prepare: manyJobs, beside: { Jobs: [{ ID: 'a-job' }, { ID: 'b-job' }] } };

const spareNodes = async (engine: Engine): Promise<void> => {
  for (const id of ['a-node', 'b-node'])
    await registerNode(engine, hostPrincipal, { ...nodeFrom(id), NodePool: 'spare' });
};

const poolJobs = async (engine: Engine): Promise<void> => {
  for (const id of ['a-job', 'b-job'])
    await registerJob(engine, hostPrincipal, { job: sampleJob(id, { NodePool: 'spare', Meta: { k: 'v' } }) });
};

const scaled = (change: object) => ({
  ...sampleJob('job'),
  TaskGroups: [{ ...sampleJob('job').TaskGroups?.[0], ...change }],
});
const resources = (CPU: number) => ({
  Tasks: [{ ...sampleJob('job').TaskGroups?.[0]?.Tasks?.[0], Resources: { CPU } }],
});

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
  Seal: pair(undefined, 'none'),
  Namespace: pair('default', 'spare'),
};

const twoTokens = async (engine: Engine): Promise<void> => {
  for (const name of ['a-token', 'b-token'])
    await saveToken(engine, hostPrincipal, { name, type: 'client', policies: ['p'] });
};
const ofNode = { Type: 'node', Policies: [] };
const rolePairs: Readonly<Record<string, Pair>> = {
  ID: pair(undefined, 'unknown'),
  Name: pair('one', 'other'),
  Description: pair('one', 'other'),
  Policies: pair([{ Name: 'spare' }], [{ Name: 'nothing' }]),
};
const tokenPairs: Readonly<Record<string, Pair>> = {
  AccessorID: pair(undefined, 'unknown'),
  Name: pair('one', 'other'),
  Type: pair('client', 'other'),
  NodeID: pair(undefined, 'no UUID', { beside: ofNode }),
  NodePool: pair('default', 'spare', { beside: ofNode }),
  Policies: pair(['one'], ['other']),
  Roles: pair(null, [{ Name: 'spare' }]),
  Workspaces: pair({ 'ws-1': 'events' }, { 'ws-1': 'admin' }),
  Global: pair(false, true),
  ExpirationTTL: pair(undefined, '2h'),
  ExpirationTime: pair(undefined, '2000-01-01T00:00:00Z'),
};

/** The token of the sample becomes that of a node. */
const withoutToken = async (engine: Engine): Promise<void> => {
  await removeToken(engine, hostPrincipal, { accessor: pathValues['accessor_id'] ?? '' });
};
const nodeToken = async (engine: Engine): Promise<void> => {
  await engine.storage.write((view) => {
    const token = view.get(tokens, [pathValues['accessor_id'] ?? ''])?.record;
    if (token !== undefined) view.put(tokens, { ...token, policies: [], node: { pool: 'default' } });
    return ok(undefined);
  });
};

const twoVariables = async (engine: Engine): Promise<void> => {
  for (const path of ['a', 'b']) await putVariable(engine, hostPrincipal, { path, items: { k: 'v' } });
};
const secondWorkspace = async (engine: Engine): Promise<void> => {
  await putWorkspace(engine, hostPrincipal, { id: 'ws-2', name: 'second', organization: 'org' });
};
const lockedVariable = async (engine: Engine): Promise<void> => {
  await putVariable(engine, hostPrincipal, { path: 'app/one', lock: 'acquire', lockId: 'own' });
};
const ownLock = { beside: { Lock: { ID: 'own' } }, prepare: lockedVariable };

const laterOrNever = pair('2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z');
/** Pairs of the filters of runs; the sample runs have no batch. */
const selecting = {
  batch: pair(undefined, 'batch/9'),
  key: pair(undefined, 'none'),
  from: laterOrNever,
  to: laterOrNever,
};
const withWaitingRun = (given: Pair): Pair => ({ ...given, prepare: waitingRun });

const pairs: Readonly<Record<string, Readonly<Record<string, Pair>>>> = {
  'functions.list': { per_page: pair('0', '1', { prepare: otherFunction }), next_token: pair('', 'zzz') },
  'functions.runs': {
    ...selecting,
    state: pair('failed', 'succeeded'),
    error: pair('Error', 'Other'),
    meta: pair('colour=red', 'colour=blue'),
    next_token: pair('', 'mail/send/1'),
  },
  'functions.enqueue': {
    input: pair({ n: 1 }, { n: 2 }),
    delay: pair('1h', 7_200_000),
    runAt: pair('2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', { beside: { delay: undefined } }),
    priority: pair(1, 2),
    meta: pair({ a: 'b' }, { a: 'c' }),
    ttl: pair('1h', '2h'),
    idempotencyKey: pair('a', 'b'),
    unique: pair('a', { key: 'b', until: 'ended' }),
    debounce: pair(
      { key: 'a', wait: '1m' },
      { key: 'b', wait: 60_000 },
      { beside: { delay: undefined, unique: undefined } },
    ),
  },
  'functions.cancel': {
    ...Object.fromEntries(Object.entries(selecting).map(([name, given]) => [name, withWaitingRun(given)])),
    state: withWaitingRun(pair(['scheduled'], ['running'])),
    error: withWaitingRun(pair(undefined, 'Other')),
    meta: withWaitingRun(pair({ colour: 'red' }, { colour: 'blue' })),
  },
  'functions.retry': {
    ...selecting,
    state: pair('failed', 'cancelled'),
    error: pair('Error', 'Other'),
    meta: pair({ colour: 'red' }, { colour: 'blue' }),
  },
  'functions.pause': { key: pair(undefined, 'none', { bodied: true }) },
  'functions.resume': { key: pair(undefined, 'none', { bodied: true }) },
  'functions.cancelRun': { reason: pair('one', 'other', { prepare: retriedRun }) },
  'variables.list': {
    filter: pair('', 'Path == "x"'),
    per_page: pair('0', '1', { prepare: twoVariables }),
    reverse: pair('false', 'true', { prepare: twoVariables }),
    next_token: pair('', 'default.b', { prepare: twoVariables }),
  },
  'variables.put': {
    cas: pair('0', undefined),
    'lock-acquire': pair(undefined, 'true'),
    'lock-renew': pair(undefined, 'true', ownLock),
    'lock-release': pair(undefined, 'true', ownLock),
    Namespace: pair('default', 'spare'),
    Items: pair({ k: 'v' }, { k: 'w' }),
    Lock: pair(undefined, { ID: 'own' }, { prepare: lockedVariable }),
  },
  'variables.remove': { cas: pair('0', undefined) },
  'policies.try': {
    rules: pair('', 'namespace "default" { policy = "read" }', { beside: { call: 'jobs.read' } }),
    call: pair('jobs.read', 'tokens.list', { beside: { rules: 'namespace "default" { policy = "read" }' } }),
    namespace: pair('default', 'other', {
      beside: { rules: 'namespace "default" { policy = "read" }', call: 'jobs.read' },
    }),
    name: pair('pool', 'other', { beside: { rules: 'node_pool "pool" { policy = "write" }', call: 'nodePools.read' } }),
  },
  'policies.put': {
    Name: pair('spare', 'other'),
    Description: pair('one', 'other'),
    Rules: pair('', 'node { policy = "read" }'),
    JobACL: pair(null, { Namespace: 'default', JobID: 'job' }),
  },
  'roles.create': rolePairs,
  'roles.update': rolePairs,
  'tokens.create': tokenPairs,
  'tokens.update': {
    ...tokenPairs,
    NodePool: pair('default', 'spare', { beside: ofNode, prepare: nodeToken }),
    SecretID: pair(undefined, '00000000-0000-4000-8000-0000000000ff', { prepare: withoutToken }),
  },
  'nodes.readMeta': { node_id: pair('', '00000000-0000-4000-8000-0000000000ff') },
  'nodes.applyMeta': {
    node_id: pair('', '00000000-0000-4000-8000-0000000000ff'),
    NodeID: pair('', '00000000-0000-4000-8000-0000000000ff'),
    Meta: pair({ colour: 'blue' }, { colour: null }),
  },
  'tokens.exchangeOneTime': { OneTimeSecretID: pair(undefined, 'unknown') },
  'tokens.bootstrap': {
    region: pair('global', 'elsewhere', { bootstraps: true }),
    BootstrapSecret: pair(undefined, 'no UUID', { bodied: true, bootstraps: true }),
  },
  'tokens.list': {
    per_page: pair('0', '1', { prepare: twoTokens }),
    reverse: pair('false', 'true', { prepare: twoTokens }),
    next_token: pair('', '999999.x', { prepare: twoTokens }),
  },
  'services.read': { choose: pair('1|a', '2|a'), next_token: pair('', 'default.web-2') },
  'system.agentHealth': { type: pair('client', 'server') },
  'jobs.list': {
    meta: pair('false', 'true', { prepare: manyJobs }),
    next_token: pair('', 'default.b-job', { prepare: manyJobs }),
    reverse: pair('false', 'true', { prepare: manyJobs }),
    per_page: pair('0', '1', { prepare: manyJobs }),
    sort: pair('id', '-id', { prepare: manyJobs }),
    last_outcome: pair('succeeded', 'none'),
  },
  'jobs.statuses': {
    per_page: pair('0', '1', { prepare: manyJobs }),
    next_token: pair('', '1', { prepare: manyJobs }),
    reverse: pair('false', 'true', { prepare: manyJobs }),
    include_children: pair('false', 'true', { prepare: childJob }),
  },
  'jobs.statusesOf': {
    Jobs: pair([{ ID: 'job' }], [{ ID: 'job' }, { ID: 'template' }]),
    IncludeChildren: pair(false, true, { prepare: childJob, beside: { Jobs: [{ ID: 'child' }] } }),
    // With a list of jobs, a page has them all.
    per_page: pair('0', '1', { prepare: manyJobs, bodied: false }),
    reverse: pair('false', 'true', twoJobs),
    next_token: pair('', '1', { prepare: manyJobs }),
    include_children: pair('false', 'true', { prepare: childJob, beside: { Jobs: [{ ID: 'child' }] } }),
  },
  'scaling.policy': { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  'scaling.policies': { prefix: pair('', 'zz'), job: pair('', 'nobody'), type: pair('', 'vertical') },
  'jobs.placement': { namespace: pair('default', 'spare'), job: pair('job', 'none'), nodes: pair('1', '0') },
  'jobs.schedules': { job: pair('cron', 'none'), launches: pair('1', '2') },
  'jobs.runs': {
    job: pair('batch', 'none', { prepare: endedRun }),
    outcome: pair('succeeded', 'failed', { prepare: endedRun }),
    namespace: pair('default', 'spare', { prepare: endedRun }),
    per_page: pair('0', '1', { prepare: endedRun }),
    next_token: pair('', '1', { prepare: endedRun }),
  },
  'jobs.failures': {
    namespace: pair('default', 'spare'),
    job: pair('mail/send', 'none'),
    since: pair('2020-01-01T00:00:00Z', '2030-01-01T00:00:00Z'),
  },
  'system.series': { range: pair('hour', 'day') },
  'jobs.restart': {
    job: pair('job', 'none'),
    atOnce: pair(1, 2),
    wait: pair('1s', '2s'),
    allTasks: pair(false, true),
    continues: pair(false, true),
  },
  'jobs.readRestart': {
    namespace: pair('default', 'spare', { prepare: restarted }),
    job: pair('job', 'none', { prepare: restarted }),
  },
  'jobs.cancelRestart': {
    namespace: pair('default', 'spare', { prepare: restarted }),
    job: pair('job', 'none', { prepare: restarted }),
  },
  'jobs.trySchedule': {
    namespace: pair('default', 'spare', { caller: mayNotOverride }),
    specs: pair(['* * * * *'], ['0 * * * *']),
    timeZone: pair('UTC', 'Europe/Berlin'),
    launches: pair(1, 2),
  },
  'jobs.submission': { version: pair('0', '7') },
  'jobs.versions': {
    diffs: pair('false', 'true'),
    diff_tag: pair('tagged', 'none', { query: 'diffs=true' }),
    diff_version: pair('0', '1', { query: 'diffs=true' }),
  },
  'evaluations.count': {
    prefix: pair('', 'zz'),
    filter: pair('', 'Status == "none"'),
    status: pair('', 'blocked'),
    job: pair('', 'nobody'),
  },
  'evaluations.delete': {
    EvalIDs: pair([], ['x'], { beside: { Filter: undefined } }),
    Filter: pair('', 'JobID == "job"', { beside: { EvalIDs: [] } }),
  },
  'evaluations.list': {
    status: pair('', 'blocked'),
    job: pair('', 'nobody'),
    next_token: pair('', '999.x'),
  },
  'allocations.list': {
    resources: pair('false', 'true'),
    task_states: pair('true', 'false', { prepare: runningAllocation }),
    next_token: pair('', '999.x'),
    per_page: pair('0', '1', { prepare: manyAllocations }),
    reverse: pair('false', 'true', { prepare: manyAllocations }),
  },
  'nodes.list': {
    resources: pair('false', 'true'),
    os: pair('false', 'true'),
    ...pagesBeyond('zzz', async (engine) => {
      await registerNode(engine, hostPrincipal, nodeFrom('a-node'));
    }),
  },
  'policies.list': {
    filter: pair('', 'Name == "x"'),
    ...pagesBeyond('zzz', async (engine) => {
      await putPolicy(engine, hostPrincipal, { name: 'a-policy', rules: '' });
    }),
  },
  'roles.list': pagesBeyond('zzz', async (engine) => {
    await putRole(engine, hostPrincipal, { name: 'a-role', policies: [{ name: 'spare' }] });
  }),
  'evaluations.read': { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  'evaluations.allocations': { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  'allocations.stop': {
    no_shutdown_delay: pair('false', 'true'),
    reschedule: pair('false', 'true'),
  },
  'jobs.register': registering,
  'jobs.update': registering,
  'jobs.plan': {
    Job: pair(sampleJob('job'), sampleJob('job', { Priority: 70 })),
    Diff: pair(false, true),
    PolicyOverride: pair(false, true, { caller: mayNotOverride }),
    PreserveCounts: pair(false, true, { beside: { Job: scaled({ Count: 3 }), Diff: true } }),
    PreserveResources: pair(false, true, { beside: { Job: scaled(resources(222)), Diff: true } }),
    Seal: pair(false, true),
  },
  'jobs.simulate': {
    Job: pair(sampleJob('job'), sampleJob('another')),
    drainNode: pair('', 'unknown'),
    downNode: pair('', 'unknown'),
    duration: pair('1s', '1h'),
    workFor: pair('1s', '5m'),
  },
  'jobs.dispatch': {
    JobID: pair('template', 'other', { beside: ofTemplate }),
    Payload: pair('aGVsbG8=', 'aGk='),
    Meta: pair({ colour: 'red' }, { colour: 'blue' }),
    IdPrefixTemplate: pair('', 'x'),
    Priority: pair(0, 77),
    IdempotencyToken: pair('', 'once'),
    idempotency_token: pair('', 'once'),
  },
  'jobs.dispatchPayload': { idempotency_token: pair('', 'once') },
  'jobs.revert': {
    JobID: pair('job', 'other'),
    JobVersion: pair(0, 1),
    EnforcePriorVersion: pair(1, 7),
  },
  'jobs.setStability': { JobID: pair('job', 'other'), JobVersion: pair(0, 1), Stable: pair(true, false) },
  'jobs.evaluate': {
    JobID: pair('job', 'other'),
    EvalOptions: pair({ ForceReschedule: false }, { ForceReschedule: true }, { prepare: failedAllocation }),
  },
  'jobs.parse': {
    JobHCL: pair(source, source.replaceAll('"x"', '"y"')),
    Variables: pair('', 'n = "2"', { beside: { JobHCL: source } }),
    Canonicalize: pair(false, true),
    HCLv1: pair(false, true, { beside: { JobHCL: 'job "x" {\n  meta {\n    "a.b" = "c"\n  }\n}' } }),
    namespace: pair('default', 'spare', { caller: mayNotOverride }),
  },
  'jobs.validate': { Job: pair(sampleJob('x'), sampleJob('x', { Priority: 900 })) },
  'jobs.stop': {
    purge: pair('false', 'true'),
    eval_priority: pair('0', '77'),
    no_shutdown_delay: pair('false', 'true'),
  },
  'jobs.scale': {
    Count: pair(2, 3),
    Target: pair({ Group: 'g' }, { Group: 'other' }),
    Message: pair('more', 'less'),
    Error: pair('broken', 'broken too', { beside: { Count: undefined, Message: undefined } }),
    Meta: pair({ a: 1 }, { a: 2 }),
    PolicyOverride: pair(false, true, { caller: mayNotOverride }),
    EnforceIndex: pair(false, true),
    JobModifyIndex: pair(0, 1),
  },
  'jobs.tagVersion': {
    Version: pair(0, 1),
    Latest: pair(false, true, { beside: { Version: undefined } }),
    Description: pair('kept', 'not kept'),
  },
  'deployments.list': { next_token: pair('', '999.x') },
  'deployments.read': { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  'deployments.allocations': { namespace: pair('default', 'spare', { caller: mayNotOverride }) },
  'deployments.pause': { DeploymentID: pair(undefined, 'other'), Pause: pair(true, false) },
  'deployments.promote': {
    DeploymentID: pair(undefined, 'other'),
    All: pair(true, false, { prepare: withCanary }),
    Groups: pair(['g'], [], { beside: { All: false }, prepare: withCanary }),
  },
  'deployments.setHealth': {
    DeploymentID: pair(undefined, 'other'),
    HealthyAllocationIDs: pair([], ['nobody']),
    UnhealthyAllocationIDs: pair([], ['nobody']),
  },
  'deployments.unblock': { DeploymentID: pair(undefined, 'other') },
  'nodes.setEligibility': { Eligibility: pair('eligible', 'ineligible') },
  'nodes.drain': {
    DrainSpec: pair(null, { Deadline: 1 }),
    MarkEligible: pair(false, true, { beside: { DrainSpec: null }, prepare: ineligibleNode }),
    Meta: pair({ a: '1' }, { a: '2' }),
    enable: pair('false', 'true', { beside: { DrainSpec: null } }),
  },
  'agents.register': {
    node: pair(sampleNode('00000000-0000-4000-8000-00000000000a'), { ID: 'other' }),
    agent: pair({ instance: 'the-first-process' }, { instance: 'other' }),
  },
  'agents.heartbeat': { instance: byInstance() },
  'agents.work': { instance: byInstance() },
  'agents.leave': { instance: byInstance() },
  'agents.variables': {
    instance: byInstance(),
    query: pair(undefined, { allocationId: 'x' }),
  },
  'agents.report': {
    reports: pair([], [{ allocationId: 'x' }]),
    ended: pair([], ['x']),
    kept: pair([], ['x']),
    instance: byInstance(),
  },
  'nodePools.jobs': {
    namespace: pair('default', 'spare', { prepare: poolJobs }),
    prefix: pair('', 'zzz', { prepare: poolJobs }),
    filter: pair('', 'ID == "x"', { prepare: poolJobs }),
    per_page: pair('0', '1', { prepare: poolJobs }),
    next_token: pair('', 'default.b-job', { prepare: poolJobs }),
    reverse: pair('false', 'true', { prepare: poolJobs }),
    meta: pair('false', 'true', { prepare: poolJobs }),
    sort: pair('id', '-id', { prepare: poolJobs }),
    last_outcome: pair('succeeded', 'none'),
  },
  'nodePools.list': {
    prefix: pair('', 'spare'),
    filter: pair('', 'Name == "x"'),
    per_page: pair('0', '1'),
    next_token: pair('', 'zzz'),
    reverse: pair('false', 'true'),
  },
  'nodePools.nodes': {
    resources: pair('false', 'true', { prepare: spareNodes }),
    os: pair('false', 'true', { prepare: spareNodes }),
    filter: pair('', 'ID == "x"', { prepare: spareNodes }),
    per_page: pair('0', '1', { prepare: spareNodes }),
    reverse: pair('false', 'true', { prepare: spareNodes }),
    next_token: pair('', 'zzz', { prepare: spareNodes }),
  },
  'nodePools.put': poolFields('made'),
  'nodePools.putNamed': poolFields('spare'),
  'scheduler.setConfiguration': {
    cas: pair('0', undefined),
    SchedulerAlgorithm: pair('spread', 'binpack'),
    PreemptionConfig: pair({ BatchSchedulerEnabled: false }, { BatchSchedulerEnabled: true }),
    MemoryOversubscriptionEnabled: pair(false, true),
    RejectJobRegistration: pair(false, true),
    PauseEvalBroker: pair(false, true),
    NodeLimitForFeasibilityChecks: pair(1, 2),
  },
  'system.metrics': { format: pair(undefined, 'prometheus') },
  'search.prefix': { Prefix: pair('jo', 'x'), Context: pair('jobs', 'nodes') },
  'search.fuzzy': { Text: pair('ob', 'xx'), Context: pair('jobs', 'nodes') },
  'namespaces.put': namespaceFields('made'),
  'namespaces.putNamed': namespaceFields('spare'),
  'namespaces.list': { prefix: pair('', 'spare') },
  'events.list': {
    'filter[trigger]': pair('run:errored', 'run:completed'),
    'filter[outcome]': pair('pending', 'dead'),
    'filter[since]': pair('2020-01-01T00:00:00Z', '2126-01-01T00:00:00Z'),
    'filter[until]': pair('2020-01-01T00:00:00Z', '2126-01-01T00:00:00Z'),
    'filter[expression]': pair('run_id == "run-0"', 'run_id == "none"'),
  },
  'organizations.list': { q: pair('or', 'other') },
  'organizations.memberships': {
    'filter[email]': pair('ada@example.org', 'bob@example.org'),
    'filter[status]': pair('active', 'invited'),
    q: pair('ad', 'bo'),
    include: pair(undefined, 'user'),
  },
  'organizations.membership': { include: pair(undefined, 'user') },
  'workspaces.list': {
    'search[name]': pair('AI', 'other'),
    'search[wildcard-name]': pair('m*n', 'm*m'),
    'search[tags]': pair(undefined, 'blue'),
    'filter[project][id]': pair(undefined, 'prj-1'),
    'filter[current-run][status]': pair(undefined, 'errored'),
    sort: pair('name', '-name', { prepare: secondWorkspace }),
  },
  'notifications.search': { q: pair('main', 'nothing') },
  'deliveries.list': deliveryFilters(),
  'deliveries.ofWorkspace': {
    ...deliveryFilters(),
    'filter[configuration]': pair(undefined, pathValues['notification_configuration_id'] ?? ''),
  },
};

function deliveryFilters(): Readonly<Record<string, Pair>> {
  return {
    'filter[outcome]': pair('pending', 'dead'),
    'filter[trigger]': pair('run:errored', 'run:completed'),
    'filter[status]': pair(undefined, '503'),
    'filter[since]': pair('2020-01-01T00:00:00Z', '2120-01-01T00:00:00Z'),
    'filter[until]': pair('2120-01-01T00:00:00Z', '2020-01-01T00:00:00Z'),
  };
}

/** The node has the first one as its agent. */
function byInstance(): Pair {
  return pair('first', 'other', {
    prepare: async (engine) => {
      const node = nodeFrom(pathValues['node_id'] ?? '');
      (await registerNode(engine, hostPrincipal, node, { instance: 'first' }))._unsafeUnwrap();
    },
  });
}

function poolFields(name: string): Readonly<Record<string, Pair>> {
  return {
    Name: pair(name, 'default'),
    Description: pair('one', 'two'),
    Meta: pair({ a: '1' }, { a: '2' }),
    SchedulerConfiguration: pair(null, { SchedulerAlgorithm: 'spread' }),
    NodeIdentityTTL: pair('1h', '2h'),
  };
}

/** Pages of a list that `prepare` gives at least two items; the token is that of a page behind all. */
function pagesBeyond(token: string, prepare: (engine: Engine) => Promise<void>): Readonly<Record<string, Pair>> {
  return {
    per_page: pair('0', '1', { prepare }),
    reverse: pair('false', 'true', { prepare }),
    next_token: pair('', token),
  };
}

/** The deployment waits for its canary. */
async function withCanary(engine: Engine): Promise<void> {
  await engine.storage.write((view) => {
    const deployment = view.get(deployments, [pathValues['deployment_id'] ?? ''])?.record;
    const state = deployment?.TaskGroups['g'];
    if (deployment === undefined || state === undefined) throw new Error('no deployment');
    view.put(deployments, { ...deployment, TaskGroups: { g: { ...state, DesiredCanaries: 1 } } });
    return ok(undefined);
  });
}

async function ineligibleNode(engine: Engine): Promise<void> {
  const input = { nodeId: pathValues['node_id'] ?? '', eligibility: 'ineligible' };
  (await setNodeEligibility(engine, hostPrincipal, input))._unsafeUnwrap();
}

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
  await scaleJob(engine, hostPrincipal, { jobId: 'job', group: 'g', count: 3, message: 'more' });
  await setSchedulerConfiguration(engine, hostPrincipal, {});
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

async function restarted(engine: Engine): Promise<void> {
  (await engine.as(hostPrincipal).jobs.restart('job'))._unsafeUnwrap();
}

/** Two runs of a batch job. */
async function endedRun(engine: Engine): Promise<void> {
  const run = { namespace: 'default', parentId: 'batch', jobId: 'batch', version: 0, outcome: 'succeeded' } as const;
  const times = { createdAt: 0, endedAt: 1000 };
  await engine.storage.write((view) => {
    for (const number of [1, 2]) view.put(endedRuns, { ...run, ...times, number, index: view.index + number });
    return ok(undefined);
  });
}

/** An instance of another job, under a name that a body can say. */
async function childJob(engine: Engine): Promise<void> {
  await engine.storage.write((view) => {
    const job = view.get(jobs, ['default', 'job'])?.record;
    if (job !== undefined) view.put(jobs, { ...job, ID: 'child', ParentID: 'template' });
    return ok(undefined);
  });
}

async function waitingRun(engine: Engine): Promise<void> {
  const defined = engine.definitions.get('default/mail/send');
  await defined?.enqueue(engine, { n: 0 }, { delay: '1h', meta: { colour: 'red' } });
}

async function retriedRun(engine: Engine): Promise<void> {
  await engine.as(hostPrincipal).functions.retryRun(pathValues['function_run_id'] ?? '');
}

async function otherFunction(engine: Engine): Promise<void> {
  const other = defineFunction({ name: 'other' });
  await createFunctions(engine, [other]).enqueue(other);
}

function runningAllocation(engine: Engine): Promise<void> {
  return report(engine, 'running');
}

function failedAllocation(engine: Engine): Promise<void> {
  return report(engine, 'failed');
}

async function report(engine: Engine, clientStatus: 'running' | 'failed'): Promise<void> {
  const taskStates = { t: pendingTask };
  const reports = [
    { allocationId: pathValues['allocation_id'] ?? '', clientStatus, clientDescription: '', taskStates },
  ];
  await reportAllocations(engine, hostPrincipal, { nodeId: pathValues['node_id'] ?? '', reports });
}

function fieldsOf(route: Route): readonly string[] {
  if (route.interface === 'notifications') return [];
  return Object.keys((bodySchemaOf(route) as { properties?: object } | undefined)?.properties ?? {});
}

/** What these ask for is done by a node, or needs a socket: `test/adapters/runner` looks whether it is. */
const doneByNodes =
  /^files\.|^agents\.commands$|^nodes\.(collect|stats)$|^allocations\.(restart|signal|stats|checks|clientChecks|exec|collect)$|^jobs\.(runAction|actions)$/;

/** What a route declares, without what needs no pair. */
function declaredBy(route: Route) {
  return [
    ...parametersOf(route).map((name) => ({ name, where: 'query' as const })),
    ...fieldsOf(route).map((name) => ({ name, where: 'body' as const })),
  ].filter(({ name }) => (withoutEffect[`${route.name}.${name}`] ?? withoutEffect[name]) === undefined);
}

const walked = routeTable.filter((route) => !doneByNodes.test(route.name) && declaredBy(route).length > 0);

/** Pairs for clients of Nomad, for which an error is a flag, and a scaling compares an index above 0 alone. */
const ofUpstream: Readonly<Record<string, Pair>> = {
  'jobs.scale.Error': pair(false, true, { beside: { Count: undefined } }),
  'jobs.scale.EnforceIndex': pair(true, 'true'),
};

const asked = (['neutral', 'upstream'] as const).flatMap((names) =>
  walked.map((route) => ({ name: `${route.methods[0]} ${route.path}`, names, route })),
);

describe.each(asked)('$name, with the $names names', ({ route, names }) => {
  it.each(declaredBy(route))('does what $name in the $where asks for', async ({ name, where }) => {
    const found =
      (names === 'upstream' ? ofUpstream[`${route.name}.${name}`] : undefined) ??
      pairs[route.name]?.[name] ??
      everywhere[name];
    expect(found, `no pair of values for ${route.name}.${name}`).toBeDefined();
    if (found === undefined) return;
    const [one, other] = await Promise.all(
      found.values.map((value) => outcome(route, { name, where, names }, found, value)),
    );
    expect(one?.answer).not.toMatch(/"status":500,.*internal error/);
    expect(one, JSON.stringify(found.values)).not.toEqual(other);
  });
});

interface Declared {
  readonly name: string;
  readonly where: 'query' | 'body';
  readonly names: 'neutral' | 'upstream';
}

async function outcome(route: Route, { name, where, names }: Declared, given: Pair, value: unknown) {
  const engine = given.bootstraps === true ? engineUnderTest() : await filledEngine();
  await given.prepare?.(engine);
  const caller = given.caller ?? hostPrincipal;
  const handler = createHttpHandler(engine, {
    ...(given.bootstraps === true ? bootstrapping : { authenticate: () => caller }),
    names,
  });
  const body = {
    ...((bodyFor(route) ?? {}) as object),
    ...given.beside,
    ...(where === 'body' ? { [name]: value } : {}),
  };
  const target = given.query === undefined ? targetFor(route) : `${targetFor(route)}?${given.query}`;
  const query = where === 'query' && value !== undefined ? `${name}=${encodeURIComponent(String(value))}` : '';
  const sample = target.split('?')[1]?.startsWith(name + '=') === true ? target.slice(0, target.indexOf('?')) : target;
  const response = await handler(
    requestFrom({
      method: route.methods[0],
      target: query === '' ? sample : sample + (sample.includes('?') ? '&' : '?') + query,
      ...((given.bodied ?? bodyFor(route) !== undefined) ? { body } : {}),
    }),
  );
  const answer = JSON.stringify({ status: response.status, body: response.body.toString(), headers: response.headers });
  return { answer, store: (await engine.storage.read(textOfStore))._unsafeUnwrap() };
}

/** Everything that is stored. */
function textOfStore(view: ReadView): string {
  return tables
    .map(
      ({ table }) =>
        `${table.name}: ${view
          .list(table)
          .map((row) => row.text)
          .join('\n')}`,
    )
    .join('\n\n');
}

describe('the list of pairs', () => {
  it('names nothing that no route declares', () => {
    const known = new Map(routeTable.map((route) => [route.name, [...parametersOf(route), ...fieldsOf(route)]]));
    const stale = Object.entries(pairs).flatMap(([operation, names]) =>
      Object.keys(names)
        .filter((name) => known.get(operation)?.includes(name) !== true)
        .map((name) => `${operation}.${name}`),
    );
    expect(stale).toEqual([]);
    expect(pathValues['workspace_id']).toBeDefined();
  });
});
