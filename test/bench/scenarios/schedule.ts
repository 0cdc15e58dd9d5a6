import { ok } from 'neverthrow';
import { memoryStorage } from '../../../adapters/memory/index.js';
import type { Job } from '../../../src/jobs/document/job.js';
import { nextBlocked } from '../../../src/operations/scheduling/evaluation-loop.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import { firstPass } from '../../../src/scheduler/blocked/blocked-pass.js';
import { blockedRequirements } from '../../../src/scheduler/blocked/blocked-requirement.js';
import { type Cluster, clusterFrom } from '../../../src/scheduler/cluster/cluster.js';
import { type Evaluation, evaluations } from '../../../src/scheduler/evaluation.js';
import type { Node } from '../../../src/scheduler/node.js';
import { capacitySignals } from '../../../src/scheduler/node-tables.js';
import type { SchedulingResult } from '../../../src/scheduler/plan/outcome.js';
import { schedule, schedulingSteps } from '../../../src/scheduler/schedule.js';
import { defaultSchedulerConfiguration } from '../../../src/scheduler/scheduler-configuration.js';
import type { SchedulingSnapshot } from '../../../src/scheduler/snapshot.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';
import type { Measured } from './store-slices.js';

const NODES = 5_000;
const PLACEMENTS = 1_000;
const LIVE = 10_000;
const BLOCKED = 10_000;
/** What an evaluation would change if it left the rest to the next one. */
const ATONCE = 64;
const SLICES = 5;
const now = Date.UTC(2026, 0, 1);

/** Evaluations of large jobs on many nodes: processor time, beside plain loops over the same amounts. */
export async function run(): Promise<Measured[]> {
  const nodes = Array.from({ length: NODES }, (_, at) => benchNode(at));
  const empty = clusterFrom(nodes, []);
  const placing = snapshotOf(jobOf(PLACEMENTS), [], empty);
  const settled = settledJob(nodes);
  const failing = oneFailed(settled);
  const changed = nextVersion(settled);
  const missing = withAllocations(settled, settled.allocations.slice(ATONCE), nodes);
  const rest = withAllocations(changed, changed.allocations.map(updatedFrom(ATONCE, changed)), nodes);
  return [
    row(`schedule: ${PLACEMENTS} placements on ${NODES} nodes`, () => decide(placing), scan(nodes), 10),
    row(`schedule: ${LIVE} allocations, one has failed`, () => decide(failing), copy(settled.allocations), 20),
    row(`schedule: ${LIVE} allocations, all updated in place`, () => decide(changed), copy(settled.allocations), 200),
    row(`schedule: ${LIVE} allocations, no change`, () => decide(settled), pass(settled.allocations), 1),
    row(`schedule: ${ATONCE} missing of ${LIVE} allocations`, () => decide(missing), scan(nodes), 10),
    row(
      `schedule: ${ATONCE} updated in place of ${LIVE} allocations`,
      () => decide(rest),
      copy(settled.allocations),
      10,
    ),
    longestStep(changed),
    await freedSlot(),
    memoryRow(nodes, settled.allocations),
  ];
}

function benchNode(at: number): Node {
  const node = nodeFrom(`node-${at}`, { Datacenter: `dc${at % 4}`, CreateIndex: at, NodeClass: `class-${at % 8}` });
  const Cpu = { ...node.NodeResources.Cpu, CpuShares: 8000 + (at % 7) * 1000 };
  return {
    ...node,
    NodeResources: { ...node.NodeResources, Cpu, Memory: { MemoryMB: 16_000 }, Disk: { DiskMB: 50_000 } },
  };
}

function jobOf(count: number): Job {
  return jobFrom({ TaskGroups: [groupDocument({ Count: count, Update: { MaxParallel: count } })] });
}

function snapshotOf(job: Job, allocations: readonly Allocation[], cluster: Cluster): SchedulingSnapshot {
  return {
    job,
    allocations,
    versions: new Map(),
    deployments: [],
    cluster,
    configuration: defaultSchedulerConfiguration,
    pool: undefined,
    readAllocation: () => undefined,
    index: 100,
  };
}

function evaluationOf({ job }: SchedulingSnapshot): Evaluation {
  const { Namespace = 'default', ID = '', Type = 'service' } = job ?? {};
  const indexes = { CreateIndex: 99, ModifyIndex: 99, CreateTime: 0, ModifyTime: 0 };
  return {
    ID: 'e',
    Namespace,
    Priority: 50,
    Type,
    TriggeredBy: 'job-register',
    JobID: ID,
    Status: 'pending',
    ...indexes,
  };
}

function decide(snapshot: SchedulingSnapshot): SchedulingResult {
  return schedule(snapshot, evaluationOf(snapshot), now, counter());
}

function counter() {
  let last = 0;
  return { next: (kind: string) => `${kind}-${++last}` };
}

/** All of the job's allocations are placed and run. */
function settledJob(nodes: readonly Node[]): SchedulingSnapshot {
  const job = jobOf(LIVE);
  const placed = decide(snapshotOf(job, [], clusterFrom(nodes, [])));
  const allocations = placed.allocations.map((one) => ({ ...one, ClientStatus: 'running' as const }));
  return snapshotOf(job, allocations, clusterFrom(nodes, allocations));
}

function oneFailed(settled: SchedulingSnapshot): SchedulingSnapshot {
  const [first, ...others] = settled.allocations;
  const failed = { ...first!, ClientStatus: 'failed' as const };
  return { ...settled, allocations: [failed, ...others] };
}

