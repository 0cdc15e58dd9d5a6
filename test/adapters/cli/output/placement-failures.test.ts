import { describe, expect, it } from 'vitest';
import { jobDiffText } from '../../../../adapters/cli/output/job-diff.js';
import { placementFailures, placementFailuresInLine } from '../../../../adapters/cli/output/placement-failures.js';
import { coloursFor } from '../../../../adapters/cli/output/terminal-text.js';
import type { JobDiff } from '../../../../src/jobs/index.js';
import type { AllocationMetric } from '../../../../src/scheduler/index.js';

const metric = (more: Partial<AllocationMetric>): AllocationMetric => ({
  NodesEvaluated: 2,
  NodesFiltered: 2,
  NodesInPool: 2,
  NodePool: 'default',
  NodesAvailable: { dc1: 2 },
  ClassFiltered: null,
  ConstraintFiltered: null,
  NodesExhausted: 0,
  ClassExhausted: null,
  DimensionExhausted: null,
  QuotaExhausted: null,
  ResourcesExhausted: null,
  Scores: null,
  ScoreMetaData: null,
  AllocationTime: 1,
  CoalescedFailures: 0,
  ...more,
});

const job = {
  TaskGroups: [
    { Name: 'one', Tasks: [{ Driver: 'docker' }] },
    {
      Name: 'many',
      Tasks: [
        { Driver: 'docker', Resources: { Devices: [{ Name: 'nvidia/gpu' }] } },
        { Driver: 'raw_exec', Resources: null },
      ],
      Volumes: { data: { Source: 'certificates' } },
      Networks: [{ Mode: 'bridge' }],
    },
  ],
};

describe('why something was not placed', () => {
  it.each([
    ['one', 'missing drivers', 'missing driver "docker"'],
    ['many', 'missing drivers', 'missing drivers (the group requires "docker", "raw_exec")'],
    ['many', 'missing devices', 'missing device "nvidia/gpu"'],
    ['many', 'missing compatible host volumes', 'missing host volume "certificates"'],
    ['many', 'missing network', 'missing network mode "bridge"'],
    ['one', 'missing network', 'constraint "missing network"'],
    ['other', 'missing drivers', 'constraint "missing drivers"'],
    ['one', '${attr.kernel.name} = windows', 'constraint "${attr.kernel.name} = windows"'],
  ])('of group %s names what %s means', (group, reason, text) => {
    const failed = { [group]: metric({ ConstraintFiltered: { [reason]: 2 } }) };
    expect(placementFailures(failed, job)).toBe(`Group "${group}": 1 unplaced\n  * ${text}: filtered 2 nodes\n`);
    expect(placementFailuresInLine(failed, job)).toBe(`group "${group}" (1 unplaced): ${text}: filtered 2 nodes`);
  });

  it('names exhausted resources, quotas and missing nodes', () => {
    const exhausted = metric({ NodesExhausted: 1, DimensionExhausted: { memory: 1 }, QuotaExhausted: ['team'] });
    const none = metric({ NodesEvaluated: 0, NodesAvailable: {}, NodePool: 'gpu', CoalescedFailures: 2 });
    expect(placementFailuresInLine({ a: exhausted, b: none })).toBe(
      'group "a" (1 unplaced): resources exhausted on 1 node, dimension "memory": exhausted on 1 node, quota "team" is used up; ' +
        'group "b" (3 unplaced): no ready node in the pool "gpu" and the job\'s datacenters',
    );
  });

  it('and what a plan changes show control characters as escapes', () => {
    const hostile = '\u001b[2J\u001b]0;title\u0007';
    expect(placementFailures({ g: metric({ ConstraintFiltered: { [hostile]: 1 } }) })).not.toMatch(/[\u001b\u0007]/);
    const change = { Type: 'Edited', Name: hostile, Fields: [], Objects: [] } as const;
    const field = {
      Type: 'Edited',
      Name: hostile,
      Old: hostile,
      New: `a\n${hostile}`,
      Annotations: [hostile],
    } as const;
    const members = { Fields: [field], Objects: [{ ...change, Fields: [field] }] };
    const diff: JobDiff = {
      ...members,
      Type: 'Edited',
      ID: hostile,
      TaskGroups: [{ ...change, ...members, Updates: null, Tasks: [{ ...change, ...members, Annotations: null }] }],
    };
    const text = jobDiffText(diff, coloursFor(false));
    expect(text).not.toMatch(/[\u001b\u0007]/);
    expect(text).toContain('\\u001b[2J');
  });
});
