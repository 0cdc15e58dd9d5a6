import { ok, okAsync } from 'neverthrow';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../../adapters/memory/index.js';
import { HostMeter } from '../../../adapters/runner/commands/command-handler.js';
import type { CommandOutput, CommandPerformer, NodeCommand } from '../../../src/agent/link/node-command.js';
import { defineFunction } from '../../../src/functions/define-function.js';
import {
  createEngine,
  type Engine,
  hostPrincipal,
  type Principal,
  type SettingsOverrides,
} from '../../../src/index.js';
import { putPolicy } from '../../../src/operations/access/policies.js';
import { putRole } from '../../../src/operations/access/roles.js';
import { tokenAuthenticator } from '../../../src/operations/access/tokens/authenticate-token.js';
import { createOneTimeToken } from '../../../src/operations/access/tokens/one-time-token.js';
import { saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { cancelJobRestart, restartJob } from '../../../src/operations/allocations/restart-job.js';
import { createFunctions } from '../../../src/operations/functions/create-functions.js';
import { tagJobVersion } from '../../../src/operations/jobs/job-versions.js';
import { listJobAllocations } from '../../../src/operations/jobs/reading/read-allocations.js';
import { readLatestDeployment } from '../../../src/operations/jobs/reading/read-deployments.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { putNamespace } from '../../../src/operations/namespaces/namespaces.js';
import { putNodePool } from '../../../src/operations/nodes/node-pools.js';
import { setSchedulerConfiguration } from '../../../src/operations/nodes/scheduler-configuration.js';
import { createNotificationConfiguration } from '../../../src/operations/notifications/configurations/create-notification-configuration.js';
import { putEventType } from '../../../src/operations/notifications/events/event-types.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { startBulkRedelivery } from '../../../src/operations/notifications/log/recoveries.js';
import { putUser, putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { reportAllocations } from '../../../src/operations/scheduling/report-allocations.js';
import { putVariable } from '../../../src/operations/variables/write-variable.js';
import type { Logger } from '../../../src/ports/index.js';
import type { Storage, WriteView } from '../../../src/ports/storage.js';
import { pendingTask } from '../../../src/scheduler/allocation.js';
import type { Deployment } from '../../../src/scheduler/index.js';
import { type ServiceRegistration, serviceRegistrations } from '../../../src/services/service-registration.js';
import type { Table } from '../../../src/shared/table.js';
import type { StoreContents } from '../../../src/storage/store-contents.js';
import { nodeFrom } from '../../support/nodes.js';
import { pathValues, sampleJob } from './route-samples.js';

/** An engine on memory storage, not started: nothing moves unless a request moves it. */
export function engineUnderTest(settings: SettingsOverrides = {}, logger?: Logger, clock = manualClock()): Engine {
  return engineOn(clock, settings, logger);
}

function engineOn(
  clock: ManualClock,
  settings: SettingsOverrides,
  logger: Logger | undefined,
  storage = memoryStorage(),
  ids = sequentialIds(),
): Engine {
  const ports = { storage, clock, ids, delivery: recordingDelivery({ clock }) };
  return createEngine(logger === undefined ? ports : { ...ports, logger }, settings);
}

/** Everything is allowed, and callers are known by a token of their own. */
export const everything = {
  authenticate: (): Principal => ({ ...hostPrincipal, accessor: pathValues['accessor_id'] ?? '' }),
};

/** The first caller gets the first token, if the engine has none. */
export const bootstrapping = { access: 'token', bootstrap: true } as const;

/** What `filledEngine` begins with, by its settings: filling one store takes as long as a hundred requests. */
const filled = new Map<string, Promise<StoreContents>>();

/** An engine with one of everything that a request can name; `pathValues` says what is called how. Nothing moves any more. */
export async function filledEngine(settings: SettingsOverrides = {}, logger?: Logger): Promise<Engine> {
  const key = JSON.stringify(settings);
  const contents = await (filled.get(key) ?? filled.set(key, filledStore(settings)).get(key));
  const storage = memoryStorage(contents === undefined ? {} : { contents });
  const engine = engineOn(manualClock(contents?.at), settings, logger, storage, sequentialIds({ after: 1000 }));
  engine.agents.attach(nodeId, answeringNode);
  createFunctions(engine, [sampleFunction]);
  return engine;
}

const nodeId = '00000000-0000-4000-8000-00000000000a';

/** A function whose runs have a step, and fail for an odd number. */
const sampleFunction = defineFunction<{ n: number }, { n: number }, { n: number }>(
  {
    name: 'mail/send',
    concurrency: 5,
    rate: { limit: 100, per: '1m' },
    cron: '0 3 1 1 *',
    retry: { attempts: 1 },
  },
  async ({ n }, run) => {
    await run.step('look up', () => n);
    if (n % 2 === 1) throw new Error('odd');
    return { n };
  },
);

async function filledStore(settings: SettingsOverrides): Promise<StoreContents> {
  const clock = manualClock();
  const tables = new Set<Table<unknown>>();
  const storage = watchingTables(memoryStorage(), tables);
  await fill(engineOn(clock, settings, undefined, storage), clock);
  const contents = await storage.read((view) => ({
    at: clock.now(),
    index: view.index,
    tables: [...tables].map((table) => ({
      table,
      index: view.tableIndex(table),
      rows: view.list(table).map(({ record, createIndex, modifyIndex }) => ({ record, createIndex, modifyIndex })),
    })),
  }));
  return contents._unsafeUnwrap();
}

/** The same store, which adds to `tables` each table that gets a row. */
function watchingTables(storage: Storage, tables: Set<Table<unknown>>): Storage {
  const watching = (view: WriteView): WriteView =>
    new Proxy(view, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target) as unknown;
        if (name !== 'put') return typeof member === 'function' ? member.bind(target) : member;
        return (table: Table<unknown>, record: unknown) => {
          tables.add(table);
          target.put(table, record);
        };
      },
    });
  return { ...storage, write: (work, ...rest) => storage.write((view) => work(watching(view)), ...rest) };
}

