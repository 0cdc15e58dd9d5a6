import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import { isClientTerminal, isTerminalAllocation } from '../../../src/scheduler/allocation.js';
import { capacityUsedBy, nodeCapacity } from '../../../src/scheduler/cluster/capacity.js';
import { isActiveDeployment } from '../../../src/scheduler/deployment/deployment.js';
import { simulate, simulateInSteps } from '../../../src/scheduler/simulate/simulate.js';
import type { SimulatedEvent, Simulation } from '../../../src/scheduler/simulate/simulation.js';
import { finish } from '../../../src/scheduler/steps.js';
import { hour, minute, second } from '../../../src/shared/duration.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const now = Date.UTC(2026, 0, 1);
const nodes = [nodeFrom('n1'), nodeFrom('n2'), nodeFrom('n3')];
const update = { MaxParallel: 1, MinHealthyTime: 10_000_000_000, AutoRevert: true };

function web(command: string, change: Record<string, unknown> = {}): Job {
  const group = groupDocument({ Count: 3, Update: update, ...change }, { Config: { command } });
  return jobFrom({ ID: 'web', TaskGroups: [group] });
}

function live({ allocations }: Simulation, jobId = 'web') {
  return allocations.filter((one) => one.JobID === jobId && !isTerminalAllocation(one));
}

function told({ timeline }: Simulation, kind: string): string[] {
  return timeline
    .filter((entry) => entry.kind === kind)
    .map(({ at, subject, text }) => `${(at - now) / second} ${subject} ${text}`);
}

const registered: SimulatedEvent = { at: now, do: 'register', job: web('/bin/v1') };

describe('a cluster on virtual time', () => {
  it('brings a service up, and its deployment to an end', () => {
    const played = simulate({ now, nodes }, [registered], now + hour);
    expect(told(played, 'deployment')).toEqual([
      '0 web version 0 is running: Deployment is running',
      '11 web version 0 is successful: Deployment completed successfully',
    ]);
    expect(
      live(played)
        .map(({ Name }) => Name)
        .sort(),
    ).toEqual(['web.app[0]', 'web.app[1]', 'web.app[2]']);
    expect(played.jobs[0]?.Stable).toBe(true);
  });

  it('rolls a new version out one by one', () => {
    const played = simulate(
      { now, nodes },
      [registered, { at: now + minute, do: 'register', job: web('/bin/v2') }],
      now + hour,
    );
    const placed = played.timeline.filter(({ at, text }) => at >= now + minute && text.startsWith('placed'));
    expect(placed.map(({ at }) => (at - now) / second)).toEqual([60, 71, 82]);
    expect(live(played).every(({ JobVersion }) => JobVersion === 1)).toBe(true);
  });

  it('goes back to the last stable version when the new one fails', () => {
    const events: SimulatedEvent[] = [
      registered,
      {
        at: now + minute,
        do: 'register',
        job: web('/bin/v2', { ReschedulePolicy: { Attempts: 0, Unlimited: false } }),
      },
      { at: now + minute + 2 * second, do: 'fail', allocation: 'web.app[0]' },
    ];
    const played = simulate({ now, nodes }, events, now + hour);
    expect(told(played, 'deployment').at(-1)).toMatch(/version 2 is successful/);
    expect(live(played).map(({ JobVersion }) => JobVersion)).toEqual([2, 2, 2]);
    expect(live(played)).toHaveLength(3);
  });

  it('replaces what a lost node had, and empties a drained one group by group', () => {
    const lost = simulate(
      { now, nodes },
      [registered, { at: now + minute, do: 'status', nodeId: 'n1', status: 'down' }],
      now + hour,
    );
    expect(live(lost).every(({ NodeID }) => NodeID !== 'n1')).toBe(true);
    expect(live(lost)).toHaveLength(3);
    const drained = simulate({ now, nodes }, [registered, { at: now + minute, do: 'drain', nodeId: 'n1' }], now + hour);
    expect(live(drained).every(({ NodeID }) => NodeID !== 'n1')).toBe(true);
    expect(told(drained, 'node').at(-1)).toMatch(/node-n1 is drained$/);
  });

  it('replaces what failed while its deployment succeeded', () => {
    const events: SimulatedEvent[] = [
      registered,
      { at: now + minute, do: 'register', job: web('/bin/v1', { Count: 4 }) },
      { at: now + minute + 11 * second, do: 'fail', allocation: 'web.app[0]' },
    ];
    const played = simulate({ now, nodes }, events, now + hour);
    const text = '71 web version 1 is successful: Deployment completed successfully';
    expect(told(played, 'deployment').at(-1)).toBe(text);
    expect(live(played)).toHaveLength(4);
  });

  it('runs blocked work as soon as there is room', () => {
    const big = jobFrom({ ID: 'big', TaskGroups: [groupDocument({}, { Resources: { CPU: 900, MemoryMB: 100 } })] });
    const events: SimulatedEvent[] = [
      registered,
      { at: now + minute, do: 'register', job: big },
      { at: now + 2 * minute, do: 'stop', jobId: 'web' },
    ];
    const played = simulate({ now, nodes: nodes.slice(0, 1) }, events, now + hour);
    expect(told(played, 'blocked')).toEqual(['60 big waits for room']);
    expect(live(played, 'big').map(({ CreateTime }) => CreateTime / 1e6 - now)).toEqual([2 * minute]);
  });

  it('says what could not happen', () => {
    const { refused } = simulate({ now, nodes }, [{ at: now, do: 'stop', jobId: 'web' }], now + minute);
    expect(refused.map(({ reason }) => reason)).toEqual(['there is no job "web"']);
  });
});

