import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { nomadRoutes } from '../../../adapters/compat/nomad.js';
import { routeTable } from '../../../adapters/http-server/calls/route-table.js';
import type { Route } from '../../../adapters/http-server/calls/router.js';
import { recordedTranscripts } from '../../replay/http/player.js';
import { everything, filledEngine } from './engine-under-test.js';
import { targetFor } from './route-samples.js';
import { bodyText, type VariedServer, variedServer } from './varied-server.js';

/*
 * Every null in an answer of the job interface, by its place. It may be there if the upstream's recorded answers have one in the same
 * place, or if it is listed below as documented. Clients fail at other ones: those must be an object, a list, or left out.
 */

/** Places at which upstream's documentation or the types of its public client allow null, and which no recorded answer has. */
const documented: Readonly<Record<string, readonly string[]>> = {
  ACLPolicy: ['/JobACL', ...['Agent', 'Node', 'Operator', 'Plugin', 'Quota'].map((area) => `/RulesJSON/${area}`)],
  AllocatedResources: ['/Shared/Networks', '/Shared/Ports'],
  Allocation: ['/NetworkStatus/DNS'],
  AllocationListStub: ['/TaskStates'],
  Deployment: ['/TaskGroups/*/RequireProgressBy'],
  EVENT: ['/FilterKeys'],
  JobService: [
    ...['/CanaryMeta', '/CanaryTags', '/Checks', '/Connect', '/Identity', '/Meta', '/TaggedAddresses', '/Tags'],
    '/Weights',
  ],
  Node: ['/Events/*/Details', '/LastDrain', '/NodeResources/Devices'],
  NodePool: ['/Meta'],
  TaskState: ['/Events'],
};

/** Where records stand in answers and in other records. An answer is named by its method and route, an event by `EVENT`. */
const records: readonly (readonly [within: string, pointer: string, kind: string])[] = [
  ['GET /v1/job/{job_id}', '', 'Job'],
  ['GET /v1/job/{job_id}/versions', '/Versions/*', 'Job'],
  ['GET /v1/node/{node_id}/allocations', '/*', 'Allocation'],
  ['GET /v1/allocation/{allocation_id}', '', 'Allocation'],
  ['Allocation', '/Job', 'Job'],
  ['GET /v1/allocations', '/*', 'AllocationListStub'],
  ['GET /v1/job/{job_id}/allocations', '/*', 'AllocationListStub'],
  ['GET /v1/evaluation/{evaluation_id}/allocations', '/*', 'AllocationListStub'],
  ['GET /v1/deployment/allocations/{deployment_id}', '/*', 'AllocationListStub'],
  ['GET /v1/evaluations', '/*', 'Evaluation'],
  ['GET /v1/job/{job_id}/evaluations', '/*', 'Evaluation'],
  ['GET /v1/evaluation/{evaluation_id}', '', 'Evaluation'],
  ['GET /v1/deployments', '/*', 'Deployment'],
  ['GET /v1/job/{job_id}/deployments', '/*', 'Deployment'],
  ['GET /v1/deployment/{deployment_id}', '', 'Deployment'],
  ['GET /v1/namespaces', '/*', 'Namespace'],
  ['GET /v1/namespace/{name}', '', 'Namespace'],
  ['GET /v1/node/pools', '/*', 'NodePool'],
  ['GET /v1/node/pool/{name}', '', 'NodePool'],
  ['GET /v1/nodes', '/*', 'Node'],
  ['GET /v1/node/pool/{name}/nodes', '/*', 'Node'],
  ['GET /v1/node/{node_id}', '', 'Node'],
  ['GET /v1/jobs', '/*', 'JobListStub'],
  ['GET /v1/node/pool/{name}/jobs', '/*', 'JobListStub'],
  ['GET /v1/jobs/statuses', '/*', 'JobStatus'],
  ['PUT /v1/jobs/statuses', '/*', 'JobStatus'],
  ['GET /v1/acl/tokens', '/*', 'ACLToken'],
  ['GET /v1/acl/token/{accessor_id}', '', 'ACLToken'],
  ['GET /v1/acl/token/self', '', 'ACLToken'],
  ['PUT /v1/acl/token', '', 'ACLToken'],
  ['PUT /v1/acl/token/{accessor_id}', '', 'ACLToken'],
  ['GET /v1/acl/policies', '/*', 'ACLPolicy'],
  ['GET /v1/acl/policy/{name}', '', 'ACLPolicy'],
  ...['Job', 'Allocation', 'Evaluation', 'Deployment', 'Node', 'NodePool', 'ACLToken', 'ACLPolicy', 'Service'].map(
    (kind) => ['EVENT', `/Payload/${kind}`, kind] as const,
  ),
  ['Job', '/TaskGroups/*/Services/*', 'JobService'],
  ['Job', '/TaskGroups/*/Tasks/*/Services/*', 'JobService'],
  ['Job', '/TaskGroups/*/Tasks/*/Resources', 'Resources'],
  ['Allocation', '/Resources', 'Resources'],
  ['Allocation', '/SharedResources', 'Resources'],
  ['Allocation', '/TaskResources/*', 'Resources'],
  ['Metrics', '/ResourcesExhausted/*', 'Resources'],
  ['Allocation', '/Metrics', 'Metrics'],
  ['Evaluation', '/FailedTGAllocs/*', 'Metrics'],
  ['PUT /v1/job/{job_id}/plan', '/FailedTGAllocs/*', 'Metrics'],
  ...['Allocation', 'AllocationListStub'].flatMap((kind) => [
    [kind, '/AllocatedResources', 'AllocatedResources'] as const,
    [kind, '/TaskStates/*', 'TaskState'] as const,
    [kind, '/DesiredTransition', 'DesiredTransition'] as const,
  ]),
  ['GET /v1/job/{job_id}/versions', '/Diffs/*', 'JobDiff'],
  ['PUT /v1/job/{job_id}/plan', '/Diff', 'JobDiff'],
  ['JobDiff', '/TaskGroups/*', 'PartDiff'],
  ['PartDiff', '/Tasks/*', 'PartDiff'],
  ...['JobDiff', 'PartDiff', 'ObjectDiff'].flatMap((kind) => [
    [kind, '/Objects/*', 'ObjectDiff'] as const,
    [kind, '/Fields/*', 'FieldDiff'] as const,
  ]),
];

