import fc from 'fast-check';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { hostPrincipal } from '../../src/index.js';
import { commit } from '../../src/operations/commit.js';
import { planJob } from '../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../src/operations/jobs/registration/register-job.js';
import { processEvaluation } from '../../src/operations/scheduling/process-evaluation.js';
import { registerNode } from '../../src/operations/scheduling/register-node.js';
import { type Allocation, allocations, type TaskState } from '../../src/scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../src/scheduler/evaluation.js';
import { nodes } from '../../src/scheduler/node.js';
import { isoFromInstant, unixNanosFromInstant } from '../../src/shared/instant.js';
import { batchJob, group, type World, world } from '../operations/jobs/world.js';
import { nodeFrom } from '../support/nodes.js';

const shape = fc.record({
  count: fc.integer({ min: 0, max: 6 }),
  env: fc.constantFrom('a', 'b'),
  killTimeout: fc.constantFrom(5, 6),
  parallel: fc.nat(3),
  canaries: fc.nat(2),
  /** Of the nodes. */
  wanted: fc.constantFrom('', 'x'),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

const node = fc.record({
  room: fc.integer({ min: 1, max: 4 }),
  kind: fc.constantFrom('x', 'y'),
  later: fc.constantFrom('ready', 'ready', 'ineligible', 'down', 'disconnected'),
});
const report = fc.constantFrom('silent', 'running', 'healthy', 'complete', 'failed', 'migrate');

function document(type: string, { count, env, killTimeout, parallel, canaries, wanted }: Shape): object {
  const update = { MaxParallel: parallel, Canary: parallel === 0 ? 0 : canaries };
  const task = {
    Name: 't',
    Driver: 'raw_exec',
    Config: { command: '/bin/true' },
    Env: { A: env },
    KillTimeout: killTimeout * 1e9,
    Resources: { CPU: 100, MemoryMB: 10 },
    LogConfig: { MaxFiles: 1, MaxFileSizeMB: 1 },
  };
  const constraint = { LTarget: `\${meta.kind}`, Operand: '=', RTarget: wanted };
  return batchJob('job', {
    Type: type,
    Datacenters: ['*'],
    TaskGroups: [
      group({
        Count: type === 'system' || type === 'sysbatch' ? Math.min(count, 1) : count,
        EphemeralDisk: { SizeMB: 10 },
        ...(wanted === '' ? {} : { Constraints: [constraint] }),
        ...(type === 'service' || type === 'system' ? { Update: update } : {}),
        Tasks: [task],
      }),
    ],
  });
}

/** Registers, and works on the evaluation; it notes what it decides in the words of a plan. */
async function apply(
  w: World,
  job: object,
): Promise<{ readonly end: Evaluation; readonly made: readonly Evaluation[] }> {
  const { evalId } = (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
  const known = new Set((await w.rows(evaluations)).map(({ ID }) => ID));
  const written = await commit(w.engine, hostPrincipal, (tx) => {
    const evaluation = tx.get(evaluations, [evalId])?.record;
    if (evaluation === undefined) throw new Error('there is no evaluation');
    return ok(processEvaluation(tx, { ...evaluation, AnnotatePlan: true }).evaluation);
  });
  const made = (await w.rows(evaluations)).filter(({ ID }) => !known.has(ID));
  return { end: written._unsafeUnwrap().value, made };
}

/** What happens between two registrations: nodes leave, clients report, allocations are to move. */
async function live(w: World, reports: readonly string[], states: readonly string[]): Promise<void> {
  const now = w.clock.now();
  const changed = await commit(w.engine, hostPrincipal, (tx) => {
    for (const [at, { record }] of tx.list(nodes).entries()) {
      const state = states[at] ?? 'ready';
      const change =
        state === 'ineligible' ? { SchedulingEligibility: 'ineligible' as const } : { Status: state as 'down' };
      if (state !== 'ready') tx.put(nodes, { ...record, ...change, ModifyIndex: tx.index });
    }
    for (const [at, { record }] of tx.list(allocations).entries()) {
      tx.put(allocations, {
        ...reported(record, reports[at % reports.length] ?? 'silent', now),
        ModifyIndex: tx.index,
      });
    }
    return ok(undefined);
  });
  changed._unsafeUnwrap();
}

function reported(allocation: Allocation, report: string, now: number): Allocation {
  if (report === 'silent') return allocation;
  if (report === 'migrate') {
    return { ...allocation, DesiredTransition: { ...allocation.DesiredTransition, Migrate: true } };
  }
  const at = isoFromInstant(now);
  const dead = report === 'complete' || report === 'failed';
  const state = {
    State: dead ? 'dead' : 'running',
    Failed: report === 'failed',
    StartedAt: at,
    FinishedAt: dead ? at : null,
  };
  return {
    ...allocation,
    ClientStatus: dead ? report : 'running',
    TaskStates: { t: state as TaskState },
    ModifyTime: unixNanosFromInstant(now),
    ...(report === 'healthy'
      ? { DeploymentStatus: { Healthy: true, Timestamp: at, Canary: false, ModifyIndex: 1 } }
      : {}),
  };
}

const essence = (metrics: Evaluation['FailedTGAllocs'] | null) =>
  Object.entries(metrics ?? {}).map(([name, { CoalescedFailures, NodesInPool }]) => [
    name,
    CoalescedFailures,
    NodesInPool,
  ]);
const outline = (made: readonly Pick<Evaluation, 'TriggeredBy' | 'Status' | 'WaitUntil' | 'JobID'>[]) =>
  made
    .map(({ TriggeredBy, Status, WaitUntil, JobID }) => `${JobID} ${TriggeredBy} ${Status} ${WaitUntil ?? ''}`)
    .sort();

test('a plan tells what the registration and its evaluation then come to', async () => {
  const scene = fc.record({
    type: fc.constantFrom('service', 'service', 'batch', 'system', 'sysbatch'),
    nodes: fc.array(node, { maxLength: 4 }),
    shapes: fc.array(shape, { minLength: 1, maxLength: 3 }),
    reports: fc.array(report, { minLength: 1, maxLength: 5 }),
    minutes: fc.nat(3),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ type, nodes: members, shapes, reports, minutes }) => {
      const w = world();
      for (const [at, { room, kind }] of members.entries()) {
        const base = nodeFrom(`00000000-0000-4000-8000-00000000000${at}`, { Meta: { kind } });
        const Cpu = { CpuShares: room * 100, TotalCpuCores: 1, ReservableCpuCores: null };
        (
          await registerNode(w.engine, hostPrincipal, { ...base, NodeResources: { ...base.NodeResources, Cpu } })
        )._unsafeUnwrap();
      }
      for (const each of shapes) {
        const job = document(type, each);
        const before = JSON.stringify(await w.rows(allocations));
        const plan = (await planJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
        expect(JSON.stringify(await w.rows(allocations))).toBe(before);
        const { end, made } = await apply(w, job);
        expect(plan.annotations).toEqual(end.PlanAnnotations);
        expect(essence(plan.failedPlacements)).toEqual(essence(end.FailedTGAllocs));
        expect(outline(plan.createdEvaluations ?? [])).toEqual(outline(made));
        await w.clock.advance(minutes * 60_000);
        await live(
          w,
          reports,
          members.map(({ later }) => later),
        );
      }
    }),
    { numRuns: 60 },
  );
});
