import type { StoredPolicy, StoredRole } from '../access/policy-record.js';
import type { StoredToken } from '../access/tokens.js';
import type { Job } from '../jobs/document/job.js';
import type { Allocation } from '../scheduler/allocation.js';
import type { Deployment } from '../scheduler/deployment/deployment.js';
import type { Evaluation } from '../scheduler/evaluation.js';
import type { Node } from '../scheduler/node.js';
import type { NodePool } from '../scheduler/node-pool.js';
import type { ServiceRegistration } from '../services/service-registration.js';
import { table } from '../shared/table.js';

/** The cause of a transaction. All of its events without an own type have this type. */
export type Cause =
  | 'JobRegistered'
  | 'JobDeregistered'
  | 'JobBatchDeregistered'
  | 'PlanResult'
  | 'AllocationUpdated'
  | 'AllocationUpdateDesiredStatus'
  | 'DeploymentPromotion'
  | 'DeploymentAllocHealth'
  | 'DeploymentStatusUpdate';

/**
 * Derives the cause of a transaction from its changes; undefined where only the changes themselves are reported, such as an evaluation by
 * request. A job that reverts because its deployment failed is not registered.
 */
function causeOf(changes: readonly StateChange[], index: number): Cause | undefined {
  const isRevert = changes.some((change) => change.topic === 'Deployment' && isFailed(change));
  for (const change of changes) {
    const cause = change.topic === 'Job' ? causeOfJob(change, isRevert ? undefined : index) : undefined;
    if (cause !== undefined) return cause;
  }
  return inOrder.find(({ topic, holds }) => changes.some((change) => change.topic === topic && holds(change as never)))
    ?.cause;
}

/** Without an index of registrations only a stop counts. */
function causeOfJob({ before, after }: ChangeOf<'Job'>, registered: number | undefined): Cause | undefined {
  if (after === undefined || (after.Stop && before?.Stop === false)) return 'JobDeregistered';
  return before === undefined || after.JobModifyIndex === registered ? 'JobRegistered' : undefined;
}

/** Earlier rows take precedence: a plan also changes deployments, and so does a node's report. */
const inOrder: readonly { topic: StateChange['topic']; cause: Cause; holds: (change: never) => boolean }[] = [
  { topic: 'Evaluation', cause: 'PlanResult', holds: isDecided },
  { topic: 'Allocation', cause: 'PlanResult', holds: isPlanned },
  { topic: 'Allocation', cause: 'AllocationUpdated', holds: isReported },
  { topic: 'Allocation', cause: 'AllocationUpdateDesiredStatus', holds: isToMove },
  { topic: 'Deployment', cause: 'DeploymentPromotion', holds: isPromoted },
  { topic: 'Deployment', cause: 'DeploymentStatusUpdate', holds: isChanged },
];

/** Whether the scheduler has finished the evaluation. */
function isDecided({ before, after }: ChangeOf<'Evaluation'>): boolean {
  return before?.Status === 'pending' && (after?.Status === 'complete' || after?.Status === 'failed');
}

/** Whether it is new, or the scheduler has changed its desired status or marked it as unknown. */
function isPlanned({ before, after }: ChangeOf<'Allocation'>): boolean {
  if (after === undefined) return false;
  if (before === undefined || before.DesiredStatus !== after.DesiredStatus) return true;
  return before.ClientStatus !== after.ClientStatus && after.ClientStatus === 'unknown';
}

/** Whether the node's agent has reported its status: changes by the servers use a separate index, except for the end of a canary. */
function isReported(change: ChangeOf<'Allocation'>): boolean {
  const { before, after } = change;
  if (before === undefined || after === undefined || isPlanned(change) || isToMove(change)) return false;
  const isCanary = before.DeploymentStatus?.Canary ?? false;
  return before.AllocModifyIndex === after.AllocModifyIndex && isCanary === (after.DeploymentStatus?.Canary ?? false);
}

/** Whether it is to be migrated, rescheduled or stopped. */
function isToMove({ before, after }: ChangeOf<'Allocation'>): boolean {
  if (before === undefined || after === undefined) return false;
  return JSON.stringify(before.DesiredTransition) !== JSON.stringify(after.DesiredTransition);
}

function isPromoted({ before, after }: ChangeOf<'Deployment'>): boolean {
  return Object.entries(after?.TaskGroups ?? {}).some(
    ([name, { Promoted }]) => Promoted && before !== undefined && before.TaskGroups[name]?.Promoted === false,
  );
}

function isFailed({ before, after }: ChangeOf<'Deployment'>): boolean {
  return before !== undefined && before.Status !== 'failed' && after?.Status === 'failed';
}

function isChanged({ before, after }: ChangeOf<'Deployment'>): boolean {
  return before !== undefined && after !== undefined;
}

/**
 * The notices for the changes of one transaction (job interface, event stream). The cause determines the type of all of them,
 * including new evaluations. Without a cause, the type follows from the change. `known`: the cause, if the changes do not
 * show it.
 */
