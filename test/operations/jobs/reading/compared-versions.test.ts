import { describe, expect, it } from 'vitest';
import { hostPrincipal } from '../../../../src/index.js';
import { tagJobVersion, untagJobVersion } from '../../../../src/operations/jobs/job-versions.js';
import { compareJobVersions } from '../../../../src/operations/jobs/reading/read-job.js';
import { registerJob } from '../../../../src/operations/jobs/registration/register-job.js';
import { serviceJob, world } from '../world.js';

async function twoVersions() {
  const { engine } = world();
  for (const Priority of [50, 60]) {
    await registerJob(engine, hostPrincipal, { job: serviceJob('web', { Priority }) });
  }
  const compare = (further: object) =>
    compareJobVersions(engine, hostPrincipal, { jobId: 'web', diffs: true, waiting: { after: 1000 }, ...further });
  return { engine, compare };
}

describe('a version to compare with that does not exist', () => {
  it.each([
    [{ diffTag: 'none' }, 'tag "none" not found'],
    [{ diffVersion: 9 }, 'version 9 not found'],
  ])('is reported without a wait: %o', async (base, message) => {
    const { engine, compare } = await twoVersions();
    expect((await compare(base))._unsafeUnwrapErr()).toMatchObject({ type: 'version_base_not_found', message });
    expect(engine.parked.size).toBe(0);
  });

  it('is reported as soon as it is gone', async () => {
    const { engine, compare } = await twoVersions();
    await tagJobVersion(engine, hostPrincipal, { jobId: 'web', name: 'old', version: 0 });
    const answer = compare({ diffTag: 'old' });
    await expect.poll(() => engine.parked.size).toBe(1);
    await untagJobVersion(engine, hostPrincipal, { jobId: 'web', name: 'old' });
    expect((await answer)._unsafeUnwrapErr().type).toBe('version_base_not_found');
  });

  it('is waited for with the job', async () => {
    const { engine, compare } = await twoVersions();
    const answer = compare({ jobId: 'none', diffTag: 'old' });
    await expect.poll(() => engine.parked.size).toBe(1);
    engine.parked.release();
    expect((await answer)._unsafeUnwrap().value).toEqual({ versions: [], diffs: null });
  });
});
