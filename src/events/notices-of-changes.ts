import type { Allocation } from '../scheduler/allocation.js';
import type { Notice } from './cluster-event.js';
import type { ChangeOf, StateChange, Subjects, Topic } from './state-change.js';

/**
 * The notices for the changes of one transaction (job interface, event stream). The cause determines the type of all of them,
 * including the evaluations of a registration or deregistration. Without a cause, the type follows from the change.
 */
export function noticesOfChanges(changes: readonly StateChange[], index: number): readonly Notice[] {
  const cause = causeOf(changes, index);
  const notices: Notice[] = [];
  for (const change of inOrderOfTelling(changes, cause)) {
    const type = typeOf(change, cause, index);
    if (type !== undefined) notices.push(noticeOf(change, type));
  }
  const again = changes.find(isRevived);
  if (cause === 'JobRegistered' && again !== undefined) notices.push(noticeOf(again, cause));
  return notices;
}

type Cause = 'JobRegistered' | 'JobDeregistered' | undefined;

function causeOf(changes: readonly StateChange[], index: number): Cause {
  for (const change of changes) {
    if (change.topic !== 'Job') continue;
    const { before, after } = change;
    if (after === undefined || (after.Stop && before?.Stop === false)) return 'JobDeregistered';
    if (before === undefined || after.JobModifyIndex === index) return 'JobRegistered';
  }
  return undefined;
}

/** A registration tells the job first; everything else tells the job's status last. */
function inOrderOfTelling(changes: readonly StateChange[], cause: Cause): readonly StateChange[] {
  const jobs = changes.filter(({ topic }) => topic === 'Job');
  const others = changes.filter(({ topic }) => topic !== 'Job');
  return cause === undefined ? [...others, ...jobs] : [...jobs, ...others];
}

/**
 * A dead job that is registered again has two notices: one for the stored job, and one when its new evaluation makes it
 * pending.
 */
function isRevived(change: StateChange): boolean {
  return change.topic === 'Job' && change.before?.Status === 'dead' && change.after?.Status === 'pending';
}

function typeOf(change: StateChange, cause: Cause, index: number): string | undefined {
  switch (change.topic) {
    case 'Job':
      return cause ?? typeOfJob(change);
    case 'Evaluation':
      return cause !== undefined && change.after?.CreateIndex === index ? cause : 'EvaluationUpdated';
    case 'Allocation':
      return typeOfAllocation(change, index);
    case 'Deployment':
      return change.before === undefined ? 'PlanResult' : 'DeploymentStatusUpdate';
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

/** Of changes without a cause only those of the status have a notice; tags and stability do not. */
function typeOfJob({ before, after }: ChangeOf<'Job'>): string | undefined {
  return before?.Status === after?.Status ? undefined : 'EvaluationUpdated';
}

function typeOfAllocation({ before, after }: ChangeOf<'Allocation'>, index: number): string | undefined {
  if (after === undefined) return undefined;
  if (before === undefined || after.CreateIndex === index) return 'PlanResult';
  if (isReport(before, after)) return 'AllocationUpdated';
  return before.DesiredStatus === after.DesiredStatus ? 'AllocationUpdateDesiredStatus' : 'PlanResult';
}

/** The node's agent reported it. */
function isReport(before: Allocation, after: Allocation): boolean {
  return before.ClientStatus !== after.ClientStatus || before.TaskStates !== after.TaskStates
    ? before.DesiredStatus === after.DesiredStatus
    : false;
}

function typeOfNode({ before, after }: ChangeOf<'Node'>): string | undefined {
  if (after === undefined) return 'NodeDeregistration';
  if (before === undefined) return 'NodeRegistration';
  if (before.Status !== after.Status) return 'NodeStreamEvent';
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