export function noticesOfChanges(changes: readonly StateChange[], index: number, known?: Cause): readonly Notice[] {
  const cause = known ?? causeOf(changes, index);
  const notices: Notice[] = [];
  for (const change of inOrderOfTelling(changes, cause)) {
    const type = typeOf(change, cause, index);
    if (type !== undefined) notices.push(noticeOf(change, type));
  }
  const again = changes.find(isRevived);
  if (cause === 'JobRegistered' && again !== undefined) notices.push(noticeOf(again, cause));
  return notices;
}

const ofJobs: ReadonlySet<Cause | undefined> = new Set(['JobRegistered', 'JobDeregistered', 'JobBatchDeregistered']);

/** A registration reports the job first; all others report the job's status last. */
function inOrderOfTelling(changes: readonly StateChange[], cause: Cause | undefined): readonly StateChange[] {
  const jobs = changes.filter(({ topic }) => topic === 'Job');
  const others = changes.filter(({ topic }) => topic !== 'Job');
  return ofJobs.has(cause) ? [...jobs, ...others] : [...others, ...jobs];
}

/**
 * A dead job that is registered again has two notices: one for the stored job, and one when its new evaluation makes it
 * pending.
 */
function isRevived(change: StateChange): boolean {
  return change.topic === 'Job' && change.before?.Status === 'dead' && change.after?.Status === 'pending';
}

/** Whether the removal of a record has a notice: removed evaluations, allocations and deployments have none. */
export function isToldWhenRemoved(topic: Topic): boolean {
  return topic !== 'Evaluation' && topic !== 'Allocation' && topic !== 'Deployment';
}

/** Undefined for changes without a notice. */
function typeOf(change: StateChange, cause: Cause | undefined, index: number): string | undefined {
  if (change.after === undefined && !isToldWhenRemoved(change.topic)) return undefined;
  switch (change.topic) {
    case 'Job':
      return typeOfJob(change, cause, index);
    case 'Evaluation':
      return typeOfEvaluation(change, cause, index);
    case 'Allocation':
      return typeOfAllocation(change, cause);
    case 'Deployment':
      return typeOfDeployment(change, cause);
    case 'Node':
      return typeOfNode(change);
    case 'NodePool':
      return change.after === undefined ? 'NodePoolDeleted' : 'NodePoolUpserted';
    case 'Service':
      return change.after === undefined ? 'ServiceDeregistration' : 'ServiceRegistration';
    case 'ACLToken':
    case 'ACLPolicy':
    case 'ACLRole':
      return change.topic + (change.after === undefined ? 'Deleted' : 'Upserted');
  }
}

/**
 * Unless the transaction is about the job, only changes of its status and reverts have a notice; tags
 * and stability do not. A job becomes running by its placements; its end is known with its evaluation.
 */
function typeOfJob({ before, after }: ChangeOf<'Job'>, cause: Cause | undefined, index: number): string | undefined {
  if (ofJobs.has(cause)) return cause;
  if (after?.JobModifyIndex === index) return cause === 'AllocationUpdated' ? 'DeploymentStatusUpdate' : cause;
  if (before?.Status === after?.Status) return undefined;
  return cause === undefined || (cause === 'PlanResult' && after?.Status !== 'running') ? 'EvaluationUpdated' : cause;
}

/** Plans are reported separately from evaluations, including those that they create. */
function typeOfEvaluation({ after }: ChangeOf<'Evaluation'>, cause: Cause | undefined, index: number) {
  if (ofJobs.has(cause)) return cause;
  return cause === undefined || cause === 'PlanResult' || after?.CreateIndex !== index ? 'EvaluationUpdated' : cause;
}

/** A node's report may change the desired state of other allocations. */
function typeOfAllocation(change: ChangeOf<'Allocation'>, cause: Cause | undefined): string | undefined {
  if (cause !== 'AllocationUpdated') return cause ?? 'PlanResult';
  return isToMove(change) ? 'AllocationUpdateDesiredStatus' : cause;
}

/** Under a node's report, a status change of the deployment has its own type. */
function typeOfDeployment(change: ChangeOf<'Deployment'>, cause: Cause | undefined): string | undefined {
  const { before, after } = change;
  if (before === undefined) return 'PlanResult';
  if (isPromoted(change)) return 'DeploymentPromotion';
  if (cause === 'AllocationUpdated') return before.Status === after?.Status ? cause : 'DeploymentStatusUpdate';
  return cause ?? 'DeploymentStatusUpdate';
}

function typeOfNode({ before, after }: ChangeOf<'Node'>): string | undefined {
  if (after === undefined) return 'NodeDeregistration';
  if (before === undefined) return 'NodeRegistration';
  if (before.Status !== after.Status) return 'NodeStreamEvent';
  if (JSON.stringify(before.DrainStrategy ?? null) !== JSON.stringify(after.DrainStrategy ?? null)) return 'NodeDrain';
  if (before.SchedulingEligibility !== after.SchedulingEligibility) return 'NodeEligibility';
  return 'NodeRegistration';
}

