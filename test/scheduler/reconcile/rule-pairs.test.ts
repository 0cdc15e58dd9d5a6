import { describe, expect, it } from 'vitest';
import type { Step } from '../../replay/stories/story.js';
import {
  begin,
  evaluate,
  fail,
  lastOf,
  register,
  storyGroup,
  storyJob,
  storyNode,
  storyTask,
  storyUpdate,
} from '../../support/stories.js';

const nodes = ['n1', 'n2', 'n3'].map((name) => storyNode(name));
const everyKind = { preemption: { service: true, batch: true, system: true, sysbatch: true } };

function draining(name: string, ...allocs: string[]): Step[] {
  return [
    { do: 'node', name, drain: true },
    { do: 'transition', allocs, migrate: true },
  ];
}

describe('system jobs', () => {
  it('move the canary on a draining node to another one', () => {
    const jobWith = (cpu: number) => {
      const Update = storyUpdate({ Canary: 50, MaxParallel: 2 });
      return storyJob('job', 'system', [storyGroup({ Update, Tasks: [storyTask(cpu)] })]);
    };
    const steps = [
      register(jobWith(100)),
      begin('job', { healthy: true }),
      evaluate('job', 'deployment-watcher'),
      register(jobWith(120)),
      begin('job'),
      ...draining('n1', 'job.api[0]@n1#2'),
      evaluate('job', 'node-drain'),
    ];
    expect(lastOf(nodes.slice(0, 2), steps)).toMatchObject({
      stopped: [{ alloc: 'job.api[0]@n1#2' }, { alloc: 'job.api[0]@n2#1' }],
      placed: [{ alloc: 'job.api[0]@n2#2', canary: true, previous: 'job.api[0]@n2#1' }],
      desired: { api: { canary: 1, migrate: 1, place: 1, destructiveUpdate: 1 } },
    });
  });

  it('leave nodes outside of their new pool, and ineligible ones with any new version', () => {
    const pooled = [storyNode('n1'), storyNode('n2', { nodePool: 'p' }), storyNode('n3')];
    const steps: Step[] = [
      register(storyJob('job', 'system', [storyGroup()], { NodePool: 'all' })),
      begin('job'),
      { do: 'node', name: 'n1', eligibility: 'ineligible' },
      register(storyJob('job', 'system', [storyGroup()], { NodePool: 'p' })),
    ];
    expect(lastOf(pooled, steps, { pools: [{ name: 'p' }] })).toMatchObject({
      stopped: [{ alloc: 'job.api[0]@n1#1' }, { alloc: 'job.api[0]@n3#1' }],
      updatedInPlace: [{ alloc: 'job.api[0]@n2#1' }],
      desired: { api: { stop: 2, place: 1, inPlaceUpdate: 1 } },
    });
  });

  it('that run to their end do not run again by force or after a drain', () => {
    const begun = [register(storyJob('job', 'sysbatch', [storyGroup()])), begin('job')];
    const forced: Step[] = [
      fail('job.api[0]@n1#1'),
      { do: 'transition', allocs: ['job.api[0]@n1#1'], forceReschedule: true },
      evaluate('job', 'job-register'),
    ];
    expect(lastOf(nodes.slice(0, 2), [...begun, ...forced])).toMatchObject({
      placed: [],
      desired: { api: { ignore: 2 } },
    });
    const drained = [
      ...draining('n2', 'job.api[0]@n2#1'),
      evaluate('job', 'node-drain'),
      evaluate('job', 'node-drain'),
    ];
    expect(lastOf(nodes.slice(0, 2), [...begun, ...forced, ...drained])).toMatchObject({ placed: [], stopped: [] });
  });
});

describe('evaluations of a stopped job', () => {
  it.each(['service', 'system'] as const)('name its last deployment, however often there is one (%s)', (type) => {
    const group = storyGroup({ Update: storyUpdate() });
    const stopped: Step[] = [register(storyJob('job', type, [group])), begin('job'), { do: 'stop', job: 'job' }];
    const ended = { eval: { status: 'complete', deployment: 'D1' }, after: { deployment: { status: 'cancelled' } } };
    expect(lastOf(nodes, stopped)).toMatchObject(ended);
    expect(lastOf(nodes, [...stopped, evaluate('job', 'node-update')])).toMatchObject(ended);
  });
});

describe('an update in place that takes more room', () => {
  const side = (Sidecar: boolean) => storyTask(500, { Name: 'side', Lifecycle: { Hook: 'prestart', Sidecar } });
  const jobOf = (type: 'service' | 'system', groups: readonly string[], Count: number, sidecar: boolean) =>
    register(
      storyJob(
        'job',
        type,
        groups.map((Name) => storyGroup({ Name, Count, Tasks: [storyTask(500), side(sidecar)] })),
      ),
    );
  const small = storyNode('n1', { cpu: 1500 });

  it('leaves less to those after it: what does not fit any more is replaced where there is room', () => {
    const steps = [jobOf('service', ['api'], 2, false), begin('job'), jobOf('service', ['api'], 2, true)];
    expect(lastOf([small], steps)).toMatchObject({
      updatedInPlace: [{ alloc: 'job.api[0]#1' }],
      placed: [],
      stopped: [],
      eval: { queued: { api: 1 } },
      desired: { api: { inPlaceUpdate: 1, destructiveUpdate: 1 } },
    });
    const joined: Step[] = [...steps.slice(0, 2), { do: 'node-add', node: storyNode('n2') }, ...steps.slice(2)];
    expect(lastOf([small], joined)).toMatchObject({
      updatedInPlace: [{ alloc: 'job.api[0]#1' }],
      placed: [{ alloc: 'job.api[1]#2', node: 'n2' }],
      stopped: [{ alloc: 'job.api[1]#1' }],
    });
  });

  it('is counted across the groups of a system job', () => {
    const steps = [jobOf('system', ['a', 'b'], 1, false), begin('job'), jobOf('system', ['a', 'b'], 1, true)];
    expect(lastOf([small], steps)).toMatchObject({
      updatedInPlace: [{ alloc: 'job.a[0]@n1#1' }],
      stopped: [{ alloc: 'job.b[0]@n1#1' }],
      eval: { queued: { b: 1 } },
    });
  });

  it('keeps to what the node has exactly', () => {
    const exact = storyNode('n1', { cpu: 2000 });
    const steps = [jobOf('service', ['api'], 2, false), begin('job'), jobOf('service', ['api'], 2, true)];
    expect(lastOf([exact], steps)).toMatchObject({
      desired: { api: { inPlaceUpdate: 2 } },
      eval: { queued: { api: 0 } },
    });
  });
});