async function fill(engine: Engine, clock: ManualClock): Promise<void> {
  const { Status, StatusDescription, StatusUpdatedAt, CreateIndex, ModifyIndex, ...node } = nodeFrom(nodeId);
  const roomy = { ...node.NodeResources, Disk: { DiskMB: 10_000 } };
  await registerNode(engine, hostPrincipal, { ...node, NodeResources: roomy });
  await putNamespace(engine, hostPrincipal, { name: 'spare' });
  await putWorkspace(engine, hostPrincipal, { id: 'ws-1', name: 'main', organization: 'org' });
  await putUser(engine, hostPrincipal, {
    id: 'user-1',
    username: 'ada',
    email: 'ada@example.org',
    organization: 'org',
  });
  const submission = { Source: 'job "job" {}', Format: 'hcl2', VariableFlags: null, Variables: '' };
  const registered = await registerJob(engine, hostPrincipal, { job: sampleJob('job'), submission });
  await registerJob(engine, hostPrincipal, { job: sampleJob('job', { Priority: 60 }) });
  await restartJob(engine, hostPrincipal, { jobId: 'job' });
  await cancelJobRestart(engine, hostPrincipal, { jobId: 'job' });
  await tagJobVersion(engine, hostPrincipal, { jobId: 'job', name: 'tagged', latest: true });
  const block = { Payload: 'optional' as const, MetaRequired: ['colour'], MetaOptional: ['size'] };
  await registerJob(engine, hostPrincipal, { job: sampleJob('template', { ParameterizedJob: block }) });
  await registerJob(engine, hostPrincipal, { job: sampleJob('raw-template', { ParameterizedJob: {} }) });
  await registerJob(engine, hostPrincipal, { job: sampleJob('cron', { Periodic: { Specs: ['0 0 1 1 *'] } }) });
  const updated = { Type: 'service' as const, Update: { MaxParallel: 1, HealthCheck: 'manual' as const } };
  const small = { ...sampleJob('x').TaskGroups?.[0]?.Tasks?.[0], Resources: { CPU: 20, MemoryMB: 20 } };
  for (const id of ['service', 'other-service']) {
    const TaskGroups = [{ Name: 'g', Tasks: [small], EphemeralDisk: { SizeMB: 110 } }];
    await registerJob(engine, hostPrincipal, { job: sampleJob(id, { ...updated, TaskGroups }) });
  }
  await putNodePool(engine, hostPrincipal, { name: 'spare' });
  const Scaling = { Min: 0, Max: 3, Enabled: true };
  const [group] = sampleJob('scaled', { TaskGroups: [{ Name: 'g', Count: 0, Tasks: [small] }] }).TaskGroups ?? [];
  await registerJob(engine, hostPrincipal, { job: sampleJob('scaled', { TaskGroups: [{ ...group, Scaling }] }) });
  const policies = await engine.as(hostPrincipal).scaling.policies();
  const configuration = await createNotificationConfiguration(engine, hostPrincipal, {
    workspaceId: 'ws-1',
    attributes: {
      destinationType: 'generic',
      name: 'hook',
      url: 'https://hooks.example.net/',
      enabled: true,
      triggers: ['run:errored'],
    },
  });
  const event = await sendNotificationEvent(engine, hostPrincipal, {
    workspaceId: 'ws-1',
    attributes: { trigger: 'run:errored', run_id: 'run-0' },
  });
  const policy = { name: 'spare', rules: 'node { policy = "read" }' };
  await putPolicy(engine, hostPrincipal, policy);
  const role = await putRole(engine, hostPrincipal, { name: 'spare', policies: [{ name: 'spare' }] });
  const token = await saveToken(engine, hostPrincipal, { name: 'ada', type: 'client', policies: ['spare'] });
  await rememberToken(engine, token._unsafeUnwrap().SecretID);
  await putEventType(engine, hostPrincipal, { name: 'order.created' });
  const recovery = await startBulkRedelivery(engine, hostPrincipal, { workspaceId: 'ws-1', since: 0 });
  const functions = createFunctions(engine, [sampleFunction]);
  for (const n of [0, 1]) await functions.enqueue(sampleFunction, { n }, { meta: { colour: 'red' } });
  await functions.start();
  await clock.settle();
  await functions.stop();
  const [failed] = await functions.list({ state: 'failed' });
  pathValues['function_name'] = sampleFunction.name;
  pathValues['function_run_id'] = failed?.id ?? '';
  engine.start();
  // Until all that the start set off has come to rest: how far it gets must not depend on who waits for what.
  await clock.settle();
  let allocations = (await listJobAllocations(engine, hostPrincipal, { jobId: 'job' }))._unsafeUnwrap();
  while (allocations.value.length === 0) {
    const waiting = { after: allocations.index, wait: 60_000 };
    allocations = (await listJobAllocations(engine, hostPrincipal, { jobId: 'job', waiting }))._unsafeUnwrap();
  }
  const deployment = await deploymentOf(engine, 'service');
  await deploymentOf(engine, 'other-service');
  const [own] = (await listJobAllocations(engine, hostPrincipal, { jobId: 'service' }))._unsafeUnwrap().value;
  await engine.stop();
  const allocationId = allocations.value[0]?.ID ?? '';
  const taskStates = { t: { ...pendingTask, State: 'running' as const, StartedAt: '2026-01-01T00:00:00Z' } };
  const report = { allocationId, clientStatus: 'running' as const, clientDescription: '', taskStates };
  await reportAllocations(engine, hostPrincipal, { nodeId: node.ID, reports: [report] });
  await engine.storage.write((view) => {
    for (const id of ['web-1', 'web-2']) view.put(serviceRegistrations, registration(id, allocationId, node.ID));
    return ok(undefined);
  });
  pathValues['service_name'] = 'web';
  pathValues['service_id'] = 'web-1';
  pathValues['deployment_id'] = deployment.ID;
  pathValues['service_allocation_id'] = own?.ID ?? '';
  // Evaluations can be deleted while the scheduler takes none.
  await setSchedulerConfiguration(engine, hostPrincipal, { PauseEvalBroker: true });
  pathValues['evaluation_id'] = registered._unsafeUnwrap().evalId;
  pathValues['allocation_id'] = allocations.value[0]?.ID ?? '';
  pathValues['node_id'] = node.ID;
  await putVariable(engine, hostPrincipal, { path: 'app/one', items: { k: 'v' } });
  pathValues['path'] = 'app/one';
  pathValues['role_id'] = role._unsafeUnwrap().ID;
  pathValues['accessor_id'] = token._unsafeUnwrap().AccessorID;
  pathValues['policy_id'] = policies._unsafeUnwrap().value[0]?.ID ?? '';
  pathValues['workspace_id'] = 'ws-1';
  pathValues['workspace_name'] = 'main';
  pathValues['organization'] = 'org';
  pathValues['notification_configuration_id'] = configuration._unsafeUnwrap().id;
  pathValues['event_id'] = event._unsafeUnwrap().eventId;
  pathValues['event_type'] = 'order.created';
  pathValues['recovery_id'] = recovery._unsafeUnwrap().id;
  pathValues['user_id'] = 'user-1';
  pathValues['delivery_id'] = event._unsafeUnwrap().deliveryIds[0] ?? '';
}

