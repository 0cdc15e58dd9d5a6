import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { hostPrincipal, type JobInput, type Principal } from '../../../../src/index.js';
import { hour, minute } from '../../../../src/shared/duration.js';
import { fakeCluster } from '../../../support/fake-agents.js';
import { nodeFrom } from '../../../support/nodes.js';
import { batchJob, group, serviceJob, world } from '../world.js';

type World = ReturnType<typeof fakeCluster>;

const large = (MemoryMB: number): JobInput => {
  const task = { Name: 't', Driver: 'raw_exec', Config: { command: '/bin/true' }, Resources: { CPU: 10, MemoryMB } };
  return serviceJob('web', { TaskGroups: [group({ Count: 2, Tasks: [task] })] });
};

const as = ({ engine }: Pick<World, 'engine'>, principal: Principal = hostPrincipal) => engine.as(principal).jobs;
const reader: Principal = {
  ...hostPrincipal,
  management: false,
  namespaces: { default: { capabilities: ['read-job'] } },
};

describe('the placement of a job', () => {
  it('says how many wait, why, and which node is nearest, until the suggested change is made', async () => {
    await using cluster = fakeCluster();
    const { NodeResources } = nodeFrom('n1');
    await cluster.addNode('n1');
    await cluster.addNode('n2', { SchedulingEligibility: 'ineligible' });
    const most = NodeResources.Memory.MemoryMB;
    (await as(cluster).register(large(most + 100)))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const [waiting] = (await as(cluster).placement('web'))._unsafeUnwrap().groups;
    expect(waiting).toMatchObject({ group: 'g', waiting: 2, examined: 2, fitting: 0 });
    expect(waiting?.nodes.map(({ nodeName }) => nodeName)).toEqual(['node-n1', 'node-n2']);
    expect(waiting?.summary).toBe(
      `No node takes one more allocation. Nearest is node-n1: The group requests ${most + 100} MB of memory, ${most} MB are free`,
    );
    const suggested = waiting?.nodes[0]?.obstacles[0]?.changes[0];
    expect(suggested).toEqual({ of: 'job', subject: 'Resources.MemoryMB', from: `${most + 100} MB`, to: `${most} MB` });
    (await as(cluster).register(large(Number.parseInt(suggested?.to ?? '', 10))))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const [placed] = (await as(cluster).placement('web', { nodes: 1 }))._unsafeUnwrap().groups;
    expect(placed).toMatchObject({ waiting: 1, nodes: [{ nodeName: 'node-n1' }] });
  });

  it('finds a node that would take one more', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1');
    (await as(cluster).register(large(10)))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const [fits] = (await as(cluster).placement('web'))._unsafeUnwrap().groups;
    expect(fits).toMatchObject({
      waiting: 0,
      fitting: 1,
      summary: 'One more allocation would fit now, best on node-n1',
    });
  });

  it('names no node, and nothing that only a node says, to callers who may not read nodes', async () => {
    await using cluster = fakeCluster();
    await cluster.addNode('n1', { Attributes: { 'kernel.name': 'secret-kernel' } });
    const Constraints = [{ LTarget: '${attr.kernel.name}', RTarget: 'linux', Operand: '=' }];
    (await as(cluster).register(serviceJob('web', { Constraints })))._unsafeUnwrap();
    await cluster.clock.advance(minute);
    const placement = (await as(cluster, reader).placement('web'))._unsafeUnwrap();
    expect(JSON.stringify(placement)).not.toMatch(/n1|secret-kernel/);
    expect(placement.groups[0]?.summary).toBe(
      'No node takes one more allocation. Nearest is a node: A constraint of the job is not met',
    );
    expect(JSON.stringify((await as(cluster).placement('web'))._unsafeUnwrap())).toContain('secret-kernel');
  });

  it('is refused for a job that does not exist, without the right, and for a wrong number of nodes', async () => {
    const w = world();
    expect((await as(w).placement('none'))._unsafeUnwrapErr().type).toBe('job_not_found');
    const stranger = { ...reader, namespaces: {} };
    expect((await as(w, stranger).placement('none'))._unsafeUnwrapErr().type).toBe('permission_denied');
    for (const nodes of [0, 101, -1])
      expect((await as(w).placement('none', { nodes }))._unsafeUnwrapErr().type).toBe('invalid_request');
  });
});

