import { type Instant, unixNanosFromInstant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import { allocationListStub } from '../allocation-views.js';
import { withAllocation } from '../deployment/count-allocations.js';
import type { Deployment } from '../deployment/deployment.js';
import { type DesiredUpdates, type Evaluation, type PlanAnnotations, timeOfChange } from '../evaluation.js';
import type { ClassVerdicts } from '../feasibility/node-checks.js';
import { type DeploymentUpdate, type Intents, nothingDesired } from '../reconcile/intents.js';
import { followUpDescriptions, followUpEvaluation } from '../reconcile/reschedule.js';
import type { SchedulingIds } from '../reconcile/situation.js';
import type { SchedulingSnapshot } from '../snapshot.js';
import { byIdInSteps, examinedPerStep, type Steps } from '../steps.js';
import type { PlanDraft } from './plan-draft.js';

/** The records to write. Each is complete, with the indexes and times of the write. */
export interface SchedulingResult {
  /** Changed and new allocations. The previous state of a changed one is in the snapshot, or was read by `readAllocation`. */
  readonly allocations: readonly Allocation[];
  readonly deployments: readonly Deployment[];
  /** The evaluation's final record: complete, failed, or blocked again. */
  readonly evaluation: Evaluation;
  /** A blocked evaluation for allocations without a node, and pending ones for later. */
  readonly followUps: readonly Evaluation[];
  /** Evaluations of other jobs whose allocations were preempted. */
  readonly preemptions: readonly Evaluation[];
  /** By group. */
  readonly desiredUpdates: Readonly<Record<string, DesiredUpdates>>;
  /** A job version that has become stable: every allocation of its deployment is healthy. */
  readonly stableVersion: number | undefined;
  /**
   * Whether the deployment ended while it withheld replacements of failed allocations: the job must be evaluated once
   * more. That evaluation is not among the records.
   */
  readonly looksAgain: boolean;
  /** The decisions about deployments, including those that leave the record unchanged. */
  readonly decided: {
    readonly deployment: Deployment | undefined;
    readonly deploymentUpdates: readonly DeploymentUpdate[];
    /** Created or changed deployments; their counts do not include the plan's allocations yet. */
    readonly uncounted: readonly Deployment[];
  };
}

export interface OutcomeRequest {
  readonly snapshot: SchedulingSnapshot;
  readonly evaluation: Evaluation;
  readonly now: Instant;
  readonly ids: SchedulingIds;
  readonly intents: Intents;
  readonly draft: PlanDraft;
  /** Class verdicts for blocked evaluations. */
  readonly classes: ClassVerdicts | undefined;
  /** The deployment that the evaluation refers to. */
  readonly deploymentId: string | undefined;
  /** The node that a blocked evaluation of a system job waits for. */
  readonly blockedNodeId?: string | undefined;
  /** Whether unplaced allocations wait for room; by default, if there are any. */
  readonly waitsForRoom?: boolean;
}

/** Creates the records of a decision. Yields now and then. */
export function* outcomeOf(request: OutcomeRequest): Steps<SchedulingResult> {
  const { snapshot, intents, draft } = request;
  const followUps = followUpsOf(request);
  const uncounted = decidedDeployments(request);
  const deployments = yield* deploymentsOf(request, uncounted);
  const succeeded = intents.deploymentUpdates.find(({ status }) => status === 'successful')?.deploymentId;
  return {
    allocations: draft.allocations,
    deployments,
    evaluation: endOf(request, followUps),
    followUps: followUps.map((followUp) => written(followUp, snapshot.index)),
    preemptions: preemptionsOf(request),
    desiredUpdates: desiredUpdatesOf(request),
    stableVersion: [...deployments, ...snapshot.deployments].find(({ ID }) => ID === succeeded)?.JobVersion,
    looksAgain: succeeded !== undefined && snapshot.allocations.some((one) => isLeftBehind(one, succeeded)),
    decided: {
      deployment: intents.deployment,
      deploymentUpdates: intents.deploymentUpdates,
      uncounted: changedDeployments(request, uncounted),
    },
  };
}

/** An evaluation that cannot be processed. */
export function failedOutcome(
  { index }: Pick<SchedulingSnapshot, 'index'>,
  evaluation: Evaluation,
  now: Instant,
  description: string,
): SchedulingResult {
  return {
    allocations: [],
    deployments: [],
    evaluation: {
      ...evaluation,
      Status: 'failed',
      StatusDescription: description,
      ModifyIndex: index,
      ModifyTime: timeOfChange(evaluation, now),
    },
    followUps: [],
    preemptions: [],
    desiredUpdates: {},
    stableVersion: undefined,
    looksAgain: false,
    decided: { deployment: undefined, deploymentUpdates: [], uncounted: [] },
  };
}

/** Whether it failed after it had been healthy, so that its deployment requested no replacement. */
function isLeftBehind({ DeploymentID, ClientStatus, DesiredStatus, NextAllocation }: Allocation, succeeded: string) {
  if (DeploymentID !== succeeded || NextAllocation !== undefined) return false;
  return ClientStatus === 'failed' && DesiredStatus === 'run';
}

function followUpsOf(request: OutcomeRequest): readonly Evaluation[] {
  const { evaluation, now, intents, draft } = request;
  const followUps = [...intents.evaluations];
  const looksAgain = intents.evaluations.length > 0;
  const due = !looksAgain || evaluation.WaitUntil === undefined || Date.parse(evaluation.WaitUntil) <= now;
  const waits = request.waitsForRoom ?? draft.failed !== undefined;
  if (waits && evaluation.Status !== 'blocked' && due) followUps.push(blockedEvaluation(request));
  return followUps;
}

/** A blocked evaluation that waits until a node change may make room for the unplaced allocations. */
function blockedEvaluation(request: OutcomeRequest): Evaluation {
  const { draft, snapshot, blockedNodeId } = request;
  return followUpEvaluation(request, {
    TriggeredBy: 'queued-allocs',
    Status: 'blocked',
    StatusDescription: followUpDescriptions.blocked,
    ...(blockedNodeId === undefined ? {} : { NodeID: blockedNodeId }),
    ...(draft.failed === undefined ? {} : { FailedTGAllocs: draft.failed }),
    ...classMembers(request.classes),
    SnapshotIndex: snapshot.index,
  });
}

function classMembers(
  classes: ClassVerdicts | undefined,
): Pick<Evaluation, 'ClassEligibility' | 'EscapedComputedClass'> {
  if (classes === undefined) return {};
  if (classes.escaped) return { EscapedComputedClass: true };
  return Object.keys(classes.eligibility).length === 0 ? {} : { ClassEligibility: classes.eligibility };
}

function endOf(request: OutcomeRequest, followUps: readonly Evaluation[]): Evaluation {
  const { snapshot, evaluation, now, draft, deploymentId, classes } = request;
  const { FailedTGAllocs: _failed, EscapedComputedClass: _escaped, ClassEligibility: _classes, ...before } = evaluation;
  const queued = draft.queued;
  const base = {
    ...before,
    ...(draft.failed === undefined ? {} : { FailedTGAllocs: draft.failed }),
    ...(Object.keys(queued).length === 0 ? {} : { QueuedAllocations: queued }),
    ModifyIndex: snapshot.index,
    ModifyTime: timeOfChange(evaluation, now),
    SnapshotIndex: snapshot.index,
  };
  if (draft.failed !== undefined && evaluation.Status === 'blocked') return { ...base, ...classMembers(classes) };
  const { StatusDescription: _description, ...finished } = base;
  const blocked = request.waitsForRoom === undefined ? followUps.find(({ Status }) => Status === 'blocked') : undefined;
  const next = followUps.findLast(({ WaitUntil }) => WaitUntil !== undefined);
  return {
    ...finished,
    PlanAnnotations: annotationsOf(request),
    Status: 'complete',
    ...(deploymentId === undefined ? {} : { DeploymentID: deploymentId }),
    ...(blocked === undefined ? {} : { BlockedEval: blocked.ID }),
    ...(next === undefined ? {} : { NextEval: next.ID }),
  };
}

/** The evaluation's result by group. Only a plan, which is not stored, lists the allocations that would be preempted. */
function annotationsOf(request: OutcomeRequest): PlanAnnotations {
  const { evaluation, draft } = request;
  const preempted = evaluation.AnnotatePlan === true ? draft.preempted : [];
  const stubs = preempted.map(({ before }) => allocationListStub(before));
  return { DesiredTGUpdates: desiredUpdatesOf(request), PreemptedAllocs: stubs.length === 0 ? null : stubs };
}

function desiredUpdatesOf({ intents, draft, evaluation }: OutcomeRequest): Readonly<Record<string, DesiredUpdates>> {
  const preemptions = new Map<string, number>();
  for (const { TaskGroup, JobType, PreemptedAllocations: victims = [] } of draft.placed) {
    if ((JobType === 'system' || JobType === 'sysbatch') && evaluation.AnnotatePlan !== true) continue;
    preemptions.set(TaskGroup, (preemptions.get(TaskGroup) ?? 0) + victims.length);
  }
  for (const group of preemptions.keys()) intents.desired(group);
  return Object.fromEntries(
    [...intents.desiredUpdates].map(([group, desired]) => [
      group,
      { ...nothingDesired, ...desired, Preemptions: preemptions.get(group) ?? 0 },
    ]),
  );
}

/** By ID: the job's deployments including the one that the plan creates or rewrites, with the status that it sets. */
function decidedDeployments({ snapshot, intents }: OutcomeRequest): ReadonlyMap<string, Deployment> {
  const after = new Map(snapshot.deployments.map((deployment) => [deployment.ID, deployment]));
  const { deployment: written } = intents;
  if (written !== undefined) {
    after.set(written.ID, after.has(written.ID) ? written : { ...written, CreateIndex: snapshot.index });
  }
  for (const { deploymentId, status, description } of intents.deploymentUpdates) {
    const deployment = after.get(deploymentId);
    if (deployment !== undefined) after.set(deploymentId, withStatus(deployment, status, description));
  }
  return after;
}

/** Deployments that the plan creates, whose status it changes, or whose allocations it places. */
function* deploymentsOf(
  request: OutcomeRequest,
  uncounted: ReadonlyMap<string, Deployment>,
): Steps<readonly Deployment[]> {
  const { snapshot, draft } = request;
  const after = new Map(uncounted);
  const changed = draft.allocations;
  const known = changed.length === 0 ? [] : snapshot.allocations;
  const allocationsBefore = yield* byIdInSteps(known);
  for (const [at, allocation] of changed.entries()) {
    if (at % examinedPerStep === 0) yield;
    const deployment = allocation.DeploymentID === undefined ? undefined : after.get(allocation.DeploymentID);
    if (deployment === undefined) continue;
    after.set(deployment.ID, withAllocation(deployment, allocationsBefore.get(allocation.ID), allocation));
  }
  return changedDeployments(request, after);
}

function changedDeployments(
  { snapshot, now }: OutcomeRequest,
  after: ReadonlyMap<string, Deployment>,
): readonly Deployment[] {
  const before = new Map(snapshot.deployments.map((deployment) => [deployment.ID, deployment]));
  return [...after.values()]
    .filter((deployment) => !isSame(before.get(deployment.ID), deployment))
    .map((deployment) => ({ ...deployment, ModifyIndex: snapshot.index, ModifyTime: unixNanosFromInstant(now) }));
}

function withStatus(deployment: Deployment, Status: Deployment['Status'], StatusDescription: string): Deployment {
  if (deployment.Status === Status && deployment.StatusDescription === StatusDescription) return deployment;
  return { ...deployment, Status, StatusDescription };
}

function isSame(before: Deployment | undefined, after: Deployment): boolean {
  return before === after || (before !== undefined && JSON.stringify(before) === JSON.stringify(after));
}

/** One evaluation for each job that lost allocations. */
function preemptionsOf({ draft, snapshot, now, ids }: OutcomeRequest): readonly Evaluation[] {
  const nanos = unixNanosFromInstant(now);
  const jobs = new Map<string, Allocation>();
  for (const { before } of draft.preempted) jobs.set(JSON.stringify([before.Namespace, before.JobID]), before);
  return [...jobs.values()].map(({ Namespace, JobID, JobType, JobPriority }) => ({
    ID: ids.next('evaluation'),
    Namespace,
    Priority: JobPriority ?? defaultPriority,
    Type: JobType,
    TriggeredBy: 'preemption',
    JobID,
    Status: 'pending',
    CreateIndex: snapshot.index,
    ModifyIndex: snapshot.index,
    CreateTime: nanos,
    ModifyTime: nanos,
  }));
}

const defaultPriority = 50;

function written(evaluation: Evaluation, index: number): Evaluation {
  return { ...evaluation, CreateIndex: index, ModifyIndex: index };
}

/** Rebases a decision that was made for a write at index `from`, which no earlier record can have, to a write at index `to`. */
export function movedResult(result: SchedulingResult, from: number, to: number): SchedulingResult {
  if (from === to) return result;
  const index = (was: number): number => (was === from ? to : was);
  const evaluation = (one: Evaluation): Evaluation => ({
    ...one,
    CreateIndex: index(one.CreateIndex),
    ModifyIndex: index(one.ModifyIndex),
    ...(one.SnapshotIndex === undefined ? {} : { SnapshotIndex: index(one.SnapshotIndex) }),
  });
  const allocation = (one: Allocation): Allocation => ({
    ...one,
    CreateIndex: index(one.CreateIndex),
    ModifyIndex: index(one.ModifyIndex),
    AllocModifyIndex: index(one.AllocModifyIndex),
    ...(one.DeploymentStatus === undefined
      ? {}
      : {
          DeploymentStatus: { ...one.DeploymentStatus, ModifyIndex: index(one.DeploymentStatus.ModifyIndex) },
        }),
  });
  const deployment = (one: Deployment): Deployment => ({
    ...one,
    CreateIndex: index(one.CreateIndex),
    ModifyIndex: index(one.ModifyIndex),
  });
  return {
    ...result,
    allocations: result.allocations.map(allocation),
    deployments: result.deployments.map(deployment),
    decided: { ...result.decided, uncounted: result.decided.uncounted.map(deployment) },
    evaluation: evaluation(result.evaluation),
    followUps: result.followUps.map(evaluation),
    preemptions: result.preemptions.map(evaluation),
  };
}

/** Allocations of a plan that are written together. */
export interface PlanPart {
  readonly allocations: readonly Allocation[];
  /** Whether deployments and delayed evaluations are part of this write. */
  readonly first: boolean;
  /** Whether the evaluation ends with this write. */
  readonly last: boolean;
}

/** The whole plan. */
export function wholeOf({ allocations }: SchedulingResult): PlanPart {
  return { allocations, first: true, last: true };
}

/**
 * Splits a plan into parts of about `size` allocations, each of which leaves the job in a state that an evaluation can continue from. An allocation
 * and its replacement are written together; otherwise the order is that of the decisions, so that each allocation finds the room that it was
 * decided on: first changes that need no room. Preempted allocations are written with the one they made room for. Yields now and then.
 */
export function* partsInSteps(result: SchedulingResult, size: number): Steps<readonly PlanPart[]> {
  const { allocations } = result;
  if (allocations.length <= size) return [wholeOf(result)];
  const byId = yield* byIdInSteps(allocations);
  const parts: Allocation[][] = [];
  for (const [at, allocation] of allocations.entries()) {
    if (at % examinedPerStep === 0) yield;
    const unit = unitOf(allocation, byId);
    const current = parts.at(-1);
    if (current !== undefined && current.length + unit.length <= size) current.push(...unit);
    else if (unit.length > 0) parts.push([...unit]);
  }
  return parts.map((own, at) => ({ allocations: own, first: at === 0, last: at === parts.length - 1 }));
}

/** Allocations that must be written together, at the position of the placed one; empty for the others. */
function unitOf(allocation: Allocation, byId: ReadonlyMap<string, Allocation>): readonly Allocation[] {
  const { ID, NextAllocation, PreviousAllocation, PreemptedByAllocation, PreemptedAllocations = [] } = allocation;
  if (NextAllocation !== undefined && byId.has(NextAllocation)) return [];
  if (isPreempted(allocation) && PreemptedByAllocation !== undefined && byId.has(PreemptedByAllocation)) return [];
  const victims = PreemptedAllocations.flatMap((id) => {
    const victim = byId.get(id);
    return victim?.PreemptedByAllocation === ID ? [victim] : [];
  });
  const before = PreviousAllocation === undefined ? undefined : byId.get(PreviousAllocation);
  return [...victims, ...(before?.NextAllocation === ID ? [before] : []), allocation];
}

/** Whether it was preempted for an allocation of another job. */
export function isPreempted({ DesiredStatus }: Pick<Allocation, 'DesiredStatus'>): boolean {
  return DesiredStatus === 'evict';
}