describe('a request to stop running batch work', () => {
  const policy = { Unlimited: true, Delay: 5_000_000_000, DelayFunction: 'constant', MaxDelay: 0 };
  const requested = (flags: { readonly migrate?: true; readonly reschedule: true }): Step[] => [
    register(storyJob('job', 'batch', [storyGroup({ ReschedulePolicy: policy })])),
    begin('job'),
    { do: 'advance', ms: 60_000 },
    { do: 'node', name: 'n1', eligibility: 'ineligible' },
    { do: 'transition', allocs: ['job.api[0]#1'], ...flags },
    evaluate('job', 'alloc-stop'),
  ];

  it.each([{ migrate: true, reschedule: true } as const, { reschedule: true } as const])(
    'is met although its replacement finds no room, and has it when there is room (%j)',
    (flags) => {
      expect(lastOf(nodes.slice(0, 1), requested(flags))).toMatchObject({
        stopped: [{ alloc: 'job.api[0]#1' }],
        placed: [],
        eval: { queued: { api: 1 } },
        evals: [{ name: 'E1', status: 'blocked' }],
        after: { allocs: { 'job.api[0]#1': 'stop/running v0' } },
      });
      const later: Step[] = [
        { do: 'node-add', node: storyNode('n2') },
        { do: 'evaluate', eval: 'E1' },
      ];
      expect(lastOf(nodes.slice(0, 1), [...requested(flags), ...later])).toMatchObject({
        placed: [{ alloc: 'job.api[0]#2', node: 'n2' }],
        eval: { status: 'complete', queued: { api: 0 } },
      });
    },
  );
});

describe('a group that waits for room', () => {
  it('waits for nothing any more when a new version wants less', () => {
    const small = [storyNode('n1', { cpu: 250 })];
    const jobOf = (Count: number) => storyJob('job', 'service', [storyGroup({ Count })]);
    const steps: Step[] = [register(jobOf(3)), begin('job'), register(jobOf(2)), { do: 'evaluate', eval: 'E1' }];
    expect(lastOf(small, steps)).toMatchObject({
      eval: { status: 'complete', queued: { api: 0 } },
      placed: [],
      evals: [],
      desired: { api: { ignore: 2 } },
    });
  });
});

describe('preemption', () => {
  const gpu = (Count: number) =>
    storyGroup({
      Tasks: [storyTask(100, { Resources: { CPU: 100, MemoryMB: 100, Devices: [{ Name: 'gpu', Count }] } })],
    });
  const withGpus = (healthy: number) => [
    storyNode('n1', { devices: [{ vendor: 'acme', type: 'gpu', name: 'a10', healthy }] }),
  ];

  it('counts free instances of a device, and takes from the lowest priority', () => {
    const steps = [
      register(storyJob('low', 'service', [gpu(2)], { Priority: 20 })),
      register(storyJob('middle', 'service', [gpu(1)], { Priority: 30 })),
      register(storyJob('job', 'service', [gpu(3)], { Priority: 80 })),
    ];
    expect(lastOf(withGpus(4), steps, { config: everyKind })).toMatchObject({
      preempted: [{ alloc: 'low.api[0]#1', by: 'job.api[0]#1' }],
      placed: [{ preempts: ['low.api[0]#1'] }],
    });
  });

  it('wins no whole cores, no number of allocations and no port of the host', () => {
    const cores = (Cores: number) => storyGroup({ Tasks: [storyTask(0, { Resources: { Cores, MemoryMB: 100 } })] });
    const port = (Value: number) => storyGroup({ Networks: [{ ReservedPorts: [{ Label: 'p', Value }] }] });
    const contests = [
      [storyNode('n1'), cores(4), cores(1), 'cores'],
      [storyNode('n1', { nodeMaxAllocs: 1 }), storyGroup(), storyGroup(), 'max allocation exceeded'],
      [
        storyNode('n1', { reserved: { hostPorts: '7000' } }),
        port(7001),
        port(7000),
        'network: reserved port collision p=7000',
      ],
    ] as const;
    for (const [node, held, wanted, dimension] of contests) {
      const steps = [
        register(storyJob('low', 'service', [held], { Priority: 20 })),
        register(storyJob('job', 'service', [wanted], { Priority: 80 })),
      ];
      expect(lastOf([node], steps, { config: everyKind })).toMatchObject({
        preempted: [],
        failed: { api: { dimensionExhausted: { [dimension]: 1 } } },
      });
    }
  });
});
