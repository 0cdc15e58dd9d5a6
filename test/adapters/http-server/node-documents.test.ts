import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { hostPrincipal } from '../../../src/index.js';
import { registerNode } from '../../../src/operations/scheduling/register-node.js';
import { engineUnderTest } from './engine-under-test.js';
import { sampleNode } from './route-samples.js';

const id = '00000000-0000-4000-8000-00000000000a';
const volume = { Name: 'data', Path: '/srv/data', ReadOnly: true };

async function ask(target: string): Promise<unknown> {
  const engine = engineUnderTest();
  (await registerNode(engine, hostPrincipal, sampleNode(id, { HostVolumes: { data: volume } })))._unsafeUnwrap();
  const handler = createHttpHandler(engine, { access: 'open' });
  return JSON.parse((await handler(requestFrom({ target }))).body.toString());
}

const resources = {
  NodeResources: { Processors: { Topology: {} }, Devices: null, NodeNetworks: [], Networks: [] },
  ReservedResources: { Cpu: { ReservedCpuCores: [] }, Networks: { ReservedHostPorts: '' } },
};

describe('nodes in lists', () => {
  it('have their volumes, and their resources where those are asked for', async () => {
    expect(await ask('/v1/nodes?resources=true')).toMatchObject([
      { ID: id, HostVolumes: { data: volume }, ...resources },
    ]);
    const [plain] = (await ask('/v1/nodes')) as object[];
    for (const member of ['NodeResources', 'ReservedResources', 'Attributes']) expect(plain).not.toHaveProperty(member);
  });

  it('have the resources that the node itself has', async () => {
    const [stub] = (await ask('/v1/nodes?resources=true')) as Record<string, unknown>[];
    const node = (await ask(`/v1/node/${id}`)) as Record<string, unknown>;
    expect(node).toMatchObject(resources);
    expect(stub?.['NodeResources']).toEqual(node['NodeResources']);
    expect(stub?.['ReservedResources']).toEqual(node['ReservedResources']);
  });
});

describe('a single node', () => {
  it('has objects and lists where clients fail at a null', async () => {
    const driver = { Attributes: null, Detected: true, Healthy: true, HealthDescription: '', UpdateTime: '' };
    const engine = engineUnderTest();
    const bare = sampleNode(id, { Meta: null, Drivers: { function: driver } });
    (await registerNode(engine, hostPrincipal, bare))._unsafeUnwrap();
    const handler = createHttpHandler(engine, { access: 'open' });
    const read = async (target: string) => JSON.parse((await handler(requestFrom({ target }))).body.toString());
    const drivers = { function: { ...driver, Attributes: {} } };
    expect(await read(`/v1/node/${id}`)).toMatchObject({
      Meta: {},
      Links: {},
      CSIControllerPlugins: {},
      CSINodePlugins: {},
      Drivers: drivers,
      NodeResources: { Cpu: { ReservableCpuCores: [] }, Networks: [] },
    });
    expect(await read('/v1/nodes')).toMatchObject([{ Drivers: drivers }]);
  });
});

describe('the configuration of the cluster', () => {
  it('has this server as its leader', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    const { status, body } = await handler(requestFrom({ target: '/v1/operator/raft/configuration' }));
    const Leader = { Leader: true, Voter: true };
    expect([status, JSON.parse(body.toString())]).toEqual([
      200,
      { Index: 0, Servers: [expect.objectContaining(Leader)] },
    ]);
    const leader = JSON.parse((await handler(requestFrom({ target: '/v1/status/leader' }))).body.toString());
    expect(JSON.parse(body.toString()).Servers[0].Address).toBe(leader);
  });
});

describe('a variable that has only a lock', () => {
  it('has an object of items', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    const request = { method: 'PUT', target: '/v1/var/locks/one?lock-acquire', body: { Path: 'locks/one' } };
    const { status, body } = await handler(requestFrom(request));
    expect([status, JSON.parse(body.toString())]).toMatchObject([200, { Items: {} }]);
  });
});

describe('a drain as old clients ask for it, with a parameter and no body', () => {
  it.each([
    ['enable=true', 200, { DrainStrategy: { Deadline: -1_000_000_000 }, SchedulingEligibility: 'ineligible' }],
    ['enable=True', 200, { DrainStrategy: { Deadline: -1_000_000_000 }, SchedulingEligibility: 'ineligible' }],
    ['enable=false', 200, { DrainStrategy: null, SchedulingEligibility: 'eligible' }],
    ['enable=perhaps', 400, { SchedulingEligibility: 'ineligible' }],
    ['', 400, { SchedulingEligibility: 'ineligible' }],
  ])('%s is answered with %d', async (query, status, expected) => {
    const engine = engineUnderTest();
    (await registerNode(engine, hostPrincipal, sampleNode(id)))._unsafeUnwrap();
    const handle = createHttpHandler(engine, { access: 'open', names: 'upstream' });
    const body = Buffer.from('{"Eligibility":"ineligible"}');
    await handle(requestFrom({ method: 'PUT', target: `/v1/node/${id}/eligibility`, body }));
    expect((await handle(requestFrom({ method: 'PUT', target: `/v1/node/${id}/drain?${query}` }))).status).toBe(status);
    const read = await handle(requestFrom({ method: 'GET', target: `/v1/node/${id}` }));
    expect(JSON.parse(read.body.toString())).toMatchObject(expected);
  });
});