/** A new version that goes on in place. */
function nextVersion(settled: SchedulingSnapshot): SchedulingSnapshot {
  const before = settled.job!;
  const job = { ...before, Priority: 60, Version: before.Version + 1, JobModifyIndex: 90, ModifyIndex: 90 };
  return { ...settled, job, versions: new Map([[before.Version, before]]) };
}

function withAllocations(snapshot: SchedulingSnapshot, allocations: readonly Allocation[], nodes: readonly Node[]) {
  return { ...snapshot, allocations, cluster: clusterFrom(nodes, allocations) };
}

/** All from the position on have the version of the job. */
function updatedFrom(position: number, { job }: SchedulingSnapshot) {
  return (one: Allocation, at: number): Allocation => (at < position ? one : { ...one, JobVersion: job!.Version });
}

/** The best node for each placement by a plain look at all of them: the least that an exact choice without an index costs. */
function scan(nodes: readonly Node[]): () => void {
  const free = Float64Array.from(nodes, (node) => node.NodeResources.Cpu.CpuShares);
  return () => {
    const left = free.slice();
    for (let placement = 0; placement < PLACEMENTS; placement += 1) {
      let best = 0;
      for (let at = 1; at < left.length; at += 1) {
        if (left[at]! >= 100 && 100 / left[at]! > 100 / left[best]!) best = at;
      }
      left[best]! -= 100;
    }
  };
}

function copy(allocations: readonly Allocation[]): () => void {
  return () => void allocations.map((allocation) => ({ ...allocation, ModifyIndex: 1 }));
}

function pass(allocations: readonly Allocation[]): () => void {
  return () =>
    void allocations.filter(({ ClientStatus, DesiredStatus }) => ClientStatus === 'running' && DesiredStatus === 'run');
}

function row(name: string, ours: () => void, floor: () => void, max: number): Measured {
  const [best, least] = fastest([ours, floor]);
  return { name, ours: best!, floor: least!, unit: 'ms', ratio: best!, limit: { max } };
}

/** Milliseconds of processor time, the best of alternating slices. */
function fastest(works: readonly (() => void)[]): number[] {
  const best = works.map(() => Infinity);
  for (let slice = 0; slice < SLICES; slice += 1) {
    for (const [at, work] of works.entries()) {
      const before = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(before);
      best[at] = Math.min(best[at]!, (user + system) / 1000);
    }
  }
  return best;
}

/** How long an evaluation that is taken in steps keeps the event loop from other work. */
function longestStep(snapshot: SchedulingSnapshot): Measured {
  let best = Infinity;
  for (let slice = 0; slice < SLICES; slice += 1) best = Math.min(best, longestOnce(snapshot));
  const name = `schedule: ${LIVE} allocations, the longest step`;
  return { name, ours: best, floor: Number.NaN, unit: 'ms', ratio: best, limit: { max: 10 } };
}

function longestOnce(snapshot: SchedulingSnapshot): number {
  const steps = schedulingSteps(snapshot, evaluationOf(snapshot), now, counter());
  let longest = 0;
  for (;;) {
    const before = process.cpuUsage();
    const { done } = steps.next();
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    if (done === true) return longest;
  }
}

/** What is to be tried next when one slot is freed, and many blocked jobs of two sizes wait for it. */
async function freedSlot(): Promise<Measured> {
  const storage = memoryStorage();
  const signal = { name: 'capacity' as const, index: 1 };
  await storage.write((tx) => {
    for (let at = 0; at < BLOCKED; at += 1) {
      const { FailedTGAllocs: _none, ...evaluation } = evaluationOf(snapshotOf(jobOf(1), [], clusterFrom([], [])));
      const ID = `blocked-${at}`;
      tx.put(evaluations, { ...evaluation, ID, JobID: `job-${at}`, Status: 'blocked' });
      tx.put(blockedRequirements, {
        ID,
        requirement: at % 2 === 0 ? 'small' : 'large',
        priority: at % 100,
        createIndex: at,
      });
    }
    tx.put(capacitySignals, signal);
    return ok(undefined);
  });
  const next = async (): Promise<number> => {
    const before = process.cpuUsage();
    const tried = (await storage.read((view) => nextBlocked(view, firstPass).entry?.priority))._unsafeUnwrap();
    const { user, system } = process.cpuUsage(before);
    if (tried !== 99) throw new Error(`the most urgent one was to be tried, not one of priority ${tried}`);
    return (user + system) / 1000;
  };
  let best = Infinity;
  for (let slice = 0; slice < SLICES; slice += 1) best = Math.min(best, await next());
  const name = `schedule: ${BLOCKED} blocked jobs, one freed slot`;
  return { name, ours: best, floor: Number.NaN, unit: 'ms', ratio: best, limit: { max: 1 } };
}

/** What 100,000 live allocations on the nodes take up in the cluster's books. */
function memoryRow(nodes: readonly Node[], pattern: readonly Allocation[]): Measured {
  const collect = globalThis.gc ?? ((): void => {});
  collect();
  const before = process.memoryUsage().heapUsed;
  const all = Array.from({ length: 10 }, (_, round) =>
    pattern.map((one) => ({ ...one, ID: `${one.ID}-${round}` })),
  ).flat();
  const cluster = clusterFrom(nodes, all);
  collect();
  const used = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  const name = `schedule: memory of ${cluster.nodeStates.reduce((sum, book) => sum + book.count, 0)} live allocations`;
  return { name, ours: used, floor: Number.NaN, unit: 'MB', ratio: used, limit: { max: 600 } };
}
