import { globMatches } from '../../shared/values.js';
import type { Job } from '../document/job.js';
import { isLauncher } from '../job-record.js';
import type { AllocationOfRun, RunOutcome, RunStage } from './job-run.js';

/*
 * The life of a job as a run of a workspace (notification interface, Events). A run is one dispatched or periodic instance, or
 * one version of a job that has allocations itself. Parameterized and periodic parents are not runs.
 *
 *   what happened                                             stage      event          status
 *   registered, dispatched or launched                        pending    run:created    pending
 *   its first allocation was placed                           planning   run:planning   planning
 *   its first task ran                                        applying   run:applying   applying
 *   batch: ended, each wanted instance complete               completed  run:completed  applied
 *   batch: ended without anything to place                    completed  run:completed  planned_and_finished
 *   batch: ended because it was stopped                       errored    run:errored    canceled
 *   batch: ended otherwise                                    errored    run:errored    errored
 *   service: all wanted instances of the version run          completed  run:completed  applied
 *   service: an instance failed for good                      errored    run:errored    errored
 *   stopped, purged or replaced before its end                errored    run:errored    canceled
 *
 * "For good" means that the restart policy on the node is used up; the loss of a node is not a failure of the job. A service that
 * came up and fails later publishes run:errored, once, after its run:completed, so that the team learns of it. Nothing
 * follows run:errored. Events of stages that were passed unnoticed are published all the same: run:planning always comes before
 * run:applying.
 */

type RunTrigger = 'run:created' | 'run:planning' | 'run:applying' | 'run:completed' | 'run:errored';

export type RunStatus =
  | 'pending'
  | 'planning'
  | 'applying'
  | 'applied'
  | 'planned_and_finished'
  | 'errored'
  | 'canceled';

export interface RunEvent {
  readonly trigger: RunTrigger;
  readonly status: RunStatus;
  readonly message: string;
  /** How the run ended; absent for a service that came up. */
  readonly outcome?: RunOutcome;
}

/** An observation of a run. `ended` is the end of a batch job; `came_up` and `failed` are of the other types. */
export type RunObservation =
  | { readonly type: 'placed' }
  | { readonly type: 'started' }
  | { readonly type: 'came_up' }
  | { readonly type: 'ended'; readonly outcome: RunOutcome }
  | { readonly type: 'failed' }
  | { readonly type: 'stopped' };

interface RunProgress {
  readonly stage: RunStage;
  readonly events: readonly RunEvent[];
}

export const runCreated: RunEvent = { trigger: 'run:created', status: 'pending', message: 'Run Created' };

const planning: RunEvent = { trigger: 'run:planning', status: 'planning', message: 'Run Planning' };

const applying: RunEvent = { trigger: 'run:applying', status: 'applying', message: 'Run Applying' };

const applied: RunEvent = { trigger: 'run:completed', status: 'applied', message: 'Run Applied' };

const nothingToDo: RunEvent = {
  trigger: 'run:completed',
  status: 'planned_and_finished',
  message: 'Run Planned and Finished',
};

const errored: RunEvent = { trigger: 'run:errored', status: 'errored', message: 'Run Errored' };

const canceled: RunEvent = {
  trigger: 'run:errored',
  status: 'canceled',
  message: 'Run Canceled',
  outcome: 'stopped',
};

/** The stage after an observation, and the events to publish for it, in order. */
export function advanceRun(stage: RunStage, observation: RunObservation): RunProgress {
  switch (observation.type) {
    case 'placed':
      return stage === 'pending' ? { stage: 'planning', events: [planning] } : { stage, events: [] };
    case 'started':
      return hasEnded(stage) ? { stage, events: [] } : { stage: 'applying', events: upToApplying(stage) };
    case 'came_up':
      return hasEnded(stage)
        ? { stage, events: [] }
        : { stage: 'completed', events: [...upToApplying(stage), applied] };
    case 'ended':
      return hasEnded(stage) ? { stage, events: [] } : ended(stage, observation.outcome);
    case 'failed':
      return stage === 'errored' ? { stage, events: [] } : ended(stage, 'failed');
    case 'stopped':
      return hasEnded(stage) ? { stage, events: [] } : { stage: 'errored', events: [canceled] };
  }
}

function ended(stage: RunStage, outcome: RunOutcome): RunProgress {
  if (outcome === 'stopped') return { stage: 'errored', events: [canceled] };
  if (outcome !== 'succeeded') return { stage: 'errored', events: [{ ...errored, outcome }] };
  return { stage: 'completed', events: [{ ...(stage === 'pending' ? nothingToDo : applied), outcome }] };
}

function hasEnded(stage: RunStage): boolean {
  return stage === 'completed' || stage === 'errored';
}

function upToApplying(stage: RunStage): readonly RunEvent[] {
  if (stage === 'pending') return [planning, applying];
  return stage === 'planning' ? [applying] : [];
}

/** A setting that sends the runs of some jobs to a workspace. */
interface RunRule {
  readonly workspace: string;
  readonly namespace?: string;
  readonly job?: string;
  readonly meta?: Readonly<Record<string, string>>;
}

/**
 * The workspace that the job's run reports to: that of the first rule whose named conditions all hold. An instance is
 * matched by its parent's ID and by its own meta. Undefined for a parent of instances, and when no rule matches.
 */
export function workspaceOfRun(rules: readonly RunRule[], job: Job): string | undefined {
  if (rules.length === 0 || isLauncher(job) || job.Stop) return undefined;
  return rules.find((rule) => ruleMatches(rule, job))?.workspace;
}

function ruleMatches(rule: RunRule, job: Job): boolean {
  if (rule.namespace !== undefined && !globMatches(rule.namespace, job.Namespace)) return false;
  if (rule.job !== undefined && !globMatches(rule.job, job.ParentID === '' ? job.ID : job.ParentID)) return false;
  for (const [key, wanted] of Object.entries(rule.meta ?? {})) {
    const meta = job.Meta;
    if (meta === null || !Object.hasOwn(meta, key)) return false;
    if (wanted !== '*' && meta[key] !== wanted) return false;
  }
  return true;
}

/** The message of the run in notifications. */
export function runMessage(job: Pick<Job, 'ID' | 'ParentID' | 'Version'>): string {
  return job.ParentID === '' ? `Job ${job.ID}, version ${job.Version}` : `Job ${job.ID}`;
}

/** Whether a job ends on its own, and its run with it. */
export function hasOwnEnd(job: { readonly Type: string }): boolean {
  return job.Type === 'batch' || job.Type === 'sysbatch';
}

/** The members of an allocation that decide whether a service is up. */
type PlacedAllocation = Pick<AllocationOfRun, 'TaskGroup' | 'DesiredStatus' | 'ClientStatus'> & {
  readonly JobVersion: number;
};

/** Whether all instances of a service's version are running. */
export function cameUp(job: Job, allocations: readonly PlacedAllocation[]): boolean {
  const running = new Map<string, number>();
  let waiting = false;
  for (const allocation of allocations) {
    if (allocation.JobVersion !== job.Version || allocation.DesiredStatus !== 'run') continue;
    if (allocation.ClientStatus === 'running') {
      running.set(allocation.TaskGroup, (running.get(allocation.TaskGroup) ?? 0) + 1);
    } else if (allocation.ClientStatus === 'pending') {
      waiting = true;
    }
  }
  // The number of instances of a system job depends on the nodes: all placed ones must run.
  if (job.Type === 'system') return running.size > 0 && !waiting;
  return job.TaskGroups.every((group) => (running.get(group.Name) ?? 0) >= group.Count);
}
