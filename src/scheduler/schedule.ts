import type { Instant } from '../shared/instant.js';
import type { Evaluation, EvaluationTrigger } from './evaluation.js';
import { failedOutcome, type SchedulingResult } from './plan/outcome.js';
import { planJob } from './plan/plan-job.js';
import { planSystemJob } from './plan/plan-system-job.js';
import type { SchedulingIds } from './reconcile/situation.js';
import type { SchedulingSnapshot } from './snapshot.js';
import { finish } from './steps.js';

/**
 * Decides how a job's allocations reach the declared state, as far as the nodes have room. Pure: equal arguments give the same result. Planning
 * a job is the same call on a snapshot that contains the proposed job.
 */
export function schedule(
  snapshot: SchedulingSnapshot,
  evaluation: Evaluation,
  now: Instant,
  ids: SchedulingIds,
): SchedulingResult {
  return finish(schedulingSteps(snapshot, evaluation, now, ids));
}

/**
 * `schedule` in steps of well under a millisecond each, between which the caller can do other work. The arguments must not change before
 * the last step.
 */
export function* schedulingSteps(
  snapshot: SchedulingSnapshot,
  evaluation: Evaluation,
  now: Instant,
  ids: SchedulingIds,
): Generator<void, SchedulingResult> {
  const system = evaluation.Type === 'system' || evaluation.Type === 'sysbatch';
  if (!handles(evaluation)) {
    const description = `Evaluations of ${evaluation.Type} jobs are not triggered by "${evaluation.TriggeredBy}"`;
    return failedOutcome(snapshot, evaluation, now, description);
  }
  return yield* system ? planSystemJob(snapshot, evaluation, now, ids) : planJob(snapshot, evaluation, now, ids);
}

const systemTriggers: readonly EvaluationTrigger[] = [
  'job-register',
  'node-update',
  'failed-follow-up',
  'job-deregister',
  'rolling-update',
  'preemption',
  'deployment-watcher',
  'node-drain',
  'alloc-stop',
  'queued-allocs',
  'job-scaling',
  'reconnect',
];

const triggers: Readonly<Record<string, ReadonlySet<string>>> = {
  service: new Set([
    ...systemTriggers,
    'periodic-job',
    'max-plan-attempts',
    'alloc-failure',
    'alloc-reschedule',
    'max-disconnect-timeout',
  ]),
  system: new Set(systemTriggers),
  sysbatch: new Set([...systemTriggers, 'periodic-job']),
};

function handles({ Type, TriggeredBy }: Evaluation): boolean {
  return (triggers[Type === 'batch' ? 'service' : Type] ?? triggers['service'])?.has(TriggeredBy) ?? false;
}
