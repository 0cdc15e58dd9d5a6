import { err, ok, type Result } from 'neverthrow';
import type { WriteStamp } from '../../shared/instant.js';
import { indexConflict, nextVersion } from '../changes/decide-registration.js';
import type { Job } from '../document/job.js';
import type { TaskGroup } from '../document/task-group.js';
import {
  type IndexConflict,
  type InvalidRequest,
  invalidRequest,
  type ScalingRefused,
  type TotalCountTooLarge,
} from '../errors.js';
import { validateVolume } from '../validation/validate-task.js';

/** The new count of a group, or the reason for not scaling it. */
export interface ScaleRequest {
  readonly group: string;
  /** Null only records an event. */
  readonly count: number | null;
  readonly message: string;
  /** Describes a state that prevents scaling, or says that `message` does. */
  readonly error: string | boolean;
  readonly enforceIndex: boolean;
  readonly jobModifyIndex: number;
}

/** The result of a scaling, with the message and kind of its event. */
export interface Scaling {
  /** The row with the new count; undefined when only an event is recorded. */
  readonly job: Job | undefined;
  readonly previousCount: number;
  readonly message: string;
  readonly isError: boolean;
}

/** The inputs of a scaling besides the job. */
interface ScaleCircumstances {
  /** The maximum total of the counts of a job. */
  readonly maximumCount: number;
  /** Whether the latest deployment of the job is active. */
  readonly activeDeployment: boolean;
}

/**
 * Checks that need no job (job interface, scale). Exactly one of a message and an error must be given. Nomad's clients
 * (`upstream`) may give neither, and send true or false to say whether the message describes an error.
 */
export function checkScaleRequest(
  request: ScaleRequest,
  upstream = false,
): Result<void, ScalingRefused | InvalidRequest> {
  const { group, count, message, error } = request;
  if (group === '') return err(invalidRequest('Target', 'missing task group name for scaling action'));
  if (typeof error === 'string' && error !== '' && message !== '') {
    return err(invalidRequest('Error', 'either Message or Error must be given, not both'));
  }
  if (upstream && typeof error !== 'boolean') return err(invalidRequest('Error', 'Error must be true or false'));
  if (!upstream && !hasError(error) && message === '') {
    return err(invalidRequest('Message', 'either Message or Error must be given'));
  }
  return count === null ? ok(undefined) : checkCount(count, error);
}

function checkCount(count: number, error: ScaleRequest['error']): Result<void, ScalingRefused> {
  if (count < 0) return refuse('negative_count', 'scaling action count cannot be negative');
  if (hasError(error)) return refuse('count_with_error', 'scaling action should not contain count if error is true');
  if (!Number.isInteger(count) || count > 2 ** 31 - 1) {
    return refuse('count_too_large', 'scaling action count is too large');
  }
  return ok(undefined);
}

/**
 * Scales a job: one more version with the group's new count, also when the count is the present one, or only an event, which is
 * never refused. A policy's bounds hold even when the policy is disabled.
 */
export function decideScale(
  current: Job,
  request: ScaleRequest,
  circumstances: ScaleCircumstances,
  write: WriteStamp,
): Result<Scaling, ScalingRefused | TotalCountTooLarge | IndexConflict> {
  const { count, message, error } = request;
  const group = current.TaskGroups.find((each) => each.Name === request.group);
  if (group === undefined) {
    return refuse(
      'unknown_group',
      `task group "${request.group.slice(0, 128)}" specified for scaling does not exist in job`,
    );
  }
  const text = typeof error === 'string' && error !== '' ? error : message;
  const event = { previousCount: group.Count, message: text, isError: hasError(error) };
  if (count === null) return ok({ job: undefined, ...event });
  const refused = refusedCount(current, group, count, circumstances);
  if (refused !== undefined) return err(refused);
  if (request.enforceIndex || request.jobModifyIndex > 0) {
    const conflict = indexConflict(current, request.jobModifyIndex);
    if (conflict !== undefined) return err(conflict);
  }
  const TaskGroups = current.TaskGroups.map((each) => (each === group ? { ...each, Count: count } : each));
  return ok({ job: { ...nextVersion(current, write), TaskGroups }, ...event });
}

function hasError(error: string | boolean): boolean {
  return typeof error === 'string' ? error !== '' : error;
}

function refusedCount(
  job: Job,
  group: TaskGroup,
  count: number,
  { maximumCount, activeDeployment }: ScaleCircumstances,
): ScalingRefused | TotalCountTooLarge | undefined {
  if (job.Type === 'system' && count > 1) return refusal('system_job', 'cannot scale system job above a count of 1');
  const refused =
    outOfBounds(group, count) ?? overTotal(job, group, count, maximumCount) ?? forbiddenByVolume(job, group, count);
  if (refused !== undefined || !activeDeployment) return refused;
  return refusal('active_deployment', blockedByDeployment);
}

/** The Nomad Autoscaler and others recognise its beginning and retry later. */
const blockedByDeployment = 'job scaling blocked due to active deployment: scale the job when the deployment has ended';

function outOfBounds({ Scaling: policy }: TaskGroup, count: number): ScalingRefused | undefined {
  if (policy === null) return undefined;
  if (count < policy.Min) {
    return refusal('below_minimum', `group count was less than scaling policy minimum: ${count} < ${policy.Min}`);
  }
  return count > policy.Max
    ? refusal('above_maximum', `group count was greater than scaling policy maximum: ${count} > ${policy.Max}`)
    : undefined;
}

/** Some volumes allow only one allocation. A job beyond that can still be scaled down. */
function forbiddenByVolume(job: Job, group: TaskGroup, count: number): ScalingRefused | undefined {
  if (count <= group.Count) return undefined;
  for (const [name, volume] of Object.entries(group.Volumes ?? {})) {
    const problems: string[] = [];
    validateVolume(volume, { ...group, Count: count }, job.Type, (problem) => problems.push(problem));
    if (problems.length > 0) return refusal('volume', `volume ${JSON.stringify(name)}: ${problems.join('; ')}`);
  }
  return undefined;
}

function overTotal(job: Job, scaled: TaskGroup, count: number, maximum: number): TotalCountTooLarge | undefined {
  const total = job.TaskGroups.reduce((sum, group) => sum + (group === scaled ? count : group.Count), 0);
  return total <= maximum
    ? undefined
    : { type: 'total_count_too_large', message: `total count was greater than job_max_count: ${total} > ${maximum}` };
}

function refusal(reason: ScalingRefused['reason'], message: string): ScalingRefused {
  return { type: 'scaling_refused', reason, message };
}

function refuse(reason: ScalingRefused['reason'], message: string): Result<never, ScalingRefused> {
  return err(refusal(reason, message));
}
