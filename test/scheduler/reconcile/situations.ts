import type { Job } from '../../../src/jobs/document/job.js';
import { type Allocation, noTransition } from '../../../src/scheduler/allocation.js';
import { clusterFrom } from '../../../src/scheduler/cluster/cluster.js';
import type { Evaluation } from '../../../src/scheduler/evaluation.js';
import { type JobSituation, situationOf } from '../../../src/scheduler/reconcile/situation.js';
import { isoFromInstant } from '../../../src/shared/instant.js';
import { groupDocument, jobFrom } from '../../support/jobs.js';
import { nodeFrom } from '../../support/nodes.js';

export const now = Date.UTC(2026, 0, 1, 12);

export const ago = (seconds: number): string => isoFromInstant(now - seconds * 1000);

/** Version 3 of a job with one group of three. */
export function jobWith(group: Record<string, unknown> = {}, more: Record<string, unknown> = {}): Job {
  return jobFrom({ TaskGroups: [groupDocument({ Count: 3, ...group })], ...more }, { Version: 3 });
}

/** An evaluation of that job among nodes in every state. */
export function situationWith(job: Job | undefined): JobSituation {
  const drain = { Deadline: 0, IgnoreSystemJobs: false, ForceDeadline: null, StartedAt: ago(60) };
  const nodes = [
    nodeFrom('ready'),
    nodeFrom('ineligible', { SchedulingEligibility: 'ineligible' }),
    nodeFrom('draining', { DrainStrategy: drain, SchedulingEligibility: 'ineligible' }),
    nodeFrom('disconnected', { Status: 'disconnected' }),
    nodeFrom('down', { Status: 'down' }),
  ];
  const versions = new Map(job === undefined ? [] : [[job.Version, job]]);
  const evaluation = { ID: 'this', Namespace: 'default', JobID: 'web' } as Evaluation;
  let made = 0;
  const ids = { next: (kind: string) => `${kind}-${++made}` };
  return situationOf({ job, versions, cluster: clusterFrom(nodes, []) }, evaluation, now, ids);
}

/** Runs on a ready node, under the present version. */
export function allocationWith(change: Partial<Allocation> = {}): Allocation {
  return {
    ID: 'a',
    Name: 'web.app[0]',
    TaskGroup: 'app',
    NodeID: 'ready',
    JobType: 'service',
    JobVersion: 3,
    JobCreateIndex: 5,
    DesiredStatus: 'run',
    ClientStatus: 'running',
    DesiredTransition: noTransition,
    ModifyTime: now * 1e6,
    Metrics: {},
    ...change,
  } as Allocation;
}

export const unknownSince = (seconds: number): Pick<Allocation, 'AllocStates'> => ({
  AllocStates: [{ Field: 0, Value: 'unknown', Time: ago(seconds) }],
});