/** Members whose own members have free names. */
const maps: ReadonlySet<string> = new Set([
  ...['Attributes', 'Links', 'Drivers', 'HostVolumes', 'HostNetworks', 'TaskStates', 'Summary', 'Tasks', 'TaskGroups'],
  ...['TaskLifecycles', 'TaskResources', 'FailedTGAllocs', 'DesiredTGUpdates', 'QueuedAllocations', 'ClassEligibility'],
  ...['Items', 'Volumes', 'ResourcesExhausted', 'Matches', 'Truncations', 'VariableFlags', 'Pids', 'Dynamic', 'Env'],
]);
/** Members with contents of the job's author. */
const opaque: ReadonlySet<string> = new Set(['Config', 'Policy', 'Meta']);

/** Collects the kinds of values by place. */
class Places {
  readonly kinds = new Map<string, Set<string>>();

  take(within: string, value: unknown, pointer = ''): void {
    const place = placeOf(within, pointer);
    const kinds = this.kinds.get(place) ?? new Set();
    this.kinds.set(place, kinds.add(value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value));
    const last = pointer.slice(pointer.lastIndexOf('/') + 1);
    if (typeof value !== 'object' || value === null || opaque.has(last)) return;
    for (const [name, member] of Object.entries(value)) {
      this.take(within, member, `${pointer}/${Array.isArray(value) ? '*' : name}`);
    }
  }

  get nulls(): readonly string[] {
    return [...this.kinds]
      .filter(([, kinds]) => kinds.has('null'))
      .map(([place]) => place)
      .sort();
  }
}

function placeOf(within: string, pointer: string): string {
  let [kind, rest] = [within, withoutNames(pointer)];
  for (;;) {
    const row = records
      .filter(([of, at]) => of === kind && (rest === at || rest.startsWith(`${at}/`)))
      .sort(([, left], [, right]) => right.length - left.length)[0];
    if (row === undefined) return `${kind} ${rest}`;
    [kind, rest] = [row[2], rest.slice(row[1].length)];
  }
}

