import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { createHttpHandler, nodeListener } from '../../adapters/compat/index.js';
import type { Client } from '../../src/client/client.js';
import { connect, SignalboxError } from '../../src/client/index.js';
import { type Engine, hostPrincipal, type Principal } from '../../src/index.js';
import { engineUnderTest, filledEngine } from '../adapters/http-server/engine-under-test.js';
import { pathValues, sampleJob } from '../adapters/http-server/route-samples.js';

/*
 * One interface, two transports: whatever a caller does, the client in process and the client over HTTP give the same
 * values and the same errors, and leave the same store behind.
 */

interface Side {
  readonly engine: Engine;
  readonly box: Client;
}

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

type Transport = (engine: Engine, caller: Principal) => Promise<Client>;

async function overHttp(engine: Engine, caller: Principal): Promise<Client> {
  const server = createServer(nodeListener(createHttpHandler(engine, { authenticate: () => caller })));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return connect({ url, notificationsPath: engine.settings.notifications.basePath });
}

const transports: Readonly<Record<string, Transport>> = {
  'in process': async (engine, caller) => engine.as(caller),
  'over HTTP': overHttp,
};

/** What a scenario does with a client; what it gives is compared. */
type Scenario = (side: Side) => Promise<unknown>;

const report = sampleJob('report', { Meta: { team: 'a' } });
const template = sampleJob('template2', {
  ParameterizedJob: { Payload: 'optional', MetaRequired: ['colour'], MetaOptional: ['size'] },
});
const hook = {
  destinationType: 'generic',
  name: 'hook 2',
  url: 'https://hooks.example.net/2',
  enabled: true,
  triggers: ['run:errored', 'run:completed'],
  users: ['user-1'],
} as const;

