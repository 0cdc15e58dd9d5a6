import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { AllocationMetric } from '../../../src/scheduler/allocation-metric.js';
import { requirementNames } from '../../../src/scheduler/blocked/requirement-names.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

/** What a blocked evaluation of the job waits for when these groups could not be placed. */
const waitsFor = (job: Job, groups: readonly string[] = job.TaskGroups.map(({ Name }) => Name)) =>
  requirementNames(job, {
    ID: 'e',
    Namespace: job.Namespace,
    JobID: job.ID,
    Status: 'blocked',
    FailedTGAllocs: Object.fromEntries(groups.map((name) => [name, {} as AllocationMetric])),
  } as unknown as Evaluation);

const rule = { LTarget: '${attr.kernel.name}', RTarget: 'linux', Operand: '=' };

const batch = (document: Record<string, unknown> = {}) => jobFrom({ Type: 'batch', ...document });

describe('what a blocked evaluation waits for', () => {
  it('is nothing once it is over', () => {
    const over = { Namespace: 'default', JobID: 'web', Status: 'complete' } as Evaluation;
    expect(requirementNames(batch(), over)).toEqual([]);
  });

  it('is the same for jobs that want the same of a node', () => {
    const other = batch({
      ID: 'other',
      Name: 'else',
      Priority: 90,
      Meta: { a: 'b' },
      TaskGroups: [groupDocument({ Name: 'x', Count: 7 })],
    });
    expect(waitsFor(other)).toEqual(waitsFor(batch()));
  });

  it.each<[string, Record<string, unknown>]>([
    ['another type, of which other rules of preemption may hold', { Type: 'service' }],
    ['another pool', { NodePool: 'big' }],
    ['another datacenter', { Datacenters: ['dc2'] }],
    ['a rule of the job', { Constraints: [{ LTarget: 'kernel.name', RTarget: 'linux', Operand: '=' }] }],
    ['a rule of the group', { TaskGroups: [groupDocument({ Constraints: [rule] })] }],
    ['a rule of the task', { TaskGroups: [groupDocument({}, { Constraints: [rule] })] }],
    ['a volume', { TaskGroups: [groupDocument({ Volumes: { data: { Type: 'host', Source: 'data' } } })] }],
    [
      'another place in the life of the group',
      { TaskGroups: [groupDocument({}, { Lifecycle: { Hook: 'poststop' } })] },
    ],
    ['more memory', { TaskGroups: [groupDocument({}, { Resources: { CPU: 100, MemoryMB: 101 } })] }],
    ['another driver', { TaskGroups: [groupDocument({}, { Driver: 'function' })] }],
    ['another user', { TaskGroups: [groupDocument({}, { User: 'nobody' })] }],
    ['an artifact', { TaskGroups: [groupDocument({}, { Artifacts: [{ GetterSource: 'https://h/a' }] })] }],
    ['more disk', { TaskGroups: [groupDocument({ EphemeralDisk: { SizeMB: 11 } })] }],
    ['a port', { TaskGroups: [groupDocument({ Networks: [{ ReservedPorts: [{ Label: 'http', Value: 80 }] }] })] }],
  ])('is something else with %s', (_what, document) => {
    expect(waitsFor(batch(document))).not.toEqual(waitsFor(batch()));
  });

  it('is the node, for a system job', () => {
    const job = jobFrom({ Type: 'system' });
    const waitsOn = (NodeID: string) =>
      requirementNames(job, { Namespace: 'default', JobID: job.ID, Status: 'blocked', NodeID } as Evaluation);
    expect(waitsOn('n1')).not.toEqual(waitsOn('n2'));
    expect(waitsOn('n1')).toHaveLength(1);
  });

  it('is one for each group that could not be placed', () => {
    const large = groupDocument({ Name: 'large' }, { Resources: { CPU: 900, MemoryMB: 100 } });
    const job = batch({ TaskGroups: [groupDocument(), large] });
    expect(waitsFor(job)).toHaveLength(2);
    expect(waitsFor(job, ['app'])).toEqual(waitsFor(batch()));
  });

  it('is its own where the rest of the job decides, and for particular nodes', () => {
    const distinct = { Constraints: [{ Operand: 'distinct_hosts', RTarget: 'true' }] };
    expect(waitsFor(batch(distinct))).not.toEqual(waitsFor(batch({ ...distinct, ID: 'other' })));
    const volumes = { Volumes: { data: { Type: 'host', Source: 'data', PerAlloc: true } } };
    const perAllocation = { TaskGroups: [groupDocument(volumes)] };
    expect(waitsFor(batch(perAllocation))).not.toEqual(waitsFor(batch({ ...perAllocation, ID: 'other' })));
    expect(waitsFor(jobFrom({ Type: 'system' }))).not.toEqual(waitsFor(jobFrom({ Type: 'system', ID: 'other' })));
  });
});
