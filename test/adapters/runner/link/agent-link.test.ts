import { okAsync } from 'neverthrow';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../../adapters/node/index.js';
import { httpAgentLink } from '../../../../adapters/runner/index.js';
import type { CommandPerformer } from '../../../../src/agent/link/node-command.js';
import { connect } from '../../../../src/client/index.js';
import { agentLink, createEngine, type Engine, hostPrincipal } from '../../../../src/index.js';
import { removeToken, saveToken } from '../../../../src/operations/access/tokens/save-token.js';
import { registerNode } from '../../../../src/operations/scheduling/register-node.js';

import type { Clock } from '../../../../src/ports/clock.js';
import { agentLinkConformance } from '../../../conformance/agent-link/index.js';
import { type ServedEngine, serveEngine } from '../../../support/agent-linkages.js';
import { sampleNode } from '../../http-server/route-samples.js';

const own = '11111111-0000-4000-8000-000000000001';
const other = '22222222-0000-4000-8000-000000000002';
const roomy = { Disk: { DiskMB: 10_000 }, Memory: { MemoryMB: 4000 } };
const node = (id: string, further = {}) => {
  const sample = sampleNode(id, further);
  return { ...sample, NodeResources: { ...sample.NodeResources, ...roomy } };
};

function runningEngine(clock: Clock = systemClock(), storage = memoryStorage()): Engine {
  const engine = createEngine({
    storage,
    clock,
    ids: randomIds(),
    delivery: recordingDelivery(),
  });
  engine.start();
  return engine;
}

describe('the link in the same process', () => {
  agentLinkConformance(it, {
    open: async () => {
      const engine = runningEngine();
      return { engine, link: agentLink(engine), node: node(own), close: async () => void (await engine.stop()) };
    },
  });
});

describe('the link over HTTP', () => {
  agentLinkConformance(it, {
    open: async () => {
      const engine = runningEngine();
      const served = await serveEngine(engine, own);
      const link = httpAgentLink({ url: served.url, token: served.token, clock: systemClock() });
      const close = async (): Promise<void> => {
        await served.close();
        await engine.stop();
      };
      return { engine, link, node: node(own), close };
    },
  });
});

describe('the link to another server over the same store', () => {
  agentLinkConformance(it, {
    open: async () => {
      const storage = memoryStorage();
      const [holder, engine] = [runningEngine(systemClock(), storage), runningEngine(systemClock(), storage)];
      const close = async (): Promise<void> => void (await Promise.all([holder.stop(), engine.stop()]));
      return { engine, link: agentLink(holder), node: node(own), close };
    },
  });
});