const drawnEvent = fc.record({
  at: fc.integer({ min: 0, max: 900 }).map((seconds) => now + seconds * second),
  nodeId: fc.constantFrom('n1', 'n2', 'n3'),
  index: fc.nat(3),
  what: fc.oneof(
    fc.record({
      do: fc.constant('register' as const),
      version: fc.constantFrom('v1', 'v2', 'v3'),
      Count: fc.integer({ min: 0, max: 4 }),
      Canary: fc.constantFrom(0, 0, 1),
    }),
    fc.record({ do: fc.constant('status' as const), status: fc.constantFrom('ready' as const, 'down' as const) }),
    fc.record({ do: fc.constantFrom('fail' as const, 'drain' as const, 'batch' as const, 'stop' as const) }),
    fc.record({
      do: fc.constant('deployment' as const),
      action: fc.constantFrom('promote' as const, 'fail' as const),
    }),
  ),
});

type DrawnEvent = typeof drawnEvent extends fc.Arbitrary<infer Drawn> ? Drawn : never;

function eventOf({ at, nodeId, index, what }: DrawnEvent): SimulatedEvent {
  switch (what.do) {
    case 'register':
      return {
        at,
        do: 'register',
        job: web(`/bin/${what.version}`, {
          Count: what.Count,
          Update: { ...update, Canary: what.Canary, AutoPromote: what.Canary > 0 },
          Networks: [{ Mode: 'host', DynamicPorts: [{ Label: 'http' }] }],
        }),
      };
    case 'batch':
      return {
        at,
        do: 'register',
        job: jobFrom({
          ID: 'work',
          Type: 'batch',
          Priority: 40 + (at % 20),
          TaskGroups: [groupDocument({ Count: 6 }, { Resources: { CPU: 300, MemoryMB: 50 } })],
        }),
      };
    case 'status':
      return { at, do: 'status', nodeId, status: what.status };
    case 'fail':
      return { at, do: 'fail', allocation: `web.app[${index}]` };
    case 'drain':
      return { at, do: 'drain', nodeId, deadline: minute };
    case 'stop':
      return { at, do: 'stop', jobId: 'web' };
    case 'deployment':
      return { at, do: 'deployment', jobId: 'web', action: what.action };
  }
}

const anyEvent = drawnEvent.map(eventOf);

describe('whatever happens', () => {
  it('nodes are never promised twice, names are held once, and counts are reached at rest', () => {
    const property = fc.property(
      fc.array(anyEvent, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 0, max: 1000 }),
      (events, seconds) => {
        const midway = simulate({ now, nodes }, events, now + seconds * second);
        checkBooks(midway);
        const atRest = simulate({ now, nodes }, events, now + 12 * hour);
        checkBooks(atRest);
        checkCounts(atRest);
        expect(simulate({ now, nodes }, events, now + seconds * second)).toEqual(midway);
      },
    );
    // The same draws on every run; a campaign draws others.
    const runs = process.env['SIMULATIONS'];
    fc.assert(property, runs === undefined ? { numRuns: 40, seed: 1 } : { numRuns: Number(runs) });
  });
});

/** What the nodes' allocations take is within what the nodes have, and no port is given twice. */
function checkBooks({ nodes: all, allocations }: Simulation): void {
  for (const node of all) {
    const here = allocations.filter((one) => one.NodeID === node.ID && !isClientTerminal(one));
    const { cpu, memory } = nodeCapacity(node);
    expect(here.reduce((sum, one) => sum + capacityUsedBy(one).cpu, 0)).toBeLessThanOrEqual(cpu);
    expect(here.reduce((sum, one) => sum + capacityUsedBy(one).memory, 0)).toBeLessThanOrEqual(memory);
    const ports = here.flatMap(({ AllocatedResources }) =>
      (AllocatedResources.Shared.Ports ?? []).map(({ Value }) => Value),
    );
    expect(new Set(ports).size).toBe(ports.length);
  }
}

