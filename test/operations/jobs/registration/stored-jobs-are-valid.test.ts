import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { jobs } from '../../../../src/jobs/job-record.js';
import { revertJob } from '../../../../src/operations/jobs/job-versions.js';
import { planJob } from '../../../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { validateSubmittedJob } from '../../../../src/operations/jobs/registration/validate-submitted-job.js';
import { scaleJob } from '../../../../src/operations/jobs/scale-job.js';
import { batchJob, group, serviceJob, type World, world } from '../world.js';

const current = async (w: World) => (await w.rows(jobs))[0];
const scaled = (Count: number, Min: number, Max: number, more: object = {}) =>
  serviceJob('web', { TaskGroups: [group({ Count, Scaling: { Min, Max } })], ...more });

/** What the interface finds wrong with the job as it is stored. */
async function faultsOf(w: World): Promise<readonly string[]> {
  const job = (await current(w)) as object;
  const found = await validateSubmittedJob(w.engine, hostPrincipal, { job, fromWire: true });
  return found._unsafeUnwrap().errors;
}

describe('a registration that keeps counts', () => {
  it.each([
    ['above the new maximum', 8, scaled(2, 1, 5, { Priority: 60 }), 5],
    ['below the new minimum', 1, scaled(9, 4, 9, { Priority: 60 }), 4],
    ['within the new bounds', 3, scaled(9, 2, 9, { Priority: 60 }), 3],
    ['without bounds', 8, serviceJob('web', { Priority: 60 }), 8],
  ])('that are %s stores one that can be registered again', async (_what, count, next, expected) => {
    const w = world();
    (await registerJob(w.engine, hostPrincipal, { job: scaled(count, 1, 10) }))._unsafeUnwrap();
    const answer = (await registerJob(w.engine, hostPrincipal, { job: next, preserveCounts: true }))._unsafeUnwrap();
    expect((await current(w))?.TaskGroups[0]?.Count).toBe(expected);
    expect(
      answer.warnings.includes(`the current count ${count} is outside the scaling bounds and becomes ${expected}`),
    ).toBe(expected !== count);
    expect(await faultsOf(w)).toEqual([]);
  });

  it('makes no version where the result is the present job', async () => {
    const w = world();
    (await registerJob(w.engine, hostPrincipal, { job: scaled(1, 1, 10) }))._unsafeUnwrap();
    (await scaleJob(w.engine, hostPrincipal, { jobId: 'web', group: 'g', count: 4, message: 'm' }))._unsafeUnwrap();
    (await registerJob(w.engine, hostPrincipal, { job: scaled(1, 1, 10), preserveCounts: true }))._unsafeUnwrap();
    expect(await current(w)).toMatchObject({ Version: 1, TaskGroups: [{ Count: 4 }] });
  });

  it('is refused where a volume allows only one of what is kept', async () => {
    const w = world();
    const volume = { Type: 'csi', Source: 's', AccessMode: 'single-node-writer', AttachmentMode: 'file-system' };
    (
      await registerJob(w.engine, hostPrincipal, { job: serviceJob('web', { TaskGroups: [group({ Count: 3 })] }) })
    )._unsafeUnwrap();
    const job = serviceJob('web', { TaskGroups: [group({ Volumes: { v: volume } })] });
    const refused = await registerJob(w.engine, hostPrincipal, { job, preserveCounts: true });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_job' });
    expect(await current(w)).toMatchObject({ Version: 0 });
    (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap();
    const more = await scaleJob(w.engine, hostPrincipal, { jobId: 'web', group: 'g', count: 2, message: 'm' });
    expect(more._unsafeUnwrapErr()).toMatchObject({ type: 'scaling_refused', reason: 'volume' });
    expect(await faultsOf(w)).toEqual([]);
  });
});

it('what registrations, scalings and reverts store can be registered again', async () => {
  const count = fc.integer({ min: 0, max: 6 });
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('register' as const),
      count,
      bounds: fc.option(fc.tuple(count, count)),
      memory: fc.integer({ min: 5, max: 40 }),
      preserveCounts: fc.boolean(),
      preserveResources: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('scale' as const), count }),
    fc.record({ kind: fc.constant('revert' as const), version: fc.nat({ max: 5 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const w = world({ jobs: { maximumCount: 8 } });
      for (const each of steps) {
        if (each.kind === 'scale') {
          await scaleJob(w.engine, hostPrincipal, { jobId: 'web', group: 'g', count: each.count, message: 'm' });
        } else if (each.kind === 'revert') {
          await revertJob(w.engine, hostPrincipal, { jobId: 'web', version: each.version });
        } else {
          const Resources = { MemoryMB: each.memory, SecretsMB: 12 };
          const Scaling = each.bounds === null ? null : { Min: each.bounds[0], Max: each.bounds[1] };
          const Tasks = [{ Name: 't', Driver: 'raw_exec', Config: { command: 'a' }, Resources }];
          const groups = [group({ Count: each.count, Scaling, Tasks }), group({ Name: 'h', Count: 3 })];
          const { preserveCounts, preserveResources } = each;
          const job = serviceJob('web', { TaskGroups: groups.slice(0, 1 + (each.memory % 2)) });
          await registerJob(w.engine, hostPrincipal, { job, preserveCounts, preserveResources });
        }
        if ((await current(w)) !== undefined) expect(await faultsOf(w)).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

describe('warnings about launches come from register, validate and plan', () => {
  it.each([
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29 02:30:00 in Europe/Berlin: clocks are set forward over it'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25 02:30:00 in Europe/Berlin: clocks are set back over it'],
    ['0 0 1 1 * 2020', '', 'all times at which it is due have passed'],
  ])('%s %s: %s', async (spec, TimeZone, expected) => {
    const w = world();
    const job = batchJob('nightly', { Periodic: { Specs: [spec], TimeZone } });
    const answers = [
      (await planJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap(),
      (await validateSubmittedJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap(),
      (await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap(),
    ];
    for (const { warnings } of answers) expect(warnings).toContain(expected);
  });

  it.each(['* * * * *', '*/10 * * * *'])('none about %s', async (spec) => {
    const w = world();
    const job = batchJob('often', { Periodic: { Specs: [spec], TimeZone: 'Europe/Berlin' } });
    expect((await registerJob(w.engine, hostPrincipal, { job }))._unsafeUnwrap().warnings).toBe('');
  });
});