describe('schedules', () => {
  const periodic = (id: string, Spec: string, more = {}) =>
    batchJob(id, { Periodic: { Specs: [Spec], TimeZone: 'Europe/Berlin', ...more } });

  it('have the launches that the clock makes, also where clocks change', async () => {
    await using cluster = fakeCluster({ clock: manualClock(Date.UTC(2026, 2, 28)) });
    const launched: string[] = [];
    cluster.engine.events.on('job.launched', ({ jobId }) => launched.push(jobId));
    (await as(cluster).register(periodic('nightly', '30 2 * * *')))._unsafeUnwrap();
    const { schedules } = (await as(cluster).schedules({ launches: 3 }))._unsafeUnwrap();
    expect(schedules).toMatchObject([
      { namespace: 'default', jobId: 'nightly', timeZone: 'Europe/Berlin', active: true, prohibitsOverlap: false },
    ]);
    const launches = schedules[0]?.launches ?? [];
    expect(launches.map(({ wallTime }) => wallTime)).toEqual([
      '2026-03-28T02:30:00+01:00',
      '2026-03-30T02:30:00+02:00',
      '2026-03-31T02:30:00+02:00',
    ]);
    expect(schedules[0]?.findings.map(({ kind }) => kind)).toContain('skipped');
    await cluster.clock.advance(80 * hour);
    expect(launched).toEqual(launches.map(({ at }) => `nightly/periodic-${Date.parse(at) / 1000}`));
  });

  it('are in order of their next launch; a stopped job has one only by its name, without launches', async () => {
    const w = world();
    (await as(w).register(periodic('yearly', '0 0 1 7 *', { ProhibitOverlap: true })))._unsafeUnwrap();
    (await as(w).register(periodic('often', '* * * * *')))._unsafeUnwrap();
    (await as(w).register(periodic('stopped', '* * * * *')))._unsafeUnwrap();
    (await as(w).stop('stopped'))._unsafeUnwrap();
    const all = (await as(w).schedules({ namespace: '*' }))._unsafeUnwrap();
    expect(all.schedules.map(({ jobId }) => jobId)).toEqual(['often', 'yearly']);
    expect(all.schedules.map(({ prohibitsOverlap }) => prohibitsOverlap)).toEqual([false, true]);
    const [stopped] = (await as(w).schedules({ jobId: 'stopped' }))._unsafeUnwrap().schedules;
    expect(stopped).toMatchObject({ jobId: 'stopped', active: false, launches: [] });
    expect((await as(w).schedules({ jobId: 'none' }))._unsafeUnwrap().schedules).toEqual([]);
  });

  it('of other namespaces are hidden', async () => {
    const w = world();
    (await w.engine.as(hostPrincipal).namespaces.put('other'))._unsafeUnwrap();
    (await as(w).register({ ...periodic('hidden', '* * * * *'), Namespace: 'other' }))._unsafeUnwrap();
    expect((await as(w, reader).schedules({ namespace: '*' }))._unsafeUnwrap().schedules).toEqual([]);
    expect((await as(w).schedules({ namespace: '*' }))._unsafeUnwrap().schedules).toHaveLength(1);
  });

  it('may be tried before they are registered', async () => {
    const w = world();
    const tried = (await as(w).trySchedule(['* * */4 * * * *'], { launches: 2 }))._unsafeUnwrap();
    expect(tried.launches.map(({ at }) => at)).toEqual(['2026-01-01T00:00:01.000Z', '2026-01-01T00:00:02.000Z']);
    const message = async (specs: readonly string[], options = {}) =>
      String(
        Object(
          await as(w)
            .trySchedule(specs, options)
            .match(() => '', Object),
        ).message,
      );
    expect(await message(['nonsense'])).toContain('is not a valid cron expression');
    expect(await message([])).toContain('a cron expression is required');
    expect(await message(['* * * * *'], { timeZone: 'Mars/Base' })).toContain('unknown time zone');
    expect(await message(['* * * * *'], { launches: 1e9 })).toBe('launches must be between 1 and 100');
    expect(await message(Array.from({ length: 21 }, () => '* * * * *'))).toContain('at most 20');
  });
});