function checkCounts(played: Simulation): void {
  for (const job of played.jobs) {
    if (job.Type !== 'service') continue;
    const running = live(played, job.ID);
    const names = running.filter(({ DeploymentStatus }) => DeploymentStatus?.Canary !== true).map(({ Name }) => Name);
    expect(new Set(names).size).toBe(names.length);
    const latest = played.deployments.filter(({ JobID }) => JobID === job.ID).at(-1);
    const held = latest !== undefined && (isActiveDeployment(latest) || latest.Status === 'failed');
    const blocked = played.evaluations.some((one) => one.JobID === job.ID && one.Status === 'blocked');
    if (!held && !blocked) expect(running).toHaveLength(job.Stop ? 0 : (job.TaskGroups[0]?.Count ?? 0));
  }
}

describe('two namespaces with jobs of one ID', () => {
  const one = web('/bin/v1', { Count: 2 });
  const other: Job = { ...web('/bin/v1', { Count: 1 }), Namespace: 'other' };
  const both: readonly SimulatedEvent[] = [
    { at: now, do: 'register', job: one },
    { at: now, do: 'register', job: other },
  ];
  const names = (played: Simulation): string[] =>
    live(played)
      .map(({ Namespace, Name }) => `${Namespace} ${Name}`)
      .sort();

  it('are two jobs', () => {
    const played = simulate({ now, nodes }, both, now + hour);
    expect(names(played)).toEqual(['default web.app[0]', 'default web.app[1]', 'other web.app[0]']);
    expect(played.jobs.map(({ Namespace, Version, Stable }) => [Namespace, Version, Stable])).toEqual([
      ['default', 0, true],
      ['other', 0, true],
    ]);
    expect(played.timeline.filter(({ kind }) => kind === 'job').map(({ namespace }) => namespace)).toEqual([
      'default',
      'other',
    ]);
  });

  it('have separate events', () => {
    const played = simulate(
      { now, nodes },
      [
        ...both,
        { at: now + minute, do: 'stop', namespace: 'other', jobId: 'web' },
        { at: now + minute, do: 'fail', namespace: 'third', allocation: 'web.app[0]' },
        { at: now + minute, do: 'deployment', namespace: 'third', jobId: 'web', action: 'promote' },
      ],
      now + hour,
    );
    expect(names(played)).toEqual(['default web.app[0]', 'default web.app[1]']);
    expect(played.refused.map(({ reason }) => reason)).toEqual([
      'there is no live allocation "web.app[0]"',
      'job "web" has no deployment',
    ]);
  });
});

describe('a simulation in steps', () => {
  it('is the same, and says where it was cut', () => {
    const whole = simulate({ now, nodes }, [registered], now + hour);
    expect(finish(simulateInSteps({ now, nodes }, [registered], now + hour))).toEqual(whole);
    expect(whole.playedUntil).toBe(now + hour);
    for (const most of [
      { times: 2, records: Number.POSITIVE_INFINITY, lines: 1000 },
      { times: 1000, records: 5, lines: 1000 },
      { times: 1000, records: Number.POSITIVE_INFINITY, lines: 3 },
    ]) {
      const cut = finish(simulateInSteps({ now, nodes }, [registered], now + hour, most));
      expect(cut.playedUntil).toBeLessThan(now + hour);
      expect(cut.timeline).toEqual(whole.timeline.slice(0, cut.timeline.length));
      expect(cut.timeline.every(({ at }) => at <= cut.playedUntil)).toBe(true);
    }
  });

  it('begins with what waits for room', () => {
    const small = web('/bin/v1', { Count: 200 });
    const full = simulate({ now, nodes }, [{ at: now, do: 'register', job: small }], now + minute);
    const blocked = full.evaluations.filter(({ Status }) => Status === 'blocked');
    expect(blocked).toHaveLength(1);
    const { jobs, allocations, deployments } = full;
    const later = now + minute;
    const start = { now: later, nodes: full.nodes, jobs, allocations, deployments, evaluations: blocked };
    const room: SimulatedEvent = { at: later, do: 'join', node: nodeFrom('n9') };
    expect(live(simulate(start, [room], later + hour)).length).toBeGreaterThan(live(full).length);
    const forgotten = simulate({ ...start, evaluations: [] }, [room], later + hour);
    expect(live(forgotten).length).toBe(live(full).length);
  });
});
