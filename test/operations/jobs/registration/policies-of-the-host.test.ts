import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../../src/access/principal.js';
import { createEngine } from '../../../../src/engine.js';
import type { JobPolicy } from '../../../../src/jobs/admission/job-policy.js';
import type { JobInput } from '../../../../src/jobs/document/job-input.js';
import { jobs } from '../../../../src/jobs/job-record.js';
import { dispatchJob } from '../../../../src/operations/jobs/dispatch-job.js';
import { revertJob } from '../../../../src/operations/jobs/job-versions.js';
import { planJob } from '../../../../src/operations/jobs/registration/plan-job.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { validateSubmittedJob } from '../../../../src/operations/jobs/registration/validate-submitted-job.js';
import { scaleJob } from '../../../../src/operations/jobs/scale-job.js';
import { group, parameterizedJob, serviceJob, type World, world } from '../world.js';

const soft = {
  name: 'small',
  level: 'soft-mandatory',
  refuse: 'any TaskGroups as g { g.Count == 4 }',
  message: 'too many',
} as const;
const refused = {
  type: 'policy_refused',
  message: 'policy small refuses this job (PolicyOverride would pass it): too many',
};
const withRules = (): World => world({ jobs: { policies: [soft] } });
const sized = (count: number): JobInput => serviceJob('web', { TaskGroups: [group({ Count: count })] }) as JobInput;

describe('policies of the host', () => {
  it('refuse a registration, which stores nothing, and warn when they are overridden', async () => {
    const w = withRules();
    expect((await registerJob(w.engine, hostPrincipal, { job: sized(4) }))._unsafeUnwrapErr()).toEqual(refused);
    expect(await w.rows(jobs)).toEqual([]);
    const passed = await registerJob(w.engine, hostPrincipal, { job: sized(4), policyOverride: true });
    expect(passed._unsafeUnwrap().warnings).toContain('policy small was overridden: too many');
    expect(await w.rows(jobs)).toMatchObject([{ ID: 'web' }]);
  });

  it('are overridden by those only who have the right', async () => {
    const caller: Principal = {
      ...hostPrincipal,
      management: false,
      namespaces: { default: { capabilities: ['submit-job'] } },
    };
    const input = { job: sized(4), policyOverride: true };
    expect((await registerJob(withRules().engine, caller, input))._unsafeUnwrapErr().type).toBe('permission_denied');
  });

  it('are asked about what scaling makes of the job, and not when nothing is scaled', async () => {
    const w = withRules();
    await registerJob(w.engine, hostPrincipal, { job: sized(1) });
    const scale = { jobId: 'web', group: 'g', message: 'more' };
    expect((await scaleJob(w.engine, hostPrincipal, { ...scale, count: 4 }))._unsafeUnwrapErr()).toEqual(refused);
    const passed = await scaleJob(w.engine, hostPrincipal, { ...scale, count: 4, policyOverride: true });
    expect(passed._unsafeUnwrap().warnings).toContain('was overridden');
    expect((await scaleJob(w.engine, hostPrincipal, scale))._unsafeUnwrap().warnings).toBe('');
  });

  it('are asked about the version that a job goes back to', async () => {
    const w = withRules();
    await registerJob(w.engine, hostPrincipal, { job: sized(4), policyOverride: true });
    await registerJob(w.engine, hostPrincipal, { job: sized(1) });
    expect((await revertJob(w.engine, hostPrincipal, { jobId: 'web', version: 0 }))._unsafeUnwrapErr()).toEqual(
      refused,
    );
  });

  it('refuse a plan, and a plan with the override is applied with it', async () => {
    const w = withRules();
    expect((await planJob(w.engine, hostPrincipal, { job: sized(4) }))._unsafeUnwrapErr()).toEqual(refused);
    const plan = (await planJob(w.engine, hostPrincipal, { job: sized(4), policyOverride: true }))._unsafeUnwrap();
    expect(plan.warnings).toContain('was overridden');
    const sealed = { job: sized(4), policyOverride: true, seal: plan.seal };
    expect((await registerJob(w.engine, hostPrincipal, sealed))._unsafeUnwrap().warnings).toContain('was overridden');
  });

  it('are among the errors and warnings of a validation', async () => {
    const found = (await validateSubmittedJob(withRules().engine, hostPrincipal, { job: sized(4) }))._unsafeUnwrap();
    expect(found.errors).toEqual([refused.message]);
    expect(found.error).toContain(refused.message);
    const advice = world({ jobs: { policies: [{ ...soft, level: 'advisory' }] } });
    const advised = (await validateSubmittedJob(advice.engine, hostPrincipal, { job: sized(4) }))._unsafeUnwrap();
    expect(advised).toMatchObject({ errors: [], error: '' });
    expect(advised.warnings).toContain('policy small advises against this job: too many');
  });

  it('may be functions, which see the job before and after', async () => {
    const onlyUp: JobPolicy = {
      name: 'only-up',
      level: 'hard-mandatory',
      refuse: ({ job, existing, callerName }) =>
        existing !== undefined && job.Priority < existing.Priority ? `${callerName} lowers the priority` : undefined,
    };
    const w = world({}, { policies: [onlyUp] });
    const dana = { ...hostPrincipal, name: 'dana' };
    const at = (Priority: number) => ({ job: { ...sized(1), Priority } as JobInput, policyOverride: true });
    expect((await registerJob(w.engine, dana, at(60))).isOk()).toBe(true);
    expect((await registerJob(w.engine, dana, at(50)))._unsafeUnwrapErr()).toEqual({
      type: 'policy_refused',
      message: 'policy only-up refuses this job: dana lowers the priority',
    });
    expect((await registerJob(w.engine, dana, at(70))).isOk()).toBe(true);
  });

  it('that throw are not met; what they threw is in the log and in no answer', async () => {
    const refuse = () => {
      throw new Error('cannot reach db://user:password@host');
    };
    const told: unknown[] = [];
    const tell = (...entry: unknown[]) => told.push(entry);
    const logger = { debug: tell, info: tell, warn: tell, error: tell };
    const { engine } = world({}, { policies: [{ name: 'rates', level: 'hard-mandatory', refuse }], logger });
    const answer = (await registerJob(engine, hostPrincipal, { job: sized(1) }))._unsafeUnwrapErr();
    expect(answer).toEqual({ type: 'policy_refused', message: 'policy rates refuses this job: it failed' });
    expect(JSON.stringify(told)).toContain('db://user:password@host');
  });

  it('leave the runs of a job alone that was accepted', async () => {
    const w = world({ jobs: { policies: [{ ...soft, refuse: 'Payload is not empty' }] } });
    await registerJob(w.engine, hostPrincipal, { job: parameterizedJob('p') as JobInput });
    const run = await dispatchJob(w.engine, hostPrincipal, {
      jobId: 'p',
      payload: Buffer.from('x').toString('base64'),
    });
    expect(run.isOk()).toBe(true);
  });

  it('cannot be set with an expression that cannot be read', () => {
    const { storage, clock, ids, delivery } = world().engine;
    const policies = [{ ...soft, refuse: 'Count ==' }];
    expect(() => createEngine({ storage, clock, ids, delivery }, { jobs: { policies } })).toThrow(
      /^jobs\.policies: invalid expression in the rule small: 1:9: /,
    );
  });
});
