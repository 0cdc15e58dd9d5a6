import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import { jobs } from '../../../src/jobs/job-record.js';
import { registerJob } from '../../../src/operations/jobs/register-job.js';
import { serviceJob, world } from './world.js';

describe('registerJob', () => {
  it('stores the job, its evaluation and its summary in one write', async () => {
    const { engine, rows } = world();
    const answer = await registerJob(engine, hostPrincipal, { job: serviceJob('web') });
    expect(answer._unsafeUnwrap()).toMatchObject({ evalCreateIndex: 2, jobModifyIndex: 2, index: 2, warnings: '' });
    expect(await rows(jobs)).toMatchObject([{ ID: 'web', Status: 'pending', Version: 0, CreateIndex: 2 }]);
  });
});
