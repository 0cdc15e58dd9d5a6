import type { Route } from '../../../adapters/http-server/calls/router.js';
import { queryParameters, requestBodyOf } from '../../../adapters/http-server/open-api/open-api.js';
import type { Call } from '../../../src/api/call.js';
import { callsOf } from '../../../src/api/index.js';
import type { JobInput } from '../../../src/jobs/document/job-input.js';
import type { Node } from '../../../src/scheduler/node.js';
import { nodeFrom } from '../../support/nodes.js';

/** Requests that every route answers well on a `filledEngine`. */

export const sampleJob = (id: string, further: JobInput = {}): JobInput => ({
  ID: id,
  Name: id,
  Type: 'batch',
  Datacenters: ['*'],
  TaskGroups: [{ Name: 'g', Tasks: [{ Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' } }] }],
  ...further,
});

/** A node as its agent describes it. */
export function sampleNode(id: string, further: Partial<Node> = {}) {
  const { Status, StatusDescription, StatusUpdatedAt, CreateIndex, ModifyIndex, ...node } = nodeFrom(id, further);
  return node;
}

const configuration = {
  type: 'notification-configurations',
  attributes: { 'destination-type': 'generic', name: 'hook', url: 'https://hooks.example.net/x', enabled: true },
};

const bodies: Readonly<Record<string, unknown>> = {
  'jobs.register': { Job: sampleJob('new') },
  'jobs.statusesOf': { Jobs: [{ ID: 'job' }] },
  'jobs.update': { Job: sampleJob('job') },
  'jobs.plan': { Job: sampleJob('job', { Priority: 70 }), Diff: true },
  'jobs.dispatch': { Payload: 'aGVsbG8=', Meta: { colour: 'red' } },
  'jobs.revert': { JobID: 'job', JobVersion: 0 },
  'jobs.setStability': { JobID: 'job', JobVersion: 1, Stable: true },
  'jobs.evaluate': { JobID: 'job', EvalOptions: { ForceReschedule: true } },
  'jobs.scale': { Count: 2, Target: { Group: 'g' }, Message: 'more' },
  'jobs.tagVersion': { Version: 0, Description: 'kept' },
  'jobs.parse': { JobHCL: 'job "x" {\n  group "g" {\n    task "t" {\n      driver = "raw_exec"\n    }\n  }\n}\n' },
  'jobs.restart': { job: 'job', atOnce: 2 },
  'jobs.simulate': { Job: sampleJob('job', { Priority: 70 }), duration: '10m', workFor: '2m' },
  'jobs.cancelRestart': { job: 'job' },
  'jobs.trySchedule': { specs: ['30 2 * * *'], timeZone: 'Europe/Berlin' },
  'jobs.validate': { Job: sampleJob('x') },
  'allocations.restart': { TaskName: 't' },
  'allocations.signal': { Signal: 'SIGUSR1' },
  'deployments.pause': { DeploymentID: '{deployment_id}', Pause: true },
  'deployments.promote': { DeploymentID: '{deployment_id}', All: true },
  'deployments.unblock': { DeploymentID: '{deployment_id}' },
  'deployments.setHealth': { DeploymentID: '{deployment_id}', HealthyAllocationIDs: ['{service_allocation_id}'] },
  'nodes.setEligibility': { Eligibility: 'ineligible' },
  'nodes.drain': { DrainSpec: { Deadline: 3_600_000_000_000, IgnoreSystemJobs: true }, Meta: { why: 'disk' } },
  'agents.register': { node: sampleNode('00000000-0000-4000-8000-00000000000a') },
  'agents.variables': {
    query: { allocationId: '{allocation_id}', task: 't', variables: [{ path: 'app/one' }], prefixes: [], known: null },
  },
  'agents.report': { reports: [], ended: [] },
  'nodePools.put': { Name: 'made', Description: 'made' },
  'nodePools.putNamed': { Name: 'spare', Description: 'spare' },
  'scheduler.setConfiguration': { SchedulerAlgorithm: 'spread' },
  'functions.enqueue': { input: { n: 1 }, delay: '1h', priority: 60, meta: { colour: 'red' }, unique: 'one' },
  'functions.cancel': { state: ['queued', 'scheduled'], meta: { colour: 'red' } },
  'functions.retry': { state: 'failed', error: 'Error' },
  'functions.cancelRun': { reason: 'no longer needed' },
  'evaluations.delete': { Filter: 'Status == "nothing"' },
  'search.prefix': { Prefix: 'jo', Context: 'jobs' },
  'search.fuzzy': { Text: 'ob', Context: 'all' },
  'namespaces.put': { Name: 'made', Description: 'made' },
  'namespaces.putNamed': { Name: 'spare', Description: 'spare' },
  'variables.put': { Items: { colour: 'red' } },
  'policies.try': { rules: 'namespace "*" { policy = "read" }', call: 'jobs.read' },
  'policies.put': { Name: 'spare', Rules: 'namespace "*" { policy = "read" }' },
  'roles.create': { Name: 'made', Policies: [{ Name: 'spare' }] },
  'roles.update': { ID: '{role_id}', Name: 'changed', Policies: [{ Name: 'spare' }] },
  'tokens.create': { Name: 'made', Type: 'client', Policies: ['spare'], ExpirationTTL: '1h' },
  'tokens.update': { AccessorID: '{accessor_id}', Name: 'changed', Type: 'client', Policies: ['spare'] },
  'nodes.applyMeta': { Meta: { colour: 'blue' } },
  'tokens.exchangeOneTime': { OneTimeSecretID: '{one_time_secret}' },
  'notifications.create': { data: configuration },
  'notifications.declare': { data: configuration },
  'events.explain': {
    data: { type: 'notification-events', attributes: { trigger: 'run:errored', run_id: 'run-1' } },
  },
  'recoveries.count': { data: { type: 'notification-recoveries', attributes: { since: '2020-01-01T00:00:00Z' } } },
  'recoveries.start': { data: { type: 'notification-recoveries', attributes: { since: '2020-01-01T00:00:00Z' } } },
  'eventTypes.put': {
    data: { type: 'notification-event-types', attributes: { description: 'An order', schema: { type: 'object' } } },
  },
  'workspaces.put': { data: { type: 'workspaces', attributes: { name: 'main', organization: 'org' } } },
  'users.put': {
    data: { type: 'users', attributes: { username: 'ada', email: 'ada@example.org', organization: 'org' } },
  },
  'notifications.update': { data: { ...configuration, attributes: { name: 'renamed' } } },
  'notifications.send': {
    data: { type: 'notification-events', attributes: { trigger: 'run:errored', run_id: 'run-1' } },
  },
  'workspaces.createPortalToken': {
    data: { type: 'notification-portal-tokens', attributes: { kinds: ['generic'], configurations: 3 } },
  },
  'notifications.sendSample': { data: { type: 'notification-samples', attributes: { trigger: 'run:errored' } } },
  'deliveries.recover': {
    data: { type: 'notification-recoveries', attributes: { since: '2020-01-01T00:00:00Z' } },
  },
};

const calls = new Map(callsOf().map(({ name, call }) => [name, call]));

/** The row of the interface that a route is made from. */
export function callOf(route: Route): Call | undefined {
  return calls.get(route.name);
}

/** The query parameters that a route declares, by their first spelling. */
export function parametersOf(route: Route): readonly string[] {
  const call = callOf(route);
  return call === undefined ? [] : queryParameters(call).map(({ name }) => String(name));
}

/** The schema of the bodies that a route takes; undefined when it takes none. */
export function bodySchemaOf(route: Route): object | undefined {
  const call = callOf(route);
  const body = call === undefined ? undefined : requestBodyOf(call);
  if (body === undefined) return undefined;
  const [content] = Object.values(body['content'] as Readonly<Record<string, { readonly schema: object }>>);
  return content?.schema;
}

/** A body that the route takes; undefined where it takes none. */
export function bodyFor(route: Route): unknown {
  const body = bodies[route.name];
  if (body === undefined) return undefined;
  const named = JSON.stringify(body).replaceAll(/"\{(\w+)\}"/g, (_whole, name: string) =>
    JSON.stringify(pathValues[name] ?? 'unknown'),
  );
  return JSON.parse(named) as unknown;
}

/** What `filledEngine` has made, by the name of the path parameter. */
export const pathValues: Record<string, string> = {};

const queries: Readonly<Record<string, string>> = {
  'jobs.submission': '?version=0',
  'jobs.placement': '?job=job',
  'jobs.readRestart': '?job=job',
  'files.stat': '?path=x',
  'files.read': '?path=x',
  'files.readAt': '?path=x&offset=0',
  'files.stream': '?path=x',
  'files.logs': '?task=t&type=stdout',
  'files.readLog': '?task=t&type=stdout',
  'notifications.search': '?q=main',
};

const jobOf: Readonly<Record<string, string>> = {
  'jobs.dispatch': 'template',
  'jobs.forceLaunch': 'cron',
  'jobs.dispatchPayload': 'raw-template',
};

/** A target that exists on a `filledEngine`. */
export function targetFor(route: Route): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name === 'job_id') return jobOf[route.name] ?? 'job';
    if (name === 'name' && route.path.endsWith('/tag')) return route.name === 'jobs.tagVersion' ? 'kept' : 'tagged';
    if (name === 'name') return route.name === 'namespaces.read' ? 'default' : 'spare';
    return encodeURIComponent(pathValues[name] ?? 'unknown');
  });
  return path + (queries[route.name] ?? '');
}
