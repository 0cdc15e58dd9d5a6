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

const second = 1_000_000_000;
const nodes = ['n1', 'n2', 'n3'].map((name) => storyNode(name));
const disconnect = { LostAfter: 300 * second };

function away(name: string): Step {
  return { do: 'node', name, status: 'disconnected' };
}

describe('batch work on a node that is out of reach', () => {
  const job = storyJob('job', 'batch', [storyGroup({ Disconnect: disconnect })]);
  const begun = [register(job), begin('job'), away('n1'), evaluate('job', 'node-update')];

  it('is waited for, and replaced by the reschedule policy', () => {
    expect(lastOf(nodes.slice(0, 2), begun)).toMatchObject({
      unknown: [{ alloc: 'job.api[0]#1' }],
      evals: [
        { trigger: 'alloc-reschedule', waitMs: 5000 },
        { trigger: 'max-disconnect-timeout', waitMs: 300_000 },
      ],
      desired: { api: { disconnect: 1, ignore: 1, rescheduleLater: 1 } },
    });
    const later: Step[] = [
      { do: 'advance', ms: 5000 },
      { do: 'evaluate', eval: 'E1' },
    ];
    expect(lastOf(nodes.slice(0, 2), [...begun, ...later])).toMatchObject({
      placed: [{ alloc: 'job.api[0]#2', node: 'n2', previous: 'job.api[0]#1', reschedule: { events: 1 } }],
      stopped: [],
    });
  });

  it('is not replaced before it is given up without `replace`', () => {
    const kept = storyJob('job', 'batch', [storyGroup({ Disconnect: { ...disconnect, Replace: false } })]);
    const steps = [register(kept), begin('job'), away('n1'), evaluate('job', 'node-update')];
    expect(lastOf(nodes.slice(0, 2), steps)).toMatchObject({
      evals: [{ trigger: 'max-disconnect-timeout' }],
      desired: { api: { disconnect: 1, ignore: 1 } },
    });
  });
});

describe('a canary on a node that is out of reach', () => {
  const groupWith = (cpu: number) =>
    storyGroup({ Count: 2, Update: storyUpdate({ Canary: 1 }), Disconnect: disconnect, Tasks: [storyTask(cpu)] });
  const canaryOnThird = [
    register(storyJob('job', 'service', [groupWith(100)])),
    begin('job', { healthy: true }),
    evaluate('job', 'deployment-watcher'),
    register(storyJob('job', 'service', [groupWith(120)])),
    begin('job'),
    away('n3'),
    evaluate('job', 'node-update'),
  ];

  it('is waited for: no other one is placed, and nothing that it may replace is stopped', () => {
    expect(lastOf(nodes, canaryOnThird)).toMatchObject({
      unknown: [{ alloc: 'job.api[0]#2' }],
      stopped: [],
      placed: [],
      evals: [{ trigger: 'max-disconnect-timeout' }],
      desired: { api: { disconnect: 1, ignore: 3 } },
    });
  });

  it('is still the canary when it is back', () => {
    const back: Step[] = [
      { do: 'node', name: 'n3', status: 'ready' },
      { do: 'report', allocs: ['job.api[0]#2'], client: 'running' },
      evaluate('job', 'reconnect'),
    ];
    expect(lastOf(nodes, [...canaryOnThird, ...back])).toMatchObject({
      reconnected: [{ alloc: 'job.api[0]#2' }],
      stopped: [],
      placed: [],
      desired: { api: { reconnect: 1, ignore: 3 } },
    });
  });

  it('is replaced by another canary when it is given up', () => {
    const late: Step[] = [
      { do: 'advance', ms: 300_000 },
      { do: 'evaluate', eval: 'E1' },
    ];
    expect(lastOf(nodes, [...canaryOnThird, ...late])).toMatchObject({
      stopped: [{ alloc: 'job.api[0]#2', client: 'lost' }],
      placed: [{ alloc: 'job.api[0]#3', canary: true }],
      desired: { api: { canary: 1 } },
    });
  });
});

describe('a failed allocation whose job gets another reschedule policy while it waits', () => {
  const jobWith = (Delay: number) =>
    storyJob('job', 'service', [
      storyGroup({ ReschedulePolicy: { Unlimited: true, DelayFunction: 'constant', Delay: Delay * second } }),
    ]);

  it('is replaced by the policy of its own version, and the replacement records that delay', () => {
    const steps: Step[] = [
      register(jobWith(30)),
      begin('job'),
      { do: 'advance', ms: 60_000 },
      fail('job.api[0]#1'),
      evaluate('job', 'alloc-failure'),
      register(jobWith(90)),
      { do: 'advance', ms: 30_000 },
      { do: 'evaluate', eval: 'E1' },
    ];
    expect(lastOf(nodes.slice(0, 2), steps)).toMatchObject({
      placed: [{ alloc: 'job.api[0]#2', version: 1, reschedule: { events: 1, lastDelayMs: 30_000 } }],
    });
  });
});
