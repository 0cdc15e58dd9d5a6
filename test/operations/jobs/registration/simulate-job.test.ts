import { err, ok } from 'neverthrow';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../../src/index.js';
import { allocations, isTerminalAllocation } from '../../../../src/scheduler/allocation.js';
import { nodes } from '../../../../src/scheduler/node.js';
import { day, hour, minute, second } from '../../../../src/shared/duration.js';
import { type FakeCluster, fakeCluster } from '../../../support/fake-agents.js';
import { nodeFrom } from '../../../support/nodes.js';
import { batchJob, group, serviceJob } from '../world.js';

let cluster: FakeCluster;
beforeEach(async () => {
  cluster = fakeCluster();
  for (const id of ['n1', 'n2', 'n3']) await cluster.addNode(id);
  await cluster.engine.as(hostPrincipal).namespaces.put('other');
  await register('web', 6);
  await register('web', 3, 'other');
  await cluster.clock.advance(minute);
});
afterEach(() => cluster[Symbol.asyncDispose]());

/** Ten of its allocations fit on a node. */
const small = (Count: number): object => {
  const task = {
    Name: 't',
    Driver: 'raw_exec',
    Config: { command: '/bin/true' },
    Resources: { CPU: 100, MemoryMB: 100 },
  };
  return group({
    Count,
    EphemeralDisk: { SizeMB: 10 },
    Tasks: [{ ...task, LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 } }],
  });
};

const job = (id: string, count: number, Namespace = 'default') =>
  serviceJob(id, { Namespace, TaskGroups: [small(count)] });

async function register(id: string, count: number, namespace = 'default'): Promise<void> {
  (await cluster.engine.as(hostPrincipal).jobs.register(job(id, count, namespace), { namespace }))._unsafeUnwrap();
}

const callerWith = (rights: Partial<Principal>): Principal => ({ ...hostPrincipal, management: false, ...rights });
const planner = callerWith({ namespaces: { default: { capabilities: ['plan-job'] } } });
const operator = callerWith({
  namespaces: { default: { capabilities: ['plan-job', 'read-job'] } },
  areas: { node: 'read' },
});

type Input = Parameters<ReturnType<typeof cluster.engine.as>['jobs']['simulate']>[0];
const simulate = (input: Input, caller = hostPrincipal) => cluster.engine.as(caller).jobs.simulate(input);
const played = async (input: Input, caller = hostPrincipal) => (await simulate(input, caller))._unsafeUnwrap();

/** Where live allocations are: how many of each job are on each node. */
async function places(): Promise<readonly string[]> {
  const live = (await cluster.rows(allocations)).filter((one) => !isTerminalAllocation(one));
  return live.map(({ Namespace, Name, NodeName }) => `${Namespace} ${Name} ${NodeName}`).sort();
}

describe('what would happen', () => {
  it('when a job is registered: its allocations are placed and run, and nothing is stored', async () => {
    const before = await cluster.storage.read((view) => view.index);
    const from = cluster.clock.now();
    const result = await played({ job: job('new', 2) });
    expect(result).toMatchObject({
      ...{ from: new Date(from).toISOString(), until: new Date(from + hour).toISOString(), isCut: false },
      jobs: [{ namespace: 'default', jobId: 'new', running: 2, starting: 0, isWaiting: false }],
    });
    expect(result.playedUntil).toBe(result.until);
    const lines = result.timeline.map(({ at, subject, text }) => `${Date.parse(at) - from} ${subject} ${text}`);
    expect(lines).toEqual([
      '0 new registered as version 0',
      '0 new version 0 is running: Deployment is running',
      expect.stringMatching(/^0 new\.g\[0\] placed on node-n[123]$/),
      expect.stringMatching(/^0 new\.g\[1\] placed on node-n[123]$/),
      ...[0, 1].map((at) => expect.stringMatching(new RegExp(`^1000 new\\.g\\[${at}\\] is running on node-n[123]$`))),
      '11000 new.g[0] is healthy',
      '11000 new.g[1] is healthy',
      '11000 new version 0 is successful: Deployment completed successfully',
    ]);
    expect(await cluster.storage.read((view) => view.index)).toEqual(before);
  });

  it('when there is no room: the job waits', async () => {
    const { jobs, timeline } = await played({ job: job('huge', 100), duration: 5 * minute });
    expect(jobs).toMatchObject([{ jobId: 'huge', isWaiting: true, running: 21 }]);
    expect(timeline).toContainEqual(
      expect.objectContaining({ kind: 'blocked', subject: 'huge', text: 'waits for room' }),
    );
  });

  it('when a node is drained: the same as when it is', async () => {
    const { timeline } = await played({ drainNode: 'n1', duration: 10 * minute });
    const moved = timeline.flatMap(({ namespace, subject, text }) => {
      const [, node] = /^placed on (.*)$/.exec(text) ?? [];
      return node === undefined ? [] : [`${namespace} ${subject} ${node}`];
    });
    const before = await places();
    await cluster.engine
      .as(hostPrincipal)
      .nodes.drain('n1', { spec: { Deadline: hour * 1e6, IgnoreSystemJobs: false } });
    await cluster.clock.advance(10 * minute);
    const after = await places();
    expect(moved.sort()).toEqual(after.filter((place) => !before.includes(place)));
    expect(moved.length).toBeGreaterThan(0);
    expect(timeline.filter(({ kind }) => kind === 'node').map(({ subject, text }) => `${subject} ${text}`)).toEqual([
      'node-n1 is being drained',
      'node-n1 is drained',
    ]);
  });

  it('when a node is lost: its allocations are replaced', async () => {
    const onNode = (await places()).filter((place) => place.endsWith(' node-n2')).length;
    const { timeline, jobs } = await played({ downNode: 'n2' });
    expect(timeline.filter(({ text }) => text.startsWith('placed on'))).toHaveLength(onNode);
    expect(jobs.map(({ namespace, running }) => [namespace, running]).sort()).toEqual([
      ['default', 6],
      ['other', 3],
    ]);
  });

  it('begins with the work that waits for room', async () => {
    await register('huge', 100);
    await cluster.clock.advance(minute);
    const { jobs } = await played({ job: job('web', 0), duration: 5 * minute });
    expect(jobs.find(({ jobId }) => jobId === 'huge')).toMatchObject({ running: 27, isWaiting: true });
  });

  it('takes as long for batch work as the caller says', async () => {
    const batch = batchJob('batch', { TaskGroups: [small(1)] });
    const { from, timeline } = await played({ job: batch, workFor: 7 * minute });
    expect(timeline.filter(({ text }) => text.startsWith('is complete'))).toEqual([
      expect.objectContaining({ at: new Date(Date.parse(from) + 7 * minute + second).toISOString() }),
    ]);
  });
});