interface Told {
  readonly key: string;
  readonly namespace: string;
  readonly filterKeys: readonly string[] | null;
}

const TOLD: { readonly [T in Topic]: (subject: Subjects[T]) => Told } = {
  Job: ({ ID, Namespace }) => ({ key: ID, namespace: Namespace, filterKeys: null }),
  Evaluation: ({ ID, Namespace, JobID, DeploymentID }) => withJob(ID, Namespace, [JobID, DeploymentID]),
  Allocation: ({ ID, Namespace, JobID, DeploymentID }) => withJob(ID, Namespace, [JobID, DeploymentID]),
  Deployment: ({ ID, Namespace, JobID }) => withJob(ID, Namespace, [JobID]),
  Node: ({ ID }) => ({ key: ID, namespace: '', filterKeys: null }),
  NodePool: ({ Name }) => ({ key: Name, namespace: '', filterKeys: null }),
  Service: ({ ID, Namespace, JobID, ServiceName }) => withJob(ID, Namespace, [JobID, ServiceName]),
  ACLToken: ({ accessor }) => ({ key: accessor, namespace: '', filterKeys: null }),
  ACLPolicy: ({ Name }) => ({ key: Name, namespace: '', filterKeys: null }),
  ACLRole: ({ ID, Name }) => ({ key: ID, namespace: '', filterKeys: [Name] }),
};

function withJob(key: string, namespace: string, filterKeys: readonly (string | undefined)[]): Told {
  return { key, namespace, filterKeys: filterKeys.map((other) => other ?? '') };
}

function noticeOf({ topic, before, after }: StateChange, type: string): Notice {
  const { key, namespace, filterKeys } = (TOLD[topic] as (subject: unknown) => Told)(after ?? before);
  return {
    Topic: topic,
    Type: type,
    Key: key,
    Namespace: namespace,
    FilterKeys: filterKeys,
    ...(after === undefined && topic === 'Job' ? { Deleted: true } : {}),
  };
}

/** The record type of a topic. */
interface Subjects {
  readonly Job: Job;
  readonly Evaluation: Evaluation;
  readonly Allocation: Allocation;
  readonly Deployment: Deployment;
  readonly Node: Node;
  readonly NodePool: NodePool;
  readonly Service: ServiceRegistration;
  readonly ACLToken: StoredToken;
  readonly ACLPolicy: StoredPolicy;
  readonly ACLRole: StoredRole;
}

export type Topic = keyof Subjects;

/** A record before and after one transaction; one side is absent when it was created or removed. */
interface ChangeOf<T extends Topic> {
  readonly topic: T;
  readonly before: Subjects[T] | undefined;
  readonly after: Subjects[T] | undefined;
}

export type StateChange = { [T in Topic]: ChangeOf<T> }[Topic];

/** A notice of a change, without the new state. */
export interface Notice {
  readonly Topic: Topic;
  /** The cause of the change: also for the evaluation of a registration it is `JobRegistered`. */
  readonly Type: string;
  /** ID of the changed record. */
  readonly Key: string;
  /** Empty for topics without namespaces. */
  readonly Namespace: string;
  /** Other IDs by which it can be selected. */
  readonly FilterKeys: readonly string[] | null;
  /** Whether the record was removed. */
  readonly Deleted?: true;
}

/** A change of the cluster as the event stream reports it (job interface, event stream). */
export interface ClusterEvent extends Omit<Notice, 'Deleted'> {
  readonly Index: number;
  /** The record after the change, under its topic's name; for a removal, the record before. */
  readonly Payload: Readonly<Record<string, unknown>>;
}

/** The events of one transaction, which a stream sends together. */
export interface EventBatch {
  readonly Index: number;
  readonly Events: readonly ClusterEvent[];
}

/** Builds the event of a notice; the record is given as readers see it. */
export function eventFrom({ Deleted, ...notice }: Notice, Index: number, shown: unknown): ClusterEvent {
  return { ...notice, Index, Payload: { [notice.Topic]: shown, ...(Deleted === undefined ? {} : { Deleted }) } };
}

/** The notices of one transaction. The records remain in their tables until they are overwritten. */
export interface NoticeBatch {
  readonly Index: number;
  readonly Notices: readonly Notice[];
}

/** A record as the transaction `Index` left it, saved when a later one overwrites or removes it. */
interface EarlierRecord {
  readonly Index: number;
  readonly Topic: Topic;
  readonly Namespace: string;
  readonly Key: string;
  readonly Record: unknown;
}

/** By index; later transactions remove those that are too old. */
export const noticeBatches = table<NoticeBatch>('notice_batches', ({ Index }) => [Index]);

export const earlierRecords = table<EarlierRecord>('earlier_records', ({ Index, Topic, Namespace, Key }) => [
  Index,
  Topic,
  Namespace,
  Key,
]);
