import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/jobs/document/job.js';
import type { TaskGroup } from '../../../src/jobs/document/task-group.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import type { Deployment, DeploymentState } from '../../../src/scheduler/deployment/deployment.js';
import { acceptedVersion } from '../../../src/scheduler/plan/new-allocation.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';

const version = (Version: number, MaxParallel = 1, Name = 'app'): Job =>
  jobFrom({ TaskGroups: [groupDocument({ Name, Update: { MaxParallel } })] }, { Version });

/** `a` was accepted without canaries, `p` with them; `c` has canaries that are judged. */
function deployment(JobVersion: number, kind: 'a' | 'p' | 'c', { group = 'app', created = 5 } = {}): Deployment {
  const state = { DesiredCanaries: kind === 'a' ? 0 : 1, Promoted: kind === 'p' } as DeploymentState;
  return {
    ID: `d${JobVersion}`,
    JobVersion,
    JobCreateIndex: created,
    TaskGroups: { [group]: state },
  } as unknown as Deployment;
}

function chosen(
  deployments: readonly Deployment[],
  previous: number | undefined,
  versions = [1, 2, 3, 4].map((at) => version(at)),
) {
  const job = version(5);
  const accepted = acceptedVersion(
    {
      group: job.TaskGroups[0] as TaskGroup,
      ...(previous === undefined ? {} : { previous: { JobVersion: previous } as Allocation }),
    },
    { job, versions: new Map([...versions, job].map((each) => [each.Version, each])), deployments },
  );
  return accepted === undefined ? undefined : `v${accepted.job.Version} ${accepted.deploymentId ?? 'no deployment'}`;
}

describe('the version of what is placed beside canaries', () => {
  it.each<[string, string | undefined, readonly Deployment[], number | undefined]>([
    ['the newest that was promoted', 'v3 d3', [deployment(1, 'p'), deployment(3, 'p'), deployment(5, 'c')], 1],
    ['the newest that needed no canaries', 'v3 d3', [deployment(3, 'a'), deployment(1, 'p'), deployment(5, 'c')], 1],
    ['not one whose canaries are judged', 'v2 d2', [deployment(5, 'c'), deployment(4, 'c'), deployment(2, 'a')], 1],
    ['the present one rather than an older one than before', undefined, [deployment(2, 'a'), deployment(5, 'c')], 3],
    ['the same as before', 'v3 d3', [deployment(3, 'a'), deployment(5, 'c')], 3],
    ['any for what replaces nothing', 'v1 d1', [deployment(1, 'a'), deployment(5, 'c')], undefined],
    ['not one of another group', undefined, [deployment(3, 'a', { group: 'other' }), deployment(5, 'c')], 1],
    ['not one of an earlier registration', undefined, [deployment(3, 'a', { created: 4 }), deployment(5, 'c')], 1],
    ['not one that is not kept any more', undefined, [deployment(0, 'a'), deployment(5, 'c')], 0],
    ['the present one when none was accepted', undefined, [deployment(5, 'c')], 2],
  ])('%s', (_what, expected, deployments, previous) => {
    expect(chosen(deployments, previous)).toBe(expected);
  });

  it('is that of before, if that had no deployments', () => {
    const versions = [version(1), version(2, 0)];
    expect(chosen([deployment(5, 'c')], 2, versions)).toBe('v2 no deployment');
    expect(chosen([deployment(5, 'c')], 1, versions)).toBeUndefined();
    expect(chosen([deployment(5, 'c')], 2, [version(2, 0, 'other')])).toBeUndefined();
  });
});
