import { expect, it } from 'vitest';
import { jobFrom } from '../../src/jobs/index.js';
import {
  clusterFrom,
  type Evaluation,
  type Node,
  type SchedulerConfiguration,
  type SchedulingSnapshot,
  schedule,
} from '../../src/scheduler/index.js';

const node: Node = {
  ID: 'node',
  Name: 'node',
  Datacenter: 'dc1',
  NodePool: 'default',
  NodeClass: '',
  HTTPAddr: '',
  Attributes: {},
  Meta: null,
  NodeResources: {
    Cpu: { CpuShares: 4000, TotalCpuCores: 4, ReservableCpuCores: null },
    Memory: { MemoryMB: 4096 },
    Disk: { DiskMB: 10_000 },
  },
  ReservedResources: { Cpu: { CpuShares: 0 }, Memory: { MemoryMB: 0 }, Disk: { DiskMB: 0 } },
  Drivers: {
    function: { Attributes: null, Detected: true, Healthy: true, HealthDescription: '', UpdateTime: '' },
  },
  SchedulingEligibility: 'eligible',
  Status: 'ready',
  StatusDescription: '',
  StatusUpdatedAt: 0,
  CreateIndex: 1,
  ModifyIndex: 1,
};

const configuration: SchedulerConfiguration = {
  SchedulerAlgorithm: 'binpack',
  PreemptionConfig: {
    SystemSchedulerEnabled: true,
    SysBatchSchedulerEnabled: false,
    BatchSchedulerEnabled: false,
    ServiceSchedulerEnabled: false,
  },
  MemoryOversubscriptionEnabled: false,
  RejectJobRegistration: false,
  PauseEvalBroker: false,
  NodeLimitForFeasibilityChecks: 100,
  CreateIndex: 1,
  ModifyIndex: 1,
};

it('lets a user of the package decide an evaluation with nothing but its exports', () => {
  const snapshot: SchedulingSnapshot = {
    job: jobFrom({ ID: 'web', Type: 'batch' }),
    allocations: [],
    versions: new Map(),
    deployments: [],
    cluster: clusterFrom([node], []),
    configuration,
    pool: undefined,
    readAllocation: () => undefined,
    index: 10,
  };
  const evaluation: Evaluation = {
    ID: 'evaluation',
    Namespace: 'default',
    Priority: 50,
    Type: 'batch',
    TriggeredBy: 'job-register',
    JobID: 'web',
    Status: 'pending',
    CreateIndex: 9,
    ModifyIndex: 9,
    CreateTime: 0,
    ModifyTime: 0,
  };
  let made = 0;
  const { allocations } = schedule(snapshot, evaluation, 0, { next: (kind) => `${kind}-${++made}` });
  expect(allocations.map(({ Name, NodeID }) => [Name, NodeID])).toEqual([['web.group[0]', 'node']]);
});
