import { err, ok, type Result } from 'neverthrow';
import { type Instant, unixNanosFromInstant, type WriteStamp } from '../../shared/instant.js';
import { equalSpec } from '../document/equal-spec.js';
import type { Job } from '../document/job.js';
import type { ScalingPolicy } from '../document/policies.js';
import type { TaskGroup } from '../document/task-group.js';
import {
  type IndexConflict,
  invalidRequest,
  type RegistrationRefusal,
  type RevertRefused,
  type TransitionRefused,
  type VersionNotFound,
} from '../errors.js';
import { isParameterized, isPeriodic } from '../job-record.js';

/**
 * The earlier versions of a job to remove when a version is added (job interface, versions): at most `tracked` untagged
 * versions are kept, including the current one. The oldest is removed first, except the newest stable one, to which a failed
 * update reverts. Tagged versions are always kept, and so are those that an allocation still runs (`isInUse`). `versions` has all
 * versions, newest first, beginning with the current one.
 */
export function prunedVersions(
  versions: readonly Pick<Job, 'Version' | 'Stable' | 'VersionTag'>[],
  tracked: number,
  isInUse: (version: number) => boolean = () => false,
): number[] {
  const untagged = versions.filter((version) => version.VersionTag === null);
  const surplus = untagged.length - Math.max(tracked, 1);
  if (surplus <= 0) return [];
  const fallback = versions.find((version) => version.Stable)?.Version;
  const removable = untagged
    .filter(({ Version }) => Version !== fallback && Version !== versions[0]?.Version && !isInUse(Version))
    .map((version) => version.Version)
    .reverse();
  return removable.slice(0, surplus);
}

