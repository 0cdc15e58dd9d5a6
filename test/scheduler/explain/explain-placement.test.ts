import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import { clusterFrom } from '../../../src/scheduler/cluster/cluster.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { explainPlacement } from '../../../src/scheduler/explain/explain-placement.js';
import type { Node } from '../../../src/scheduler/node.js';
import { schedule } from '../../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../../src/scheduler/scheduler-configuration.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

const now = Date.UTC(2026, 0, 1);
const drain = { Deadline: 0, IgnoreSystemJobs: false, ForceDeadline: null, StartedAt: '2026-01-01T00:00:00Z' };

function kinds(job: Job, node: Node): readonly string[] {
  return explainPlacement(job, [node])[0]?.nodes[0]?.obstacles.map(({ kind }) => kind) ?? [];
}

describe('why a node does not take an allocation', () => {
  const asking = (constraint: object): Job => jobFrom({ Constraints: [constraint] });
  const big = jobFrom({ TaskGroups: [groupDocument({}, { Resources: { CPU: 1500, MemoryMB: 100 } })] });
  const network = [{ Mode: 'cni/own', DynamicPorts: [{ Label: 'http' }] }];
  const volume = { data: { Name: 'data', Type: 'host', Source: 'data' } };
  it.each<[string, Job, Node, readonly string[]]>([
    ['nothing is in the way', jobFrom({}), nodeFrom('n'), []],
    ['down', jobFrom({}), nodeFrom('n', { Status: 'down' }), ['status']],
    ['ineligible', jobFrom({}), nodeFrom('n', { SchedulingEligibility: 'ineligible' }), ['eligibility']],
    ['drained', jobFrom({}), nodeFrom('n', { DrainStrategy: drain, SchedulingEligibility: 'ineligible' }), ['drain']],
    ['another pool', jobFrom({ NodePool: 'gpu' }), nodeFrom('n'), ['pool']],
    ['another datacenter', jobFrom({ Datacenters: ['dc2'] }), nodeFrom('n'), ['datacenter']],
    [
      'another system',
      asking({ LTarget: '${attr.kernel.name}', RTarget: 'linux', Operand: '=' }),
      nodeFrom('n'),
      ['constraint'],
    ],
    ['no driver', jobFrom({ TaskGroups: [groupDocument({}, { Driver: 'exec' })] }), nodeFrom('n'), ['driver']],
    ['no such network', jobFrom({ TaskGroups: [groupDocument({ Networks: network })] }), nodeFrom('n'), ['network']],
    ['no such volume', jobFrom({ TaskGroups: [groupDocument({ Volumes: volume })] }), nodeFrom('n'), ['volume']],
    ['too small', big, nodeFrom('n'), ['room']],
    ['too many allocations', jobFrom({}), nodeFrom('n', { NodeMaxAllocs: -1 }), []],
    [
      'several at once',
      { ...big, NodePool: 'gpu', Datacenters: ['dc2'] },
      nodeFrom('n', { Status: 'down' }),
      ['status', 'pool', 'datacenter', 'room'],
    ],
  ])('%s', (_name, job, node, expected) => {
    expect(kinds(job, node)).toEqual(expected);
  });

  it('says what would have to change, and which node is nearest', () => {
    const nodes = [nodeFrom('far', { Status: 'down' }), nodeFrom('near')];
    const [group] = explainPlacement(big, nodes);
    expect(group?.nearest?.nodeId).toBe('near');
    expect(group?.nearest?.obstacles).toEqual([
      {
        kind: 'room',
        message: 'The group requests 1500 MHz of cpu, 1000 MHz are free',
        lack: 500 / 1500,
        changes: [
          { of: 'job', subject: 'Resources.CPU', from: '1500 MHz', to: '1000 MHz' },
          { of: 'node', subject: 'free cpu', from: '1000 MHz', to: '1500 MHz' },
        ],
      },
    ]);
    expect(explainPlacement(jobFrom({}), nodes)[0]?.nearest).toBeUndefined();
  });

  it('names the attribute that a node would need', () => {
    const job = asking({ LTarget: '${meta.rack}', RTarget: 'r1', Operand: '=' });
    expect(explainPlacement(job, [nodeFrom('n', { Meta: { rack: 'r2' } })])[0]?.nearest?.obstacles).toMatchObject([
      {
        message: 'The job requires ${meta.rack} = r1; on the node it is "r2"',
        changes: [
          { of: 'node', subject: 'meta.rack', from: 'r2', to: 'r1' },
          { of: 'job', to: '' },
        ],
      },
    ]);
  });
});

it('a node without obstacles is one that the scheduler takes, and no other', () => {
  const anyJob = fc
    .record({
      cpu: fc.constantFrom(100, 900, 1100),
      pool: fc.constantFrom('default', 'all', 'gpu'),
      datacenter: fc.constantFrom('*', 'dc1', 'dc2'),
      driver: fc.constantFrom('raw_exec', 'exec'),
      rack: fc.constantFrom(undefined, 'r1', 'r2'),
      port: fc.constantFrom(undefined, 80, 443),
    })
    .map(({ cpu, pool, datacenter, driver, rack, port }) =>
      jobFrom({
        NodePool: pool,
        Datacenters: [datacenter],
        Constraints: rack === undefined ? [] : [{ LTarget: '${meta.rack}', RTarget: rack, Operand: '=' }],
        TaskGroups: [
          groupDocument(
            port === undefined ? {} : { Networks: [{ Mode: 'host', ReservedPorts: [{ Label: 'http', Value: port }] }] },
            { Driver: driver, Resources: { CPU: cpu, MemoryMB: 100 } },
          ),
        ],
      }),
    );
  const anyNode = fc
    .record({
      Status: fc.constantFrom('ready' as const, 'down' as const, 'disconnected' as const),
      SchedulingEligibility: fc.constantFrom('eligible' as const, 'ineligible' as const),
      rack: fc.constantFrom('r1', 'r2'),
      reserved: fc.constantFrom('', '80'),
    })
    .map(({ rack, reserved, ...change }) => {
      const node = nodeFrom('n', { ...change, Meta: { rack } });
      const Networks = { ReservedHostPorts: reserved };
      return { ...node, ReservedResources: { ...node.ReservedResources, Networks } };
    });
  fc.assert(
    fc.property(anyJob, anyNode, (job, node) => {
      expect(kinds(job, node).length === 0).toBe(isPlaced(job, node));
    }),
    { numRuns: 300 },
  );
});

function isPlaced(job: Job, node: Node): boolean {
  const { Namespace, Type, ID: JobID } = job;
  const result = schedule(
    {
      job,
      allocations: [],
      versions: new Map(),
      deployments: [],
      cluster: clusterFrom([node], []),
      configuration: defaultSchedulerConfiguration,
      pool: undefined,
      readAllocation: () => undefined,
      index: 10,
    },
    { ID: 'e', Namespace, Type, JobID, Priority: 50, TriggeredBy: 'job-register', Status: 'pending' } as Evaluation,
    now,
    { next: (kind) => kind },
  );
  return result.allocations.length === 1;
}