describe('the token of a node', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function house(nodeId?: string, clock?: Clock) {
    const engine = runningEngine(clock);
    const served: ServedEngine = await serveEngine(engine, nodeId);
    cleanups.push(() => engine.stop(), served.close);
    const link = httpAgentLink({ url: served.url, token: served.token, clock: systemClock() });
    return { engine, served, link };
  }

  const tokenOf = (engine: Engine, input: Partial<Parameters<typeof saveToken>[2]>) =>
    saveToken(engine, hostPrincipal, { name: 'agent', type: 'node', ...input });

  it('belongs to the first node that registers with it', async () => {
    const { engine, served, link } = await house();
    (await link.register(node(own)))._unsafeUnwrap();
    (await link.register(node(own)))._unsafeUnwrap();
    expect((await link.register(node(other)))._unsafeUnwrapErr()).toMatchObject({ type: 'node_refused' });
    const [listed] = (await engine.as(hostPrincipal).tokens.list())._unsafeUnwrap().value.items;
    expect(listed).toMatchObject({ Type: 'node', NodeID: own, NodePool: 'default', Policies: null });
    expect(JSON.stringify(listed)).not.toContain(served.token);
  });

  it('takes over no node that exists, and none that another token is for', async () => {
    const { engine, link } = await house();
    await registerNode(engine, hostPrincipal, node(other));
    expect((await link.register(node(other)))._unsafeUnwrapErr()).toMatchObject({ type: 'node_refused' });
    (await tokenOf(engine, { nodeId: own }))._unsafeUnwrap();
    expect((await link.register(node(own)))._unsafeUnwrapErr()).toMatchObject({ type: 'node_refused' });
  });

  it('is for one node pool', async () => {
    const { engine, link, served } = await house();
    const refused = (await link.register(node(own, { NodePool: 'gpu' })))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'node_refused', message: expect.stringContaining('"default"') });
    const token = (await tokenOf(engine, { nodePool: 'gpu' }))._unsafeUnwrap().SecretID;
    const gpu = httpAgentLink({ url: served.url, token, clock: systemClock() });
    (await gpu.register(node(own, { NodePool: 'gpu' })))._unsafeUnwrap();
  });

  it('opens nothing of another node', async () => {
    const { engine, link, served } = await house(own);
    await registerNode(engine, hostPrincipal, node(other));
    (await link.register(node(own)))._unsafeUnwrap();
    const refused = [
      await link.heartbeat(other),
      await link.work({ nodeId: other, after: 0 }, new AbortController().signal),
      await link.report({ nodeId: other, reports: [] }),
      await link.leave(other),
      await link.variables(
        { nodeId: other, allocationId: own, task: 't', variables: [], prefixes: [], known: null },
        new AbortController().signal,
      ),
    ];
    for (const answer of refused) expect(answer._unsafeUnwrapErr()).toMatchObject({ type: 'node_refused' });
    const socket = (
      await connect({ url: served.url, token: served.token, WebSocket: WebSocket as never }).agents.commands(other)
    )._unsafeUnwrap();
    expect(await socket.closed).toMatchObject({ code: 1011, reason: 'Permission denied' });
  });

  it('holds one connection for commands: an older one is closed, and one of another process is not taken', async () => {
    const { link, served } = await house(own);
    const instance = 'the-first-process';
    (await link.register(node(own), { instance }))._unsafeUnwrap();
    const box = connect({ url: served.url, token: served.token, WebSocket: WebSocket as never });
    const [first, newer, stray] = [
      (await box.agents.commands(own, { instance }))._unsafeUnwrap(),
      (await box.agents.commands(own, { instance }))._unsafeUnwrap(),
      (await box.agents.commands(own, { instance: 'another-process' }))._unsafeUnwrap(),
    ];
    expect(await first.closed).toMatchObject({ code: 1000, reason: 'the agent holds a newer connection' });
    expect(await stray.closed).toMatchObject({ code: 1008, reason: 'the node has another agent' });
    newer.close();
    expect(await newer.closed).toMatchObject({ code: 1000, reason: '' });
  });

  it('opens no other call, over HTTP or in process', async () => {
    const { engine, served, link } = await house(own);
    (await link.register(node(own)))._unsafeUnwrap();
    const box = connect({ url: served.url, token: served.token });
    const local = engine.as({ ...hostPrincipal, accessor: 'x', node: { id: own, pool: 'default' } });
    for (const client of [box, local]) {
      const answers = [
        await client.nodes.list(),
        await client.nodes.read(own),
        await client.nodes.setEligibility(own, 'ineligible'),
        await client.jobs.list(),
        await client.namespaces.list(),
        await client.nodePools.list(),
        await client.variables.list(),
        await client.tokens.self(),
        await client.tokens.list(),
        await client.policies.list(),
        await client.search.prefix('', 'all'),
      ];
      for (const answer of answers) expect(answer._unsafeUnwrapErr()).toMatchObject({ type: 'permission_denied' });
    }
    expect((await box.system.leader()).isOk()).toBe(true);
  });

  it('is nothing any more once it is removed, for requests and for the connection that is held', async () => {
    const clock = manualClock();
    const { engine, link } = await house(own, clock);
    (await link.register(node(own)))._unsafeUnwrap();
    const accessor = (await engine.as(hostPrincipal).tokens.list())._unsafeUnwrap().value.items[0]?.AccessorID ?? '';
    const stop = link.serve(own, answering);
    while ((await ask(engine)).isErr()) await new Promise((resolve) => setTimeout(resolve, 5));
    (await removeToken(engine, hostPrincipal, { accessor: accessor }))._unsafeUnwrap();
    expect((await link.heartbeat(own))._unsafeUnwrapErr()).toMatchObject({ type: 'node_refused' });
    await clock.advance(10_000);
    while ((await ask(engine)).isOk()) await new Promise((resolve) => setTimeout(resolve, 5));
    stop();
  });

  it.each([
    [{ ...node(own), ID: other }, /node.ID must be the node ID of the path/],
    [{ ...node(own), ID: '../../x' }, /node.ID must be a UUID/],
    [{ ...node(own), Name: 'a\0b' }, /node.Name/],
    [{ ...node(own), NodePool: 'all' }, /node.NodePool/],
    [{ ...node(own), NodeResources: { Cpu: { CpuShares: -1 } } }, /node.NodeResources.Cpu.CpuShares/],
    [{ ...node(own), Attributes: { a: 1 } }, /node.Attributes.a must be a string/],
    [null, /node/],
    ['x', /node/],
  ])('registers no node that is none: %#', async (document, message) => {
    const { link, served } = await house(own);
    const box = connect({ url: served.url, token: served.token });
    expect((await box.agents.register(own, document as never))._unsafeUnwrapErr()).toMatchObject({
      message: expect.stringMatching(message),
    });
    expect((await link.heartbeat(own)).isErr()).toBe(true);
  });

  it('gives a node nothing that operators decide', async () => {
    const { engine, served } = await house(own);
    const box = connect({ url: served.url, token: served.token });
    const greedy = {
      ...node(own),
      Events: [{ Message: 'x' }],
      LastDrain: {},
      Status: 'ready',
      CreateIndex: 77,
      __proto__: {},
    };
    (await box.agents.register(own, greedy as never))._unsafeUnwrap();
    const stored = (await engine.as(hostPrincipal).nodes.read(own))._unsafeUnwrap().value;
    expect(stored).toMatchObject({ Status: 'ready', Events: [{ Message: 'Node registered' }] });
    expect(stored?.CreateIndex).not.toBe(77);
    expect(stored).not.toHaveProperty('LastDrain', {});
  });

  it.each([
    [[{ allocationId: 'x' }], /reports\[0\].allocationId/],
    [[{ allocationId: own, clientStatus: 'lost' }], /reports\[0\].clientStatus must be one of/],
    [
      [{ allocationId: own, clientStatus: 'running', clientDescription: '', taskStates: { t: { State: 'x' } } }],
      /reports\[0\].taskStates.t.State/,
    ],
    [{}, /reports must be a list/],
    ['x'.repeat(10), /reports must be a list/],
  ])('reports nothing that is no report: %#', async (reports, message) => {
    const { link, served } = await house(own);
    (await link.register(node(own)))._unsafeUnwrap();
    const box = connect({ url: served.url, token: served.token });
    const refused = (await box.agents.report(own, reports as never))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'invalid_request', message: expect.stringMatching(message) });
  });

  it.each([
    [{ policies: ['x'] }, 'node token cannot be associated with policies or roles'],
    [{ nodeId: 'x' }, 'node ID must be a UUID'],
    [{ nodePool: 'all' }, 'node pool must be'],
    [{ type: 'client', policies: ['x'], nodeId: own }, 'only a node token'],
  ])('is not made of %j', async (input, message) => {
    const { engine } = await house();
    expect((await tokenOf(engine, input))._unsafeUnwrapErr()).toMatchObject({
      message: expect.stringContaining(message),
    });
  });

  it('stays what it is when it is changed', async () => {
    const { engine } = await house();
    const made = (await tokenOf(engine, { nodeId: own, nodePool: 'gpu' }))._unsafeUnwrap();
    const accessor = made.AccessorID;
    const renamed = (await tokenOf(engine, { accessor, name: 'renamed' }))._unsafeUnwrap();
    expect(renamed).toMatchObject({ Name: 'renamed', NodeID: own, NodePool: 'gpu' });
    const turned = await tokenOf(engine, { accessor, type: 'management' });
    expect(turned._unsafeUnwrapErr()).toMatchObject({ message: expect.stringContaining('cannot make a node token') });
  });
});