/** A new version without a registered document, for example for a stop: neither stable nor tagged. */
export function nextVersion(current: Job, { index, now }: WriteStamp): Job {
  return {
    ...current,
    Stable: false,
    VersionTag: null,
    Version: current.Version + 1,
    SubmitTime: unixNanosFromInstant(now),
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}

/** A document that is ready to be registered, and the conditions under which it is. */
export interface RegistrationRequest {
  /** Canonical and valid, with the accessor of the caller's token. */
  readonly job: Job;
  /** The version number in the document; used if it is greater than the stored one. */
  readonly version: number | null;
  /** Check-and-set: the required JobModifyIndex, 0 for a new job; undefined without the check. */
  readonly enforcedIndex?: number | undefined;
  readonly preserveCounts?: boolean | undefined;
  readonly preserveResources?: boolean | undefined;
  /** Generates the ID of a new scaling policy. */
  readonly policyId: () => string;
}

/** The decision. `unchanged` only creates an evaluation of the existing job. */
export type Registration =
  | { readonly type: 'created'; readonly job: Job }
  | {
      readonly type: 'updated';
      readonly job: Job;
      readonly previous: Job;
      /** Warnings about preserved counts and resources, with which the job differs from the checked document. */
      readonly kept?: readonly string[];
    }
  | { readonly type: 'unchanged'; readonly job: Job };

/** Keeps versions exact numbers, with room for increments. */
const maximumVersion = 2 ** 52;

/**
 * Decides a registration (job interface, register): check-and-set, refused transitions, whether the job
 * differs from the stored one, and the new row with its indexes and version. `index` is that of the write. The writer
 * computes the status.
 */
export function decideRegistration(
  current: Job | undefined,
  request: RegistrationRequest,
  index: number,
  now: Instant,
): Result<Registration, RegistrationRefusal> {
  if (request.enforcedIndex !== undefined) {
    const conflict = indexConflict(current, request.enforcedIndex);
    if (conflict !== undefined) return err(conflict);
  }
  if ((request.version ?? 0) > maximumVersion) {
    return err(invalidRequest('Job.Version', `Job.Version must not be greater than ${maximumVersion}`));
  }
  const refused = current === undefined ? undefined : refusedTransition(current, request.job);
  return refused === undefined ? ok(registrationOf(current, request, index, now)) : err(refused);
}

/** The result of a registration without the checks that could refuse it. A plan also shows the result of a refused transition. */
export function registrationOf(
  current: Job | undefined,
  request: RegistrationRequest,
  index: number,
  now: Instant,
): Registration {
  const SubmitTime = unixNanosFromInstant(now);
  const stamps = { SubmitTime, ModifyIndex: index, JobModifyIndex: index };
  if (current === undefined) {
    const TaskGroups = withPolicyIds(request.job, undefined, request.policyId, index);
    const job: Job = {
      ...request.job,
      ...stamps,
      TaskGroups,
      Version: request.version ?? 0,
      CreateIndex: index,
      Stable: false,
    };
    return { type: 'created', job };
  }
  const { groups, kept } = preserved(current, request);
  const document = { ...request.job, TaskGroups: groups };
  const submitted = { ...document, TaskGroups: withPolicyIds(document, current, request.policyId, index) };
  if (equalSpec(current, submitted)) return { type: 'unchanged', job: current };
  const job: Job = {
    ...submitted,
    ...stamps,
    Version: Math.max(current.Version + 1, request.version ?? 0),
    CreateIndex: current.CreateIndex,
    Stable: false,
  };
  return { type: 'updated', job, previous: current, ...(kept === undefined ? {} : { kept }) };
}

/** The conflict, if any, between the required index and the stored job. */
export function indexConflict(
  current: Pick<Job, 'JobModifyIndex'> | undefined,
  given: number,
): IndexConflict | undefined {
  const conflict = (text: string): IndexConflict => ({
    type: 'index_conflict',
    given,
    current: current?.JobModifyIndex ?? null,
    message: `Enforcing job modify index ${given}: ${text}`,
  });
  if (current === undefined) return given === 0 ? undefined : conflict('job does not exist');
  if (given === 0) return conflict('job already exists');
  return given === current.JobModifyIndex
    ? undefined
    : conflict(`job exists with conflicting job modify index: ${current.JobModifyIndex}`);
}

function refusedTransition(current: Job, next: Job): TransitionRefused | undefined {
  const refuse = (reason: TransitionRefused['reason'], message: string): TransitionRefused => ({
    type: 'transition_refused',
    reason,
    message,
  });
  if (current.Type !== next.Type) {
    return refuse('type', `cannot update job from type "${current.Type}" to "${next.Type}"`);
  }
  if (isPeriodic(current) !== isPeriodic(next)) {
    return refuse(
      'periodic',
      `cannot update ${isPeriodic(current) ? '' : 'non-'}periodic job to being ${isPeriodic(next) ? '' : 'non-'}periodic`,
    );
  }
  if (current.Dispatched !== next.Dispatched) {
    return refuse('dispatched', 'cannot update a dispatched job: register its parent, or dispatch again');
  }
  if (isParameterized(current) !== isParameterized(next)) {
    return refuse(
      'parameterized',
      `cannot update ${isParameterized(current) ? '' : 'non-'}parameterized job to being ${isParameterized(next) ? '' : 'non-'}parameterized`,
    );
  }
  return undefined;
}

/**
 * A group's scaling policy keeps its ID while the group keeps its name, and its indexes while it is unchanged.
 */
function withPolicyIds(
  job: Job,
  current: Job | undefined,
  policyId: () => string,
  index: number,
): readonly TaskGroup[] {
  if (job.TaskGroups.every((group) => group.Scaling === null)) return job.TaskGroups;
  return job.TaskGroups.map((group) => {
    if (group.Scaling === null) return group;
    const stored = current?.TaskGroups.find((each) => each.Name === group.Name)?.Scaling ?? undefined;
    const Scaling = { ...group.Scaling, ID: stored === undefined || stored.ID === '' ? policyId() : stored.ID };
    return { ...group, Scaling: withIndexes(Scaling, stored, index) };
  });
}

function withIndexes(policy: ScalingPolicy, stored: ScalingPolicy | undefined, index: number): ScalingPolicy {
  if (stored === undefined) return { ...policy, CreateIndex: index, ModifyIndex: index };
  const { CreateIndex, ModifyIndex } = stored;
  const same = JSON.stringify({ ...policy, CreateIndex, ModifyIndex }) === JSON.stringify(stored);
  return same ? stored : { ...policy, CreateIndex, ModifyIndex: index };
}

/**
 * The submitted groups, with the stored counts and resources of existing groups if the caller preserves them. A count
 * outside the document's bounds becomes the nearest allowed one.
 */
function preserved(
  current: Job,
  { job, preserveCounts = false, preserveResources = false }: RegistrationRequest,
): { readonly groups: readonly TaskGroup[]; readonly kept?: readonly string[] } {
  if (!preserveCounts && !preserveResources) return { groups: job.TaskGroups };
  const before = new Map(current.TaskGroups.map((group) => [group.Name, group]));
  const kept: string[] = [];
  const groups = job.TaskGroups.map((group) => {
    const stored = before.get(group.Name);
    if (stored === undefined) return group;
    const Count = preserveCounts ? withinBounds(stored.Count, group.Scaling) : group.Count;
    if (preserveCounts && Count !== stored.Count) {
      kept.push(
        `group ${JSON.stringify(group.Name)}: the current count ${stored.Count} is outside the scaling bounds and becomes ${Count}`,
      );
    }
    return { ...group, Count, Tasks: preserveResources ? withResourcesOf(stored, group) : group.Tasks };
  });
  return { groups, kept };
}

function withinBounds(count: number, policy: ScalingPolicy | null): number {
  return policy === null ? count : Math.min(Math.max(count, policy.Min), policy.Max);
}

function withResourcesOf(stored: TaskGroup, group: TaskGroup): TaskGroup['Tasks'] {
  const before = new Map(stored.Tasks.map((task) => [task.Name, task.Resources]));
  return group.Tasks.map((task) => ({ ...task, Resources: before.get(task.Name) ?? task.Resources }));
}

/** The version that is registered again. */
export interface RevertRequest {
  readonly version: number;
  /** Check-and-set: the required current version; null without the check. */
  readonly enforcedPriorVersion: number | null;
}

/**
 * The document to register for a revert (job interface, revert): the target version without its stability and tag. It is then
 * registered like any other.
 */
export function decideRevert(
  current: Job,
  target: Job | undefined,
  request: RevertRequest,
): Result<Job, RevertRefused | VersionNotFound> {
  const { version, enforcedPriorVersion } = request;
  if (version === current.Version) {
    return refuse('same_version', `can't revert to current version ${version}`);
  }
  if (target === undefined) return err(versionNotFound(current, version));
  if (enforcedPriorVersion !== null && enforcedPriorVersion !== current.Version) {
    return refuse(
      'prior_version',
      `Current job has version ${current.Version}; enforcing version ${enforcedPriorVersion}`,
    );
  }
  return ok({ ...target, Stable: false, VersionTag: null });
}

export function versionNotFound(job: Pick<Job, 'ID' | 'Namespace'>, version: number): VersionNotFound {
  return {
    type: 'version_not_found',
    version,
    message: `job "${job.ID}" in namespace "${job.Namespace}" at version ${version} not found`,
  };
}

function refuse(reason: RevertRefused['reason'], message: string): Result<never, RevertRefused> {
  return err({ type: 'revert_refused', reason, message });
}

/** The row of a stopped job: a new version, marked as stopped (job interface, stop). */
export function decideStop(current: Job, index: number, now: Instant): Job {
  return { ...nextVersion(current, { index, now }), Stop: true };
}