describe('who sees what of it', () => {
  it('shows the job that is simulated without the right to read it, and names of nodes to nobody without theirs', async () => {
    const { timeline, jobs } = await played({ job: job('web', 8) }, planner);
    expect(jobs).toEqual([expect.objectContaining({ namespace: 'default', jobId: 'web', running: 8 })]);
    expect(timeline.every(({ namespace, jobId }) => namespace === 'default' && jobId === 'web')).toBe(true);
    expect(JSON.stringify(timeline)).not.toContain('node-n');
    expect(timeline.map(({ text }) => text)).toContain('placed');
  });

  it('hides jobs of namespaces that the caller may not read', async () => {
    const all = await played({ downNode: 'n2' });
    const own = await played({ downNode: 'n2' }, operator);
    expect(own.timeline).toEqual(all.timeline.filter(({ namespace }) => namespace !== 'other'));
    expect(own.timeline.length).toBeLessThan(all.timeline.length);
    expect(own.jobs.map(({ namespace }) => namespace)).toEqual(['default']);
  });

  it.each([
    { name: 'a drain without the right to read nodes', caller: planner, input: { drainNode: 'n1' } },
    { name: 'a loss without the right to read nodes', caller: planner, input: { downNode: 'n1' } },
    { name: 'a node beside a job', caller: planner, input: { job: job('web', 1), downNode: 'n1' } },
    { name: 'a job of another namespace', caller: planner, input: { job: job('web', 1, 'other') } },
    { name: 'another namespace', caller: operator, input: { namespace: 'other', downNode: 'n1' } },
    { name: 'anything', caller: callerWith({ areas: { node: 'read' } }), input: { downNode: 'n1' } },
  ])('refuses $name', async ({ caller, input }) => {
    expect(await simulate(input, caller)).toEqual(err({ type: 'permission_denied' }));
  });
});

describe('limits', () => {
  it.each([
    [{}, 'Job'],
    [{ drainNode: 'none' }, 'there is no node "none"'],
    [{ downNode: 'n1', duration: day + 1 }, 'duration'],
    [{ downNode: 'n1', duration: 0 }, 'duration'],
    [{ downNode: 'n1', workFor: 0 }, 'workFor'],
  ])('refuse %j', async (input, message) => {
    const refused = (await simulate(input))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ type: 'invalid_request', message: expect.stringContaining(message) });
  });

  it('refuse what a registration would refuse', async () => {
    const refused = (await simulate({ job: { ...job('web', 1), TaskGroups: [] } }))._unsafeUnwrapErr();
    expect(refused.type).toBe('invalid_job');
  });

  it('refuse a cluster that is too large', async () => {
    await cluster.storage.write((view) => {
      for (let number = 0; number < 1000; number += 1) view.put(nodes, nodeFrom(`more-${number}`));
      return ok(undefined);
    });
    const refused = (await simulate({ job: job('new', 1) }))._unsafeUnwrapErr();
    expect(refused).toMatchObject({ message: 'the cluster is too large to be simulated: at most 500 nodes' });
  });

  it('cut what never ends, and say so', async () => {
    const busy = batchJob('loop', { TaskGroups: [small(9)] });
    const result = await played({ job: busy, workFor: 1, duration: day });
    expect(result.playedUntil <= result.until).toBe(true);
    expect(result.timeline.length).toBeLessThanOrEqual(1000);
    const large = await played({ job: job('many', 20), duration: day });
    expect(large.isCut).toBe(false);
  });

  it('let one run at a time, and not too many wait', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => simulate({ downNode: 'n1' })));
    const refused = all.filter((one) => one.isErr());
    expect(refused.length).toBe(3);
    expect(all.filter((one) => one.isOk())).toHaveLength(17);
    expect((await simulate({ downNode: 'n1' })).isOk()).toBe(true);
  });

  it('let other work run between its steps', async () => {
    const turnsOf = async (duration: number): Promise<number> => {
      let turns = 0;
      let isOver = false;
      const turn = (): void => {
        turns += 1;
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      await played({ job: { ...job('web', 20), Meta: { version: '2' } }, duration });
      isOver = true;
      return turns;
    };
    await turnsOf(1);
    expect(await turnsOf(day)).toBeGreaterThan((await turnsOf(1)) + 1);
  });
});