const scenarios: Readonly<Record<string, Scenario>> = {
  'a job from its registration to its purge': async ({ box }) => [
    await box.jobs.register(report, { enforceIndex: 0, evalPriority: 60 }),
    await box.jobs.register(report, { enforceIndex: 0 }),
    await box.jobs.register({ ...report, Priority: 70 }, { submission: { Source: 'job "report" {}', Format: 'hcl2' } }),
    await box.jobs.update('report', { ...report, Priority: 80 }),
    await box.jobs.update('other', report),
    await box.jobs.read('report'),
    await box.jobs.submission('report', 1),
    await box.jobs.submission('report', 0),
    await box.jobs.versions('report'),
    await box.jobs.revert('report', 0, { enforcePriorVersion: 2 }),
    await box.jobs.setStability('report', 1, true),
    await box.jobs.tagVersion('report', 'kept', { version: 1, description: 'as it was' }),
    await box.jobs.untagVersion('report', 'kept'),
    await box.jobs.untagVersion('report', 'kept'),
    await box.jobs.evaluate('report', { forceReschedule: true }),
    await box.jobs.scale('report', 'g', { count: 4, message: 'more', meta: { by: 'test' } }),
    await box.jobs.scale('report', 'none', { count: 4, message: 'more' }),
    await box.jobs.scale('nobody', 'g', { count: 4, message: 'more' }),
    await box.jobs.scale('report', 'g', { count: 4, message: 'more', targetJob: 'nobody' }),
    await box.jobs.scaleStatus('report'),
    await box.jobs.summary('report'),
    await box.jobs.allocations('report', { all: true }),
    await box.jobs.evaluations('report'),
    await box.jobs.deployments('report'),
    await box.jobs.latestDeployment('report'),
    await box.jobs.stop('report', { evalPriority: 99 }),
    await box.jobs.stop('report', { purge: true }),
    await box.jobs.stop('report'),
    await box.jobs.read('report'),
  ],
  'instances of a parameterized job': async ({ box }) => [
    await box.jobs.register(template),
    await box.jobs.dispatch('template2', { meta: { colour: 'red' }, payload: btoa('hello'), idempotencyToken: 'once' }),
    await box.jobs.dispatch('template2', { meta: { colour: 'red' }, idempotencyToken: 'once' }),
    await box.jobs.dispatch('template2'),
    await box.jobs.dispatch('nobody', { meta: {} }),
    await box.jobs.dispatch('template2', { meta: { colour: 'red' }, idPrefixTemplate: 'p', priority: 7 }),
    await box.jobs.dispatchPayload('raw-template', new TextEncoder().encode('as it is')),
    await box.jobs.dispatchPayload('template2', new Uint8Array([0, 255])),
    await box.jobs.list({ prefix: 'template2/' }),
  ],
  'lists and their pages': async ({ box }) => {
    const pages: unknown[] = [];
    for (let nextToken = ''; ; ) {
      const page = await box.jobs.list({ perPage: 1, ...(nextToken === '' ? {} : { nextToken }) });
      pages.push(page);
      nextToken = page.isOk() ? page.value.value.nextToken : '';
      if (nextToken === '') return pages;
    }
  },
  'lists that are asked for in other ways': async ({ box }) => [
    await box.jobs.list({ namespace: '*', reverse: true, meta: true }),
    await box.jobs.list({ filter: 'ID == "x"' }),
    await box.evaluations.list({ status: 'complete', job: 'job' }),
    await box.allocations.list({ resources: true, taskStates: false }),
    await box.deployments.list(),
    await box.nodes.list({ resources: true, os: true }),
    await box.nodes.list({ prefix: 'ff' }),
    await box.namespaces.list({ prefix: 's' }),
  ],
  'single records': async ({ box }) => [
    await box.evaluations.read(pathValues['evaluation_id'] ?? ''),
    await box.evaluations.read('nothing'),
    await box.evaluations.allocations(pathValues['evaluation_id'] ?? ''),
    await box.allocations.read(pathValues['allocation_id'] ?? ''),
    await box.allocations.read('11111111-2222-4333-8444-555555555555'),
    await box.nodes.read(pathValues['node_id'] ?? ''),
    await box.nodes.read('nobody'),
  ],
  'IDs that need escaping': async ({ box }) => {
    const answers: unknown[] = [];
    for (const ID of ['a/b', 'a b', 'ä%2F', '100%', 'q?x=1#y', "it's+more&"]) {
      answers.push(await box.jobs.register(sampleJob(ID)), await box.jobs.read(ID), await box.jobs.stop(ID));
    }
    return [...answers, await box.jobs.list({ namespace: 'default', prefix: 'ä', perPage: 1 })];
  },
  'a job file': async ({ box }) => [
    await box.jobs.parse('job "x" {\n  group "g" {\n    task "t" {\n      driver = "raw_exec"\n    }\n  }\n}\n'),
    await box.jobs.parse('job "x" {', { canonicalize: true }),
    await box.jobs.parse(''),
    await box.jobs.validate(sampleJob('x')),
    await box.jobs.validate(sampleJob('x', { Priority: 900 })),
    await box.jobs.validate({ ID: 7 } as never),
  ],
  namespaces: async ({ box }) => [
    await box.namespaces.put('team', {
      description: 'Team',
      meta: { a: 'b' },
      capabilities: { DisabledTaskDrivers: ['x'] },
    }),
    await box.namespaces.read('team'),
    await box.namespaces.putNamed('team'),
    await box.namespaces.read('team'),
    await box.namespaces.put('a b'),
    await box.namespaces.remove('team'),
    await box.namespaces.remove('team'),
    await box.namespaces.remove('default'),
    await box.namespaces.read('nobody'),
  ],
  variables: async ({ box }) => [
    await box.variables.put('app', { items: { a: '1' }, cas: 0 }),
    await box.variables.put('app', { items: { a: '2' }, cas: 0 }),
    await box.variables.read('app'),
    await box.variables.list(),
    await box.variables.remove('app', { cas: 999 }),
    await box.variables.remove('app'),
    await box.variables.remove('app'),
    await box.variables.read('app'),
  ],
  notifications: async ({ box }) => {
    const made = await box.notifications.create('ws-1', hook);
    const id = made._unsafeUnwrap().id;
    const sent = await box.notifications.send('ws-1', {
      trigger: 'run:errored',
      run_id: 'run-9',
      idempotency_key: 'k',
    });
    const delivery = sent._unsafeUnwrap().deliveryIds[0] ?? '';
    return [
      made,
      sent,
      await box.notifications.create('ws-1', { name: '' }),
      await box.notifications.create('nowhere', hook),
      await box.notifications.list('ws-1'),
      await box.notifications.list('ws-1', { pageNumber: 1, pageSize: 1 }),
      await box.notifications.list('ws-1', { pageSize: 101 }),
      await box.notifications.show(id),
      await box.notifications.update(id, { name: 'renamed', users: null }),
      await box.notifications.update(id, { triggers: ['none' as 'run:errored'] }),
      await box.notifications.verify(id),
      await box.notifications.enable(id),
      await box.notifications.send('ws-1', { trigger: 'run:errored', run_id: 'run-9', idempotency_key: 'k' }),
      await box.notifications.send('ws-1', { trigger: 'none' }),
      await box.deliveries.list(id, { outcome: 'pending', trigger: 'run:errored', pageSize: 5 }),
      await box.deliveries.list(id, { outcome: 'none' }),
      await box.deliveries.show(delivery),
      await box.deliveries.redeliver(delivery),
      await box.deliveries.recover(id, { since: '2020-01-01T00:00:00Z' }),
      await box.deliveries.recover(id, { since: 'yesterday' }),
      await box.deliveries.recover('nobody', { since: 'yesterday' }),
      await box.notifications.delete(id),
      await box.notifications.show(id),
      await box.notifications.ping(),
    ];
  },
  'the server itself': async ({ box }) => [
    await box.system.health(),
    await box.system.ready(),
    await box.system.agentHealth({ type: 'server' }),
    await box.system.leader(),
    await box.system.peers(),
    await box.system.regions(),
  ],
  'files and logs': async ({ box }) => {
    const id = pathValues['allocation_id'] ?? '';
    return [
      await gathered(box.files.read(id, { path: 'x' })),
      await gathered(box.files.readAt(id, { path: 'x', offset: 0 })),
      await gathered(box.files.stream(id, { path: 'x', follow: false })),
      await gathered(box.files.logs(id, { task: 't', type: 'stdout' })),
      await gathered(box.files.logs(id, { task: 't', type: 'stdout', plain: true })),
      await gathered(box.files.logs(id, { task: 't', type: 'stdout', download: true })),
      await gathered(box.files.read(id, { path: 'x', download: true })),
      await box.files.readLog(id, { task: 't', type: 'stdout' }),
      await box.files.readLog(id, { task: 't', type: 'stdout', from: 0, limit: 1 }),
      await box.files.readLog(id, { task: 't', type: 'nothing' }),
      await gathered(box.files.logs(id, { task: 't', type: 'nothing' })),
      await gathered(box.files.logs('00000000-0000-4000-8000-0000000000ff', { task: 't', type: 'stdout' })),
    ];
  },
  'another region': async ({ box }) => [
    await box.jobs.list({ region: 'global' }),
    await box.jobs.list({ region: 'elsewhere' }),
    await box.jobs.register(report, { region: 'elsewhere' }),
    await box.nodes.list({ region: 'elsewhere' }),
  ],
};

