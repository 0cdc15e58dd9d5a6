import { ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { type ClusterEvent, earlierRecords, noticeBatches } from '../../../src/events/changes.js';
import { putPolicy } from '../../../src/operations/access/policies.js';
import { removeToken, saveToken } from '../../../src/operations/access/tokens/save-token.js';
import { commit } from '../../../src/operations/commit.js';
import {
  type StreamEventsInput,
  type StreamedEvents,
  streamEvents,
} from '../../../src/operations/events/stream-events.js';
import { evaluateJob } from '../../../src/operations/jobs/evaluate-job.js';
import { tagJobVersion } from '../../../src/operations/jobs/job-versions.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { putNamespace } from '../../../src/operations/namespaces/namespaces.js';
import { type Allocation, allocations } from '../../../src/scheduler/allocation.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { nodes } from '../../../src/scheduler/node.js';
import { newNodePool, nodePools } from '../../../src/scheduler/node-pool.js';
import { serviceRegistrations } from '../../../src/services/service-registration.js';
import { nodeFrom } from '../../support/nodes.js';
import { serviceJob, type World, world } from '../jobs/world.js';

async function register(w: World, id: string, more: object = {}, namespace = 'default'): Promise<number> {
  const input = { job: serviceJob(id, more), namespace };
  return (await registerJob(w.engine, hostPrincipal, input))._unsafeUnwrap().jobModifyIndex;
}

/** A stream that is read item by item. */
async function open(w: World, input: StreamEventsInput = {}, caller: Principal = hostPrincipal) {
  const gone = new AbortController();
  const stream = (await streamEvents(w.engine, caller, { ...input, signal: gone.signal }))._unsafeUnwrap();
  const items = stream[Symbol.asyncIterator]();
  const next = async (): Promise<StreamedEvents | undefined> => {
    const item = await items.next();
    return item.done === true ? undefined : item.value;
  };
  // The first item is a sign of life.
  expect(await next()).toBeUndefined();
  return { next, close: () => gone.abort() };
}

const told = (batch: StreamedEvents | undefined): readonly string[] =>
  (batch?.Events ?? []).map(({ Topic, Type, Key }: ClusterEvent) =>
    `${Topic} ${Type} ${Topic === 'Job' ? Key : ''}`.trim(),
  );

const Shared = { DiskMB: 300, Networks: null, Ports: null };
const storedAllocation = {
  ...{ ID: 'a1', Namespace: 'default', JobID: 'shop', NodeID: 'n1', TaskGroup: 'g', JobVersion: 3, JobType: 'service' },
  ...{ DesiredStatus: 'run', ClientStatus: 'running', EvalID: 'e1' },
  AllocatedResources: { Tasks: {}, TaskLifecycles: {}, Shared },
} as unknown as Allocation;

describe('the event stream', () => {
  it('tells a registration, an evaluation and a purge, each with its transaction', async () => {
    const w = world();
    const index = await register(w, 'web');
    (await evaluateJob(w.engine, hostPrincipal, { jobId: 'web' }))._unsafeUnwrap();
    (await stopJob(w.engine, hostPrincipal, { jobId: 'web', purge: true }))._unsafeUnwrap();
    const stream = await open(w, { topics: ['Job:web', 'Evaluation:web'], index });
    const first = await stream.next();
    expect(first?.Index).toBe(index);
    expect(told(first)).toEqual(['Job JobRegistered web', 'Evaluation JobRegistered']);
    expect(first?.Events[0]).toMatchObject({ FilterKeys: null, Namespace: 'default', Payload: { Job: { ID: 'web' } } });
    expect(first?.Events[1]?.FilterKeys).toEqual(['web', '']);
    expect(told(await stream.next())).toEqual(['Evaluation EvaluationUpdated']);
    const last = await stream.next();
    expect(told(last)).toContain('Job JobDeregistered web');
    expect(last?.Events.find(({ Topic }) => Topic === 'Job')?.Payload).toMatchObject({
      Deleted: true,
      Job: { ID: 'web' },
    });
    stream.close();
  });

  it('tells each record as its transaction left it, whatever came after', async () => {
    const w = world();
    const index = await register(w, 'web', { Priority: 20 });
    await register(w, 'web', { Priority: 30 });
    await register(w, 'web', { Priority: 40 });
    (await tagJobVersion(w.engine, hostPrincipal, { jobId: 'web', name: 'good', version: 2 }))._unsafeUnwrap();
    const stream = await open(w, { topics: ['Job:web'], index });
    const priorities: unknown[] = [];
    for (let at = 0; at < 3; at += 1) {
      const job = (await stream.next())?.Events[0]?.Payload['Job'] as { Priority: number } | undefined;
      priorities.push(job?.Priority);
    }
    expect(priorities).toEqual([20, 30, 40]);
    stream.close();
  });

  it('tells allocations, nodes and services in the form that reads have', async () => {
    const w = world();
    const { engine } = w;
    (
      await commit(engine, hostPrincipal, (tx) => {
        const made = { CreateIndex: tx.index, ModifyIndex: tx.index };
        tx.put(nodes, { ...nodeFrom('n1', { SecretID: 'secret' } as never), ...made });
        tx.put(nodePools, newNodePool('art', tx.index));
        tx.put(allocations, { ...storedAllocation, ...made });
        const Tags = ['blue'];
        const where = { NodeID: 'n1', Datacenter: 'dc1', Tags, Address: '10.0.0.1', Port: 80 };
        const service = { ID: 's1', ServiceName: 'web', Namespace: 'default', JobID: 'shop', AllocID: 'a1', ...where };
        tx.put(serviceRegistrations, { ...service, ...made });
        return ok(undefined);
      })
    )._unsafeUnwrap();
    const removed = await commit(engine, hostPrincipal, (tx) => {
      tx.remove(serviceRegistrations, ['default', 'web', 's1']);
      return ok(undefined);
    });
    const stream = await open(w);
    const events = (await stream.next())?.Events ?? [];
    const [allocation] = events.filter(({ Topic }) => Topic === 'Allocation');
    expect(allocation?.Payload['Allocation']).toMatchObject({ ID: 'a1', SharedResources: expect.anything() });
    for (const own of ['JobVersion', 'JobType']) expect(allocation?.Payload['Allocation']).not.toHaveProperty(own);
    const [node] = events.filter(({ Topic }) => Topic === 'Node');
    expect(node?.Payload['Node']).toMatchObject({ ID: 'n1', SecretID: '' });
    const [pool] = events.filter(({ Topic }) => Topic === 'NodePool');
    expect(pool?.Payload['NodePool']).toMatchObject({ Name: 'art', Hash: expect.any(String) });
    const [service] = events.filter(({ Topic }) => Topic === 'Service');
    expect(service).toMatchObject({ Type: 'ServiceRegistration', Key: 's1', FilterKeys: ['shop', 'web'] });
    expect(service?.Payload).toMatchObject({ Service: { ServiceName: 'web', Port: 80 } });
    const gone = await open(w, { topics: ['Service:web'], index: removed._unsafeUnwrap().index });
    const [last] = (await gone.next())?.Events ?? [];
    expect(last).toMatchObject({
      Type: 'ServiceDeregistration',
      Namespace: 'default',
      Payload: { Service: { ID: 's1' } },
    });
    stream.close();
    gone.close();
  });

  it('tells of tokens, policies and roles to management, without secrets', async () => {
    const w = world();
    const Rules = 'namespace "default" { policy = "read" }';
    (await putPolicy(w.engine, hostPrincipal, { name: 'readers', rules: Rules }))._unsafeUnwrap();
    const made = await saveToken(w.engine, hostPrincipal, { name: 'ada', type: 'client', policies: ['readers'] });
    const { AccessorID: accessor, SecretID } = made._unsafeUnwrap();
    (await removeToken(w.engine, hostPrincipal, { accessor: accessor }))._unsafeUnwrap();
    const stream = await open(w, { topics: ['ACLPolicy', 'ACLToken'] });
    const heard = [await stream.next(), await stream.next(), await stream.next()];
    expect(heard.flatMap((batch) => batch?.Events ?? [])).toMatchObject([
      { Topic: 'ACLPolicy', Type: 'ACLPolicyUpserted', Key: 'readers', Payload: { ACLPolicy: { Rules } } },
      {
        Topic: 'ACLToken',
        Type: 'ACLTokenUpserted',
        Key: accessor,
        Payload: { ACLToken: { Name: 'ada', SecretID: '' } },
      },
      { Topic: 'ACLToken', Type: 'ACLTokenDeleted', Key: accessor, Payload: { ACLToken: { AccessorID: accessor } } },
    ]);
    expect(SecretID).not.toBe('');
    for (const hidden of [SecretID, 'secretHash', 'sealedSecret']) expect(JSON.stringify(heard)).not.toContain(hidden);
    const reader = { ...hostPrincipal, management: false, namespaces: { default: { capabilities: ['read-job'] } } };
    const asked = { topics: ['ACLToken'] };
    const refused = await streamEvents(w.engine, reader as Principal, {
      ...asked,
      signal: new AbortController().signal,
    });
    expect(refused._unsafeUnwrapErr()).toEqual({ type: 'permission_denied' });
    stream.close();
  });

  it('waits for what comes, and gives a sign of life when nothing does', async () => {
    const w = world();
    const stream = await open(w, { topics: ['Job'] });
    const waiting = stream.next();
    await register(w, 'web');
    expect(told(await waiting)).toEqual(['Job JobRegistered web']);
    const quiet = stream.next();
    await w.clock.advance(30_000);
    expect(await quiet).toBeUndefined();
    const after = stream.next();
    await register(w, 'other');
    expect(told(await after)).toEqual(['Job JobRegistered other']);
    stream.close();
  });

  it('misses nothing between two connections', async () => {
    const w = world();
    const first = await register(w, 'a');
    const stream = await open(w, { topics: ['Job'] });
    expect((await stream.next())?.Index).toBe(first);
    stream.close();
    await register(w, 'b');
    await register(w, 'c');
    const again = await open(w, { topics: ['Job'], index: first + 1 });
    expect(told(await again.next())).toEqual(['Job JobRegistered b']);
    expect(told(await again.next())).toEqual(['Job JobRegistered c']);
    again.close();
  });

  it('keeps nothing of a removal that it does not tell', async () => {
    const w = world({ events: { kept: 2 } });
    // A second evaluation keeps the job pending when the first one is removed.
    for (let at = 0; at < 2; at += 1) await register(w, 'web');
    for (let at = 0; at < 5; at += 1) await register(w, `job-${at}`);
    const removal = await commit(w.engine, hostPrincipal, (tx) => {
      const [oldest] = tx.list(evaluations);
      return ok(tx.remove(evaluations, [oldest?.record.ID ?? '']));
    });
    const { index, value } = removal._unsafeUnwrap();
    expect(value).toBe(true);
    expect((await w.rows(earlierRecords)).filter(({ Index }) => Index === index)).toEqual([]);
    expect((await w.rows(noticeBatches)).filter(({ Index }) => Index === index)).toEqual([]);
  });

  it('tells a reader that comes back too late, or is too slow, that it missed something', async () => {
    const w = world({ events: { kept: 40 } });
    const first = await register(w, 'a');
    for (let at = 0; at < 100; at += 1) await register(w, `job-${at}`);
    const kept = (await w.rows(noticeBatches)).length;
    expect(kept).toBeGreaterThanOrEqual(40);
    expect(kept).toBeLessThanOrEqual(40 + 33);
    expect((await w.rows(earlierRecords)).length).toBeLessThanOrEqual(kept * 2);
    const late = await open(w, { topics: ['Job'], index: first });
    expect(await late.next()).toMatchObject({ Missed: true, Events: [] });
    expect(told(await late.next())).toHaveLength(1);
    for (let at = 0; at < 200; at += 1) await register(w, `more-${at}`);
    const seen: (StreamedEvents | undefined)[] = [];
    for (let at = 0; at < 80; at += 1) seen.push(await late.next());
    expect(seen.some((item) => item !== undefined && 'Missed' in item)).toBe(true);
    late.close();
    const fresh = await open(w, { topics: ['Job'] });
    expect(told(await fresh.next())).toHaveLength(1);
    fresh.close();
  });

  it('sends no event without its record, however often that is overwritten and whatever is kept', async () => {
    for (const kept of [1, 3, 10, 50]) {
      const w = world({ events: { kept } });
      for (let at = 0; at < 20; at += 1) {
        await register(w, 'web', { Priority: 20 + at });
        await register(w, `job-${at}`);
        // Writes without an event: one of another table, and one that overwrites a record.
        for (let more = 0; more < 3; more += 1) await putNamespace(w.engine, hostPrincipal, { name: `${at}-${more}` });
        await tagJobVersion(w.engine, hostPrincipal, { jobId: 'job-0', name: `t-${at}`, latest: true });
      }
      const stream = await open(w, { topics: ['Job', 'Evaluation'] });
      const newest = await register(w, 'end');
      const events: ClusterEvent[] = [];
      for (let index = 0; index < newest; ) {
        const batch = await stream.next();
        index = batch?.Index ?? 0;
        events.push(...(batch?.Events ?? []));
      }
      stream.close();
      expect(events.length).toBeGreaterThan(1);
      expect(events.filter(({ Topic, Payload }) => Payload[Topic] === null)).toEqual([]);
    }
  });

  it('starts with the newest for an index that is not there yet', async () => {
    const w = world();
    const index = await register(w, 'a');
    const stream = await open(w, { topics: ['Job'], index: index + 100_000 });
    expect((await stream.next())?.Index).toBe(index);
    stream.close();
  });

  it('tells of one namespace, or of those that the caller may read', async () => {
    const w = world();
    for (const name of ['one', 'two']) (await putNamespace(w.engine, hostPrincipal, { name }))._unsafeUnwrap();
    await register(w, 'in-one', {}, 'one');
    await register(w, 'in-two', {}, 'two');
    const reader: Principal = {
      ...hostPrincipal,
      management: false,
      namespaces: { two: { capabilities: ['read-job'] } },
    };
    const topics = ['Job'];
    const named = async (input: StreamEventsInput, caller: Principal): Promise<readonly string[]> => {
      const stream = await open(w, input, caller);
      const first = told(await stream.next());
      stream.close();
      return first;
    };
    expect(await named({ topics, namespace: 'one' }, hostPrincipal)).toEqual(['Job JobRegistered in-one']);
    expect(await named({ topics, namespace: '*' }, hostPrincipal)).toEqual(['Job JobRegistered in-one']);
    expect(await named({ topics, namespace: '*' }, reader)).toEqual(['Job JobRegistered in-two']);
    const refused = async (input: StreamEventsInput): Promise<unknown> =>
      (await streamEvents(w.engine, reader, { ...input, signal: new AbortController().signal }))._unsafeUnwrapErr();
    expect(await refused({ topics, namespace: 'one' })).toEqual({ type: 'permission_denied' });
    expect(await refused({ topics: ['Node'], namespace: 'two' })).toEqual({ type: 'permission_denied' });
    const watcher: Principal = { ...reader, areas: { node: 'read' } };
    (await open(w, { topics: ['Node'] }, watcher)).close();
    expect(await refused({ namespace: 'two' })).toEqual({ type: 'permission_denied' });
    expect(await refused({ topics: ['a:b:c'] })).toMatchObject({ type: 'invalid_topic' });
  });

  it('tells nothing of tags, and nothing of a write that fails', async () => {
    const w = world();
    await register(w, 'web');
    const before = (await w.rows(noticeBatches)).length;
    (await tagJobVersion(w.engine, hostPrincipal, { jobId: 'web', name: 'good', version: 0 }))._unsafeUnwrap();
    expect((await registerJob(w.engine, hostPrincipal, { job: serviceJob('') })).isErr()).toBe(true);
    expect(await w.rows(noticeBatches)).toHaveLength(before);
  });

  it('ends when its reader goes away', async () => {
    const w = world();
    const gone = new AbortController();
    const stream = (await streamEvents(w.engine, hostPrincipal, { signal: gone.signal }))._unsafeUnwrap();
    const items: unknown[] = [];
    const reading = (async () => {
      for await (const item of stream) items.push(item);
    })();
    gone.abort();
    await reading;
    expect(items.length).toBeLessThanOrEqual(2);
  });
});
