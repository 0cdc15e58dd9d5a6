import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import {
  createEngine,
  createNotificationConfiguration,
  type Engine,
  hostPrincipal,
  type Logger,
  listJobAllocations,
  putNamespace,
  putUser,
  putWorkspace,
  registerJob,
  registerNode,
  type SettingsOverrides,
  sendNotificationEvent,
  tagJobVersion,
} from '../../../src/index.js';
import { nodeFrom } from '../../support/nodes.js';
import { places, sampleJob } from './route-samples.js';

/** An engine on memory storage, not started: nothing moves unless a request moves it. */
export function engineUnderTest(settings: SettingsOverrides = {}, logger?: Logger): Engine {
  const clock = manualClock();
  const ports = {
    storage: memoryStorage(),
    clock,
    ids: sequentialIds(),
    delivery: recordingDelivery({ clock }),
  };
  return createEngine(logger === undefined ? ports : { ...ports, logger }, settings);
}

/** An engine with one of everything that a request can name; `places` says what is called how. Nothing moves any more. */
export async function filledEngine(settings: SettingsOverrides = {}, logger?: Logger): Promise<Engine> {
  const engine = engineUnderTest(settings, logger);
  const { Status, StatusDescription, StatusUpdatedAt, CreateIndex, ModifyIndex, ...node } = nodeFrom(
    '00000000-0000-4000-8000-00000000000a',
  );
  await registerNode(engine, hostPrincipal, node);
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
  await tagJobVersion(engine, hostPrincipal, { jobId: 'job', name: 'tagged', latest: true });
  const block = { Payload: 'optional', MetaRequired: ['colour'], MetaOptional: ['size'] };
  await registerJob(engine, hostPrincipal, { job: sampleJob('template', { ParameterizedJob: block }) });
  await registerJob(engine, hostPrincipal, { job: sampleJob('raw-template', { ParameterizedJob: {} }) });
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
  engine.start();
  let allocations = (await listJobAllocations(engine, hostPrincipal, { jobId: 'job' }))._unsafeUnwrap();
  while (allocations.value.length === 0) {
    const waiting = { after: allocations.index, wait: 60_000 };
    allocations = (await listJobAllocations(engine, hostPrincipal, { jobId: 'job', waiting }))._unsafeUnwrap();
  }
  await engine.stop();
  places['evaluation_id'] = registered._unsafeUnwrap().evalId;
  places['allocation_id'] = allocations.value[0]?.ID ?? '';
  places['node_id'] = node.ID;
  places['workspace_id'] = 'ws-1';
  places['notification_configuration_id'] = configuration._unsafeUnwrap().id;
  places['delivery_id'] = event._unsafeUnwrap().deliveryIds[0] ?? '';
  return engine;
}