function registration(ID: string, AllocID: string, NodeID: string): ServiceRegistration {
  const location = {
    Namespace: 'default',
    NodeID,
    Datacenter: 'dc1',
    JobID: 'job',
    AllocID,
    Address: '127.0.0.1',
    Port: 80,
  };
  return { ID, ServiceName: 'web', Tags: [], ...location, CreateIndex: 1, ModifyIndex: 1 };
}

/** A node that answers every command with a value or a piece of a file. */
const answeringNode: CommandPerformer = (command) => okAsync(answer(command.type));

async function* answer(type: NodeCommand['type']): AsyncGenerator<CommandOutput> {
  const file = { Name: 'x', IsDir: false, Size: 1, FileMode: '-rw-r--r--', ModTime: '2026-01-01T00:00:00.000Z' };
  if (type === 'list_files') yield { type: 'value', value: [file] };
  else if (type === 'stat_file') yield { type: 'value', value: file };
  else if (type === 'stats') yield { type: 'value', value: { tasks: {}, at: 0 } };
  else if (type === 'host_stats') yield { type: 'value', value: new HostMeter().read(null, 0) };
  else if (type === 'checks') yield { type: 'value', value: {} };
  else if (type === 'restart' || type === 'signal' || type === 'collect') yield { type: 'value', value: null };
  else {
    const range = { firstByte: 0, endByte: 1, files: 1, from: 0, to: 1 };
    if (type === 'read_log') yield { type: 'value', value: range };
    yield { type: 'piece', file: 'x', offset: 1, bytes: Buffer.from('x') };
    if (type === 'stream_file' || type === 'stream_logs') yield { type: 'file_event', file: 'x', event: 'truncated' };
  }
}

async function deploymentOf(engine: Engine, jobId: string): Promise<Deployment> {
  let read = (await readLatestDeployment(engine, hostPrincipal, { jobId }))._unsafeUnwrap();
  while (read.value === null) {
    const waiting = { after: read.index, wait: 60_000 };
    read = (await readLatestDeployment(engine, hostPrincipal, { jobId, waiting }))._unsafeUnwrap();
  }
  return read.value;
}

/** Its secret, and that of a one-time token for it. */
async function rememberToken(engine: Engine, secret: string): Promise<void> {
  const holder = (await tokenAuthenticator(engine)(secret))._unsafeUnwrap();
  if (holder === undefined) throw new Error('the token is not known');
  pathValues['token_secret'] = secret;
  pathValues['one_time_secret'] = (await createOneTimeToken(engine, holder))._unsafeUnwrap().value.OneTimeSecretID;
}