function withoutNames(pointer: string): string {
  let isName = false;
  const segments = pointer.split('/').map((segment) => {
    const shown = isName ? '*' : segment;
    isName = !isName && maps.has(segment);
    return shown;
  });
  return segments.join('/');
}

const inOrder = [...routeTable, ...nomadRoutes]
  .filter((route) => route.interface === 'jobs')
  .map((route) => ({ route, pattern: new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
  .sort((left, right) => left.route.path.split('{').length - right.route.path.split('{').length);

/** The name of an answer in `records`. */
function answerOf(method: string, path: string): string {
  const write = method === 'POST' ? 'PUT' : method;
  const route = inOrder.find(
    ({ route: { methods }, pattern }) => pattern.test(path) && methods.some((one) => one === method || one === write),
  )?.route;
  return `${write} ${route?.path ?? path}`;
}

interface RecordedAnswer {
  readonly status?: number;
  readonly json?: unknown;
}

/** What the upstream's recorded answers have. */
function recordedPlaces(): Places {
  const places = new Places();
  const access = new URL('../../replay/access/exchanges.json', import.meta.url);
  const steps = [...recordedTranscripts(), ...recordedTranscripts(access)].flatMap(({ steps: all }) => all);
  for (const { method = 'GET', path = '', pick, pickJson, answer } of steps) {
    const { status, json } = (answer ?? {}) as RecordedAnswer;
    if (status !== 200 || json === undefined || path.startsWith('/v1/event/')) continue;
    const within = answerOf(method, path);
    if (pick === undefined && pickJson === undefined) places.take(within, json);
    else for (const [pointer, value] of picked(json)) places.take(within, value, pointer);
  }
  return places;
}

/** The values at each recorded pointer. */
function picked(json: unknown): readonly (readonly [pointer: string, value: unknown])[] {
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([pointer, values]) =>
    [values].flat().map((value) => [pointer.replace(/\/$/, ''), value] as const),
  );
}

/** Answers that are no JSON document, and those of the protocol between a server and its agents. */
const notRead = /^(files\.(read|readAt|stream|logs)|system\.monitor|cluster\.events|agents\..*|nodes\.collect)$/;

const readings = inOrder
  .map(({ route }) => route)
  .filter((route) => route.socket === undefined && route.methods.includes('GET') && !notRead.test(route.name));

/** Everything that a server with one of each record answers to reads. */
async function takeReads(places: Places, names: 'neutral' | 'upstream'): Promise<readonly string[]> {
  const handler = createHttpHandler(await filledEngine(), { ...everything, names });
  const refused: string[] = [];
  for (const route of readings) {
    if (names === 'neutral' && !routeTable.includes(route)) continue;
    const response = await handler(requestFrom({ target: targetFor(route) }));
    const text = await bodyText(response);
    if (response.status === 200) places.take(answerOf('GET', route.path), JSON.parse(text));
    else refused.push(`${route.name} ${response.status} ${text}`);
  }
  return refused;
}

const fullest =
  '?namespace=*&resources=true&os=true&meta=true&diffs=true&version=0&related=true&include_children=true&task_states=true';

type Listed = readonly Readonly<Record<string, string>>[];

/** Everything that a server with varied records answers to reads of each of them. */
async function takeVaried(places: Places, { handler, changes }: VariedServer): Promise<void> {
  for (const { path, text } of changes) places.take(answerOf('PUT', path), JSON.parse(text));
  const list = async (path: string, member = 'ID'): Promise<readonly string[]> => {
    const listed = JSON.parse(await bodyText(await handler(requestFrom({ target: path })))) as Listed;
    return listed.map((record) => record[member] ?? '');
  };
  const values: Readonly<Record<string, readonly string[]>> = {
    job_id: await list('/v1/jobs'),
    allocation_id: await list('/v1/allocations'),
    evaluation_id: await list('/v1/evaluations'),
    deployment_id: await list('/v1/deployments'),
    node_id: await list('/v1/nodes'),
    policy_id: await list('/v1/scaling/policies'),
    role_id: await list('/v1/acl/roles'),
    accessor_id: await list('/v1/acl/tokens', 'AccessorID'),
    path: ['app/one', 'app/lock'],
    service_name: ['web'],
    name: ['default', 'all', 'least', 'whole'],
  };
  for (const route of readings.filter(({ path }) => !path.startsWith('/v1/client/'))) {
    const parameter = /\{(\w+)\}/.exec(route.path)?.[1];
    for (const value of parameter === undefined ? [''] : (values[parameter] ?? [])) {
      const target = route.path.replace(/\{\w+\}/, encodeURIComponent(value));
      for (const query of ['', fullest]) {
        const response = await handler(requestFrom({ target: target + query }));
        if (response.status === 200) places.take(answerOf('GET', route.path), JSON.parse(await bodyText(response)));
      }
    }
  }
}

interface EventLine {
  readonly Events?: readonly { readonly Topic: string }[];
}

/** Everything that the event stream sends of what has happened so far. */
async function takeEvents(places: Places, { handler, cluster }: VariedServer): Promise<readonly string[]> {
  const last = (await cluster.storage.read((view) => view.index))._unsafeUnwrap();
  const response = await handler(requestFrom({ target: '/v1/event/stream?namespace=*&index=1' }));
  const topics = new Set<string>();
  // A change at the end, so that the stream has an end.
  await handler(requestFrom({ method: 'PUT', target: '/v1/node/pools', body: { Name: 'end-of-stream' } }));
  for await (const piece of response.body as AsyncIterable<Uint8Array>) {
    for (const line of piece.toString().split('\n').filter(Boolean)) {
      const { Events = [] } = JSON.parse(line) as EventLine;
      for (const event of Events) {
        topics.add(event.Topic);
        places.take('EVENT', event);
      }
    }
    if (piece.toString().includes('end-of-stream')) break;
  }
  expect(last).toBeGreaterThan(100);
  return [...topics];
}

const recorded = recordedPlaces();
const listed = Object.entries(documented).flatMap(([kind, pointers]) => pointers.map((at) => `${kind} ${at}`));
const allowed: ReadonlySet<string> = new Set([...recorded.nulls, ...listed]);

describe.each(['upstream', 'neutral'] as const)('answers with %s names', (names) => {
  it('are null only where clients of the upstream expect it', { timeout: 60_000 }, async () => {
    const places = new Places();
    expect(await takeReads(places, names)).toEqual([]);
    await using server = await variedServer(names);
    await takeVaried(places, server);
    const topics = await takeEvents(places, server);
    expect(topics).toEqual(expect.arrayContaining(['Job', 'Evaluation', 'Allocation', 'Deployment', 'NodePool']));
    expect(places.nulls.filter((place) => !allowed.has(place))).toEqual([]);
    // What is listed is needed: it occurs, and nothing recorded allows it.
    expect(listed.filter((place) => !places.nulls.includes(place) || recorded.nulls.includes(place))).toEqual([]);
  });
});

it('the recorded answers have nulls in many places, and none where clients fail at one', () => {
  expect(recorded.nulls.length).toBeGreaterThan(150);
  const places = new Places();
  places.take('GET /v1/node/{node_id}', { Meta: null, Drivers: { raw_exec: { Attributes: null } } });
  places.take('GET /v1/job/{job_id}', { TaskGroups: [{ Tasks: null }], Meta: null });
  places.take('EVENT', { Topic: 'Job', Payload: { Job: null } });
  expect(places.nulls.filter((place) => !allowed.has(place))).toEqual([
    'Job ',
    'Job /TaskGroups/*/Tasks',
    'Node /Drivers/*/Attributes',
    'Node /Meta',
  ]);
});

it('every reading route is walked', () => {
  expect(readings.length).toBeGreaterThan(60);
  const skipped = routeTable.filter(
    (route: Route) => route.interface === 'jobs' && route.methods.includes('GET') && !readings.includes(route),
  );
  expect(skipped.filter(({ name, socket }) => socket === undefined && !notRead.test(name))).toEqual([]);
});