const answering: CommandPerformer = () =>
  okAsync(
    (async function* () {
      yield { type: 'value' as const, value: null };
    })(),
  );

/** Asks the node for something, over the connection that it holds. */
async function ask(engine: Engine, type: 'checks' | 'stats' = 'checks') {
  const command = type === 'checks' ? { type, allocationId: 'x' } : { type, allocationId: 'x', task: null };
  return engine.agents.perform(own, command, nobody(), new AbortController().signal);
}

describe('the connection for commands', () => {
  it('is opened again when it was lost', async () => {
    const engine = runningEngine();
    const served = await serveEngine(engine, own);
    const link = httpAgentLink({ url: served.url, token: served.token, clock: systemClock() });
    (await link.register(node(own)))._unsafeUnwrap();
    const stop = link.serve(own, answering);
    for (let times = 0; times < 2; times += 1) {
      while ((await ask(engine)).isErr()) await new Promise((resolve) => setTimeout(resolve, 5));
      served.cut();
      while ((await ask(engine)).isOk()) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    while ((await ask(engine)).isErr()) await new Promise((resolve) => setTimeout(resolve, 5));
    stop();
    await served.close();
    await engine.stop();
  });

  it('never believes what a node answers', async () => {
    const engine = runningEngine();
    const served = await serveEngine(engine, own);
    const link = httpAgentLink({ url: served.url, token: served.token, clock: systemClock() });
    (await link.register(node(own)))._unsafeUnwrap();
    const answers: unknown[] = [
      { type: 'value', value: { tasks: 5 } },
      { type: 'value' },
      { type: 'nonsense' },
      { type: 'data', stream: 'neither', bytes: new Uint8Array(1) },
      { type: '__proto__' },
    ];
    let next: unknown;
    const stop = link.serve(own, () =>
      okAsync(
        (async function* () {
          yield next as never;
        })(),
      ),
    );
    while ((await ask(engine, 'stats')).isErr()) await new Promise((resolve) => setTimeout(resolve, 5));
    for (next of answers) {
      const outputs = (await ask(engine, 'stats'))._unsafeUnwrap()[Symbol.asyncIterator]();
      await expect(outputs.next()).rejects.toThrow('invalid response');
    }
    stop();
    await served.close();
    await engine.stop();
  });
});

async function* nobody(): AsyncGenerator<never> {
  yield* [];
}
