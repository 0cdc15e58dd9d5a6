import { describe, expect, it } from 'vitest';
import { hostPrincipal, type Principal } from '../../../src/access/principal.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { jobSummaries } from '../../../src/jobs/status/job-summary.js';
import { type DispatchJobInput, dispatchJob } from '../../../src/operations/jobs/dispatch-job.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { stopJob } from '../../../src/operations/jobs/stop-job.js';
import { evaluations } from '../../../src/scheduler/evaluation.js';
import { batchJob, parameterizedJob, type World, world } from './world.js';

const bytes = (count: number) => Buffer.alloc(count, 'x').toString('base64');

async function withParent(block: object = {}, more: object = {}): Promise<World> {
  const w = world();
  await w.clock.advance(500);
  (await registerJob(w.engine, hostPrincipal, { job: parameterizedJob('p', block, more) }))._unsafeUnwrap();
  return w;
}

const dispatch = (w: World, input: Partial<DispatchJobInput> = {}) =>
  dispatchJob(w.engine, hostPrincipal, { jobId: 'p', ...input });

describe('dispatchJob', () => {
  it('makes an instance with its evaluation, and counts it at the parent', async () => {
    const w = await withParent({ MetaOptional: ['k'] }, { Meta: { a: '1', k: '0' } });
    const answer = (await dispatch(w, { payload: 'aGk=', meta: { k: '2' }, priority: 70 }))._unsafeUnwrap();
    const seconds = Math.floor(w.clock.now() / 1000);
    expect(answer).toMatchObject({
      dispatchedJobId: `p/dispatch-${seconds}-00000001`,
      evalCreateIndex: 3,
      jobCreateIndex: 3,
      index: 3,
    });
    const children = (await w.rows(jobs)).filter((job) => job.ParentID === 'p');
    expect(children).toMatchObject([
      {
        ID: answer.dispatchedJobId,
        Name: answer.dispatchedJobId,
        Dispatched: true,
        Payload: 'aGk=',
        Meta: { a: '1', k: '2' },
        Priority: 70,
        Status: 'pending',
        CreateIndex: 3,
      },
    ]);
    expect(await w.rows(evaluations)).toMatchObject([{ ID: answer.evalId, Priority: 70, Type: 'batch' }]);
    expect(await w.rows(jobSummaries)).toMatchObject([
      { JobID: 'p', Children: { Pending: 1, Running: 0, Dead: 0 }, ModifyIndex: 3 },
      { JobID: answer.dispatchedJobId },
    ]);
  });

  it('takes the groups that the parent has at the time', async () => {
    const w = await withParent();
    const groupsOf = async (answer: { readonly dispatchedJobId: string }) =>
      (await w.rows(jobs)).find(({ ID }) => ID === answer.dispatchedJobId)?.TaskGroups;
    const first = (await dispatch(w))._unsafeUnwrap();
    const second = (await dispatch(w))._unsafeUnwrap();
    const before = (await w.rows(jobs)).find(({ ID }) => ID === 'p')?.TaskGroups;
    const TaskGroups = (before ?? []).map((group) => ({ ...group, Name: 'renamed' }));
    const renamed: object = { ...parameterizedJob('p'), TaskGroups };
    (await registerJob(w.engine, hostPrincipal, { job: renamed }))._unsafeUnwrap();
    const third = (await dispatch(w))._unsafeUnwrap();
    expect(await groupsOf(first)).toEqual(before);
    expect(await groupsOf(second)).toEqual(before);
    expect(await groupsOf(third)).toMatchObject([{ Name: 'renamed' }]);
  });

  it('puts the prefix into the ID', async () => {
    const w = await withParent();
    const answer = (await dispatch(w, { idPrefixTemplate: 'night' }))._unsafeUnwrap();
    expect(answer.dispatchedJobId).toMatch(/^p\/dispatch-night-\d+-[0-9a-f]{8}$/);
  });

  it.each([
    ['a payload that is required', { Payload: 'required' }, {}, 'payload_required'],
    ['an empty payload that is required', { Payload: 'required' }, { payload: '' }, 'payload_required'],
    ['a payload that is forbidden', { Payload: 'forbidden' }, { payload: 'aGk=' }, 'payload_forbidden'],
    ['a payload of 16385 bytes', {}, { payload: bytes(16385) }, 'payload_too_large'],
    ['a huge payload', {}, { payload: bytes(500_000) }, 'payload_too_large'],
    ['meta that is not permitted', {}, { meta: { k: '1' } }, 'meta_not_permitted'],
    ['meta that is missing', { MetaRequired: ['k'] }, {}, 'meta_missing'],
    ['a priority above 100', {}, { priority: 101 }, 'priority'],
    ['a priority below 1', {}, { priority: -1 }, 'priority'],
  ])('refuses %s', async (_name, block, input, reason) => {
    const w = await withParent(block, { Meta: { k: 'default' } });
    expect((await dispatch(w, input))._unsafeUnwrapErr()).toMatchObject({ type: 'dispatch_refused', reason });
    expect(await w.rows(jobs)).toHaveLength(1);
  });

  it('takes a payload of 16384 decoded bytes', async () => {
    const w = await withParent({ Payload: 'required' });
    expect((await dispatch(w, { payload: bytes(16384) })).isOk()).toBe(true);
  });

  it('says the sizes of a payload that is too large', async () => {
    const w = await withParent();
    const error = (await dispatch(w, { payload: bytes(16385) }))._unsafeUnwrapErr();
    expect(error).toMatchObject({ message: 'Payload exceeds maximum size; 16385 > 16384' });
  });

  it.each(['a', '====', 'aGk', 'a\nGk=', 'äGk='])('refuses %j as base64', async (payload) => {
    const w = await withParent();
    expect((await dispatch(w, { payload }))._unsafeUnwrapErr()).toMatchObject({ type: 'invalid_request' });
  });

  it('refuses unknown, stopped and ordinary jobs', async () => {
    const w = await withParent();
    expect((await dispatch(w, { jobId: 'x' }))._unsafeUnwrapErr()).toMatchObject({ type: 'job_not_found' });
    await registerJob(w.engine, hostPrincipal, { job: batchJob('b') });
    expect((await dispatch(w, { jobId: 'b' }))._unsafeUnwrapErr()).toMatchObject({ reason: 'not_parameterized' });
    const child = (await dispatch(w))._unsafeUnwrap().dispatchedJobId;
    expect((await dispatch(w, { jobId: child }))._unsafeUnwrapErr()).toMatchObject({ reason: 'not_parameterized' });
    await stopJob(w.engine, hostPrincipal, { jobId: 'p' });
    expect((await dispatch(w))._unsafeUnwrapErr()).toMatchObject({ reason: 'stopped' });
  });

  it('takes only the right to dispatch', async () => {
    const w = await withParent();
    const caller = (capability: 'submit-job' | 'dispatch-job'): Principal => ({
      ...hostPrincipal,
      management: false,
      namespaces: { default: { capabilities: [capability] } },
    });
    expect((await w.engine.as(caller('submit-job')).jobs.dispatch('p')).isErr()).toBe(true);
    expect((await w.engine.as(caller('dispatch-job')).jobs.dispatch('p')).isOk()).toBe(true);
  });

  it('gives the first instance to everyone who comes with its token', async () => {
    const w = await withParent();
    const racing = await Promise.all(
      Array.from({ length: 50 }, () => dispatch(w, { idempotencyToken: 'once', payload: 'aGk=' })),
    );
    const answers = racing.map((result) => result._unsafeUnwrap());
    expect(new Set(answers.map((answer) => answer.dispatchedJobId)).size).toBe(1);
    expect(answers.filter((answer) => answer.evalId !== '')).toHaveLength(1);
    expect((await w.rows(jobs)).filter((job) => job.ParentID === 'p')).toHaveLength(1);
    expect(await w.rows(evaluations)).toHaveLength(1);
    const repeated = (await dispatch(w, { idempotencyToken: 'once' }))._unsafeUnwrap();
    expect(repeated).toEqual({
      dispatchedJobId: answers[0]?.dispatchedJobId,
      evalId: '',
      evalCreateIndex: 0,
      jobCreateIndex: 3,
      index: 3,
    });
    expect((await dispatch(w, { idempotencyToken: 'twice' }))._unsafeUnwrap().index).toBe(4);
  });

  it('checks a repeat before it answers it', async () => {
    const w = await withParent();
    await dispatch(w, { idempotencyToken: 'once' });
    const repeated = await dispatch(w, { idempotencyToken: 'once', meta: { x: '1' } });
    expect(repeated._unsafeUnwrapErr()).toMatchObject({ reason: 'meta_not_permitted' });
  });

  it('refuses to register over an instance', async () => {
    const w = await withParent();
    const { dispatchedJobId } = (await dispatch(w))._unsafeUnwrap();
    const over = await registerJob(w.engine, hostPrincipal, { job: parameterizedJob(dispatchedJobId) });
    expect(over._unsafeUnwrapErr()).toMatchObject({ type: 'transition_refused', reason: 'dispatched' });
  });
});