/** The items of a stream, bytes as text; the error that ended it comes last. */
async function gathered(items: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  try {
    for await (const item of items) all.push(withText(item));
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    all.push(error.cause);
  }
  return all;
}

function withText(item: unknown): unknown {
  if (item instanceof Uint8Array) return Buffer.from(item).toString();
  const { bytes, ...rest } = item as { readonly bytes?: Uint8Array };
  return bytes === undefined ? rest : { ...rest, bytes: Buffer.from(bytes).toString() };
}

const reader: Principal = {
  ...hostPrincipal,
  accessor: 'r',
  name: 'reader',
  management: false,
  namespaces: { default: { capabilities: [], policy: 'read' } },
};

async function outcome(transport: Transport, caller: Principal, scenario: Scenario, upstream: boolean) {
  const engine = await filledEngine(upstream ? { notifications: { names: 'upstream', basePath: '/api/v2' } } : {});
  const box = await transport(engine, caller);
  const answers = await scenario({ engine, box });
  const index = await engine.storage.read((view) => view.index);
  return { answers: plain(answers), index: index._unsafeUnwrap() };
}

/** As JSON has it: members that are undefined are not there. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describe.each([false, true])('with upstream names: %s', (upstream) => {
  it.each(Object.entries(scenarios))('%s: the two transports agree', async (_name, scenario) => {
    const [local, remote] = [
      await outcome(transports['in process'] as Transport, hostPrincipal, scenario, upstream),
      await outcome(transports['over HTTP'] as Transport, hostPrincipal, scenario, upstream),
    ];
    expect(remote).toEqual(local);
  });
});

describe('with the rights of a reader', () => {
  it.each(Object.entries(scenarios).filter(([name]) => name !== 'notifications'))(
    '%s: the two transports agree',
    async (_name, scenario) => {
      const local = await outcome(transports['in process'] as Transport, reader, scenario, false);
      expect(await outcome(transports['over HTTP'] as Transport, reader, scenario, false)).toEqual(local);
      expect(JSON.stringify(local)).not.toContain('internal error');
    },
  );
});

describe.each(Object.entries(transports))('waiting %s', (_name, transport) => {
  it('gives the change as soon as it is there, and the present state when the time is over', async () => {
    const engine = engineUnderTest();
    const box = await transport(engine, hostPrincipal);
    const { index } = (await box.jobs.list())._unsafeUnwrap();
    const waiting = box.jobs.list({ index, wait: '60s' });
    while (engine.parked.size === 0) await new Promise((resolve) => setImmediate(resolve));
    await box.jobs.register(report);
    expect((await waiting)._unsafeUnwrap().value.items.map(({ ID }) => ID)).toEqual(['report']);
  });

  it('ends with the signal', async () => {
    const engine = engineUnderTest();
    const box = await transport(engine, hostPrincipal);
    const controller = new AbortController();
    const waiting = box.jobs.list({ index: 1000, wait: 60_000, signal: controller.signal });
    while (engine.parked.size === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect((await waiting)._unsafeUnwrapErr()).toMatchObject({ type: 'aborted' });
    while (engine.parked.size > 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await box.jobs.list({ signal: controller.signal }))._unsafeUnwrapErr()).toMatchObject({ type: 'aborted' });
  });

  it('refuses a time that is none', async () => {
    const box = await transport(engineUnderTest(), hostPrincipal);
    const refused = (await box.jobs.list({ index: 1, wait: 'long' }))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'bad_request', parameter: 'wait' });
  });

  it('takes what was read back with changes', async () => {
    const box = await transport(engineUnderTest(), hostPrincipal);
    const stored = (await box.workspaces.put('ws-9', { name: 'w', organization: 'acme' }))._unsafeUnwrap();
    expect((await box.workspaces.put('ws-9', stored))._unsafeUnwrap()).toEqual(stored);
    const made = (await box.notifications.create('ws-9', hook))._unsafeUnwrap();
    const sentBack = { ...made, name: 'changed' } as object;
    const changed = (await box.notifications.update(made.id, sentBack))._unsafeUnwrap();
    expect(changed).toMatchObject({ id: made.id, name: 'changed' });
  });

  it.each([
    ['a duration that is none', 'lifetime', '1h'],
    ['a time that is none', 'expires', Number.NaN],
    ['a list that is none', 'policies', 'p'],
    ['a bool that is none', 'global', 'yes'],
  ])('refuses %s in a body', async (_what, name, value) => {
    const box = await transport(engineUnderTest(), hostPrincipal);
    const options = { name: 'n', type: 'client', [name]: value } as never;
    const refused = (await box.tokens.create(options))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'bad_request', parameter: name });
  });

  it('refuses attributes that a document does not have', async () => {
    const box = await transport(engineUnderTest(), hostPrincipal);
    const misspelled = { ...hook, trigers: ['run:errored'] };
    const refused = (await box.notifications.create('ws-1', misspelled))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'bad_request', parameter: 'attributes.trigers' });
    // @ts-expect-error: no such trigger
    const unknown = await box.notifications.create('ws-1', { ...hook, triggers: ['run:erored'] });
    // @ts-expect-error: no such destination
    const nowhere = await box.notifications.create('ws-1', { ...hook, destinationType: 'genric' });
    expect([unknown.isErr(), nowhere.isErr()]).toEqual([true, true]);
  });
});
