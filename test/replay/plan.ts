import { hostPrincipal } from '../../src/index.js';
import { planJob } from '../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../src/operations/jobs/registration/register-job.js';
import { registerNode } from '../../src/operations/scheduling/register-node.js';
import { fakeCluster } from '../support/fake-agents.js';
import { nodeFrom } from '../support/nodes.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface PlanVector extends Vector {
  /** Registered and placed before; null: none. */
  readonly old: object | null;
  readonly new: object;
  readonly status: number;
  /** A text when the status is not 200. */
  readonly answer: {
    readonly Diff: unknown;
    readonly Annotations: unknown;
    readonly failed_groups: readonly string[] | null;
  };
}

/** A whole plan: the registration and the scheduling of a job on three nodes. */
export const play: Play<PlanVector> = async (vector) => {
  await using cluster = fakeCluster();
  for (const node of nodes) (await registerNode(cluster.engine, hostPrincipal, node))._unsafeUnwrap();
  if (vector.old !== null) {
    (await registerJob(cluster.engine, hostPrincipal, { job: vector.old, fromWire: true }))._unsafeUnwrap();
    await cluster.clock.settle();
  }
  const planned = await planJob(cluster.engine, hostPrincipal, { job: vector.new, diff: true, fromWire: true });
  if (vector.status !== 200) return planned.isErr() ? undefined : 'the plan is given, and not refused';
  if (planned.isErr()) return `the plan is refused: ${planned.error.type}`;
  const { annotations, diff, failedPlacements } = planned.value;
  const actual = { Diff: diff, Annotations: annotations, failed_groups: Object.keys(failedPlacements ?? {}).sort() };
  const { Diff, Annotations, failed_groups: groups } = vector.answer;
  return firstDifference(JSON.parse(JSON.stringify(actual)), {
    Diff,
    Annotations,
    failed_groups: [...(groups ?? [])].sort(),
  });
};

const driver = {
  Attributes: null,
  Detected: true,
  Healthy: true,
  HealthDescription: '',
  UpdateTime: '2026-01-01T00:00:00Z',
};

/** The nodes on which the plans were recorded. */
const nodes = ['east', 'west', 'east'].map((Datacenter, at) =>
  nodeFrom(`00000000-0000-4000-8000-00000000000${at}`, {
    Name: `w${at}`,
    Datacenter,
    Attributes: {
      'kernel.name': 'linux',
      arch: 'amd64',
      'nomad.version': '2.0.6',
      'nomad.service_discovery': 'true',
      'unique.hostname': `w${at}`,
      'driver.docker': '1',
      'driver.exec': '1',
    },
    NodeResources: {
      Cpu: { CpuShares: 4000, TotalCpuCores: 4, ReservableCpuCores: null },
      Memory: { MemoryMB: 4096 },
      Disk: { DiskMB: 100_000 },
    },
    Drivers: { docker: driver, exec: driver },
  }),
);
