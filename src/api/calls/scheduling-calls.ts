import type { Job } from '../../jobs/document/job.js';
import type { ScalingPolicy } from '../../jobs/document/policies.js';
import type { ScalingPolicyStub } from '../../jobs/scaling/scaling-records.js';
import type { ChangedDeployment } from '../../operations/deployments/act-on-deployment.js';
import type { DeletedEvaluations } from '../../operations/jobs/delete-evaluations.js';
import type { EvaluationCount, EvaluationRow } from '../../operations/jobs/reading/read-evaluations.js';
import type { Allocation } from '../../scheduler/allocation.js';
import type { AllocationDocument, AllocationListStub } from '../../scheduler/allocation-views.js';
import type { Deployment } from '../../scheduler/deployment/deployment.js';
import type { Evaluation } from '../../scheduler/evaluation.js';
import type { Node } from '../../scheduler/node.js';
import { anyCaller, byOperation, inArea, inNamespace, management, onRecord } from '../access.js';
import {
  type AnswerForm,
  found,
  type Indexed,
  inlinedMetadata,
  list,
  page,
  row,
  rowPage,
  type StoredRow,
  shown,
  written,
} from '../answers.js';
import { read, readServer, writeServer } from '../call.js';
import { filterFaults, inBody, inPath, inQuery, nodeDetails, pageOfUuids, repeatedInBody } from '../inputs.js';
import { jsonBoolean, jsonText, jsonTexts, namedSchema } from '../json-codecs.js';
import { nodeDocument, nodePage } from '../node-documents.js';
import { boolean, literalTrue, text } from '../text-codecs.js';

const counted: AnswerForm<Indexed<EvaluationCount>, Indexed<EvaluationCount>> = {
  ...shown<EvaluationCount, EvaluationCount>(namedSchema('EvaluationCount'), (value) => value),
  toWire: ({ index, value }) =>
    JSON.stringify({ ...inlinedMetadata, KnownLeader: true, Count: value.count, Index: index }),
};

const evaluationId = inPath('evaluation_id', text);
const allocationId = inPath('allocation_id', text);
const deploymentId = inPath('deployment_id', text);
const nodeId = inPath('node_id', text);

/** Evaluations: the scheduler's work items. */
export const evaluationCalls = {
  /** The evaluations of a namespace, or of all (`*`). */
  list: read({
    path: '/v1/evaluations',
    access: inNamespace('read-job'),
    summary: 'The evaluations of a namespace, or of all (`*`)',
    inputs: {
      ...pageOfUuids,
      status: inQuery('status', text, 'Only evaluations with this status'),
      job: inQuery('job', text, 'Only evaluations of this job'),
    },
    errors: [...filterFaults, 'invalid_request'],
    answer: rowPage<Evaluation>('Evaluation'),
  }),

  /** The number of evaluations. */
  count: read({
    path: '/v1/evaluations/count',
    access: inNamespace('read-job'),
    summary: 'The number of evaluations',
    inputs: {
      prefix: pageOfUuids.prefix,
      filter: pageOfUuids.filter,
      status: inQuery('status', text, 'Only evaluations with this status'),
      job: inQuery('job', text, 'Only evaluations of this job'),
    },
    errors: [...filterFaults, 'invalid_request'],
    answer: counted,
  }),

  /** Deletes evaluations, by their IDs or by a filter, while the scheduler is paused. */
  delete: writeServer({
    methods: ['DELETE'],
    path: '/v1/evaluations',
    access: management,
    summary: 'Deletes evaluations, by their IDs or by a filter, while the scheduler is paused',
    inputs: { evalIds: inBody('EvalIDs', jsonTexts), filter: inBody('Filter', jsonText) },
    errors: ['invalid_request', 'evaluation_deletion_refused', ...filterFaults],
    answer: written<DeletedEvaluations>('DeletedEvaluations', { count: 'Count', index: 'Index' }),
  }),

  /** One evaluation. */
  read: read({
    path: '/v1/evaluation/{evaluation_id}',
    access: inNamespace('read-job'),
    summary: 'One evaluation',
    args: ['id'],
    inputs: {
      id: evaluationId,
      related: inQuery('related', literalTrue, 'Include the previous and follow-up evaluations'),
    },
    errors: ['invalid_request'],
    answer: row<EvaluationRow['record']>('Evaluation'),
    absent: 'eval not found',
  }),

  /** The allocations created by an evaluation. */
  allocations: read({
    path: '/v1/evaluation/{evaluation_id}/allocations',
    access: inNamespace('read-job'),
    summary: 'The allocations created by an evaluation',
    args: ['id'],
    inputs: { id: evaluationId },
    errors: ['invalid_request'],
    answer: list<AllocationListStub>('AllocationListStub'),
  }),
} as const;

export interface AllocationRows {
  readonly allocation: StoredRow<Allocation>;
  readonly job: StoredRow<Job> | undefined;
  readonly document: AllocationDocument;
}

/** An allocation with its job, which is stored separately. */
const withItsJob: AnswerForm<
  Indexed<AllocationRows | undefined>,
  Indexed<(Allocation & AllocationDocument & { readonly Job?: Job }) | undefined>
> = {
  schema: namedSchema('Allocation'),
  status: 200,
  toClient: ({ index, value }) => ({
    index,
    value: value && {
      ...value.allocation.record,
      ...value.document,
      ...(value.job === undefined ? {} : { Job: value.job.record }),
    },
  }),
  toWire: ({ value }) => value && textWithJob(value),
  indexOf: ({ index }) => index,
};

function textWithJob({ document, job }: AllocationRows): string {
  const own = job === undefined ? '' : `"Job":${job.text},`;
  return `{${own}${JSON.stringify(document).slice(1)}`;
}

/** Allocations: groups of jobs placed on nodes. */
export const allocationCalls = {
  /** The allocations of a namespace, or of all (`*`). */
  list: read({
    path: '/v1/allocations',
    access: inNamespace('read-job'),
    summary: 'The allocations of a namespace, or of all (`*`)',
    inputs: {
      ...pageOfUuids,
      resources: inQuery('resources', boolean, 'Add the allocated resources'),
      taskStates: inQuery('task_states', boolean, 'Include the states of the tasks; default: true'),
    },
    errors: filterFaults,
    answer: page<AllocationListStub>('AllocationListStub'),
  }),

  /** One allocation with the job that it runs. */
  read: readServer({
    path: '/v1/allocation/{allocation_id}',
    access: anyCaller,
    summary: 'One allocation with the job that it runs',
    args: ['id'],
    inputs: { id: allocationId },
    errors: ['invalid_request', 'unknown_allocation'],
    answer: withItsJob,
    absent: 'alloc not found',
  }),
} as const;

/** Deployments: the rollout of a new job version. */
export const deploymentCalls = {
  /** The deployments of a namespace, or of all (`*`). */
  list: read({
    path: '/v1/deployments',
    access: inNamespace('read-job'),
    summary: 'The deployments of a namespace, or of all (`*`)',
    inputs: pageOfUuids,
    errors: filterFaults,
    answer: page<Deployment>('Deployment'),
  }),

  /** One deployment. */
  read: read({
    path: '/v1/deployment/{deployment_id}',
    access: inNamespace('read-job'),
    summary: 'One deployment',
    args: ['id'],
    inputs: { id: deploymentId },
    errors: ['invalid_request'],
    answer: found<Deployment | undefined>('Deployment'),
    absent: 'deployment not found',
  }),

  /** The allocations of a deployment. */
  allocations: read({
    path: '/v1/deployment/allocations/{deployment_id}',
    access: inNamespace('read-job'),
    summary: 'The allocations of a deployment',
    args: ['id'],
    inputs: { id: deploymentId },
    errors: ['invalid_request'],
    answer: list<AllocationListStub>('AllocationListStub'),
  }),
} as const;

/** Nodes: the hosts that run allocations. */
export const nodeCalls = {
  /** The nodes, by ID. */
  list: readServer({
    path: '/v1/nodes',
    access: inArea('node', 'read'),
    summary: 'The nodes, by ID',
    inputs: { ...pageOfUuids, ...nodeDetails },
    errors: filterFaults,
    answer: nodePage,
  }),

  /** One node. */
  read: readServer({
    path: '/v1/node/{node_id}',
    access: inArea('node', 'read'),
    summary: 'One node',
    args: ['nodeId'],
    inputs: { nodeId },
    errors: ['invalid_request'],
    answer: shown(namedSchema('Node'), (node: StoredRow<Node> | undefined) => node && nodeDocument(node.record)),
    absent: 'node not found',
  }),
} as const;

const id = inPath('deployment_id', text);
const idTwice = repeatedInBody(id, { name: 'DeploymentID', required: true, what: 'deployment ID' });

const changed = written<ChangedDeployment>('ChangedDeployment', {
  evalId: 'EvalID',
  evalCreateIndex: 'EvalCreateIndex',
  deploymentModifyIndex: 'DeploymentModifyIndex',
  revertedJobVersion: 'RevertedJobVersion',
  index: 'Index',
});

const errors = [
  'deployment_not_found',
  'deployment_over',
  'unknown_deployment_group',
  'canaries_not_healthy',
  'not_of_deployment',
  'no_allocations',
] as const;

/** Actions on deployments; the caller needs the rights in the deployment's namespace. */
export const deploymentActionCalls = {
  /** Marks a deployment as failed; the job may revert to its last stable version. */
  fail: writeServer({
    path: '/v1/deployment/fail/{deployment_id}',
    access: onRecord('submit-job', 'fail-deployment'),
    summary: 'Marks a deployment as failed; the job may revert to its last stable version',
    args: ['deploymentId'],
    inputs: { deploymentId: id },
    errors,
    answer: changed,
  }),

  /** Pauses a deployment, or resumes it. */
  pause: writeServer({
    path: '/v1/deployment/pause/{deployment_id}',
    access: onRecord('submit-job', 'pause-deployment'),
    summary: 'Pauses a deployment, or resumes it',
    args: ['deploymentId'],
    inputs: { deploymentId: idTwice, pause: inBody('Pause', jsonBoolean) },
    errors,
    answer: changed,
  }),

  /** Promotes the canaries of a deployment. */
  promote: writeServer({
    path: '/v1/deployment/promote/{deployment_id}',
    access: onRecord('submit-job', 'promote-deployment'),
    summary: 'Promotes the canaries of a deployment',
    args: ['deploymentId'],
    inputs: { deploymentId: idTwice, all: inBody('All', jsonBoolean), groups: inBody('Groups', jsonTexts) },
    errors,
    answer: changed,
  }),

  /** Sets the health of allocations whose health is checked manually. */
  setHealth: writeServer({
    path: '/v1/deployment/allocation-health/{deployment_id}',
    access: onRecord('submit-job', 'set-alloc-health-deployment'),
    summary: 'Sets the health of allocations whose health is checked manually',
    args: ['deploymentId'],
    inputs: {
      deploymentId: idTwice,
      healthy: inBody('HealthyAllocationIDs', jsonTexts),
      unhealthy: inBody('UnhealthyAllocationIDs', jsonTexts),
    },
    errors,
    answer: changed,
  }),

  /** Unblocks a deployment that waits for other regions; there is one region, so nothing changes. */
  unblock: writeServer({
    path: '/v1/deployment/unblock/{deployment_id}',
    access: onRecord('submit-job', 'unblock-deployment'),
    summary: 'Unblocks a deployment that waits for other regions; there is one region, so nothing changes',
    args: ['deploymentId'],
    inputs: { deploymentId: idTwice },
    errors,
    answer: changed,
  }),
} as const;

/** Scaling policies, for autoscalers. They are written as part of their jobs. */
export const scalingCalls = {
  /** The scaling policies of a namespace, or of all (`*`), by ID. */
  policies: read({
    path: '/v1/scaling/policies',
    access: anyCaller,
    summary: 'The scaling policies of a namespace, or of all (`*`), by ID',
    inputs: {
      prefix: inQuery('prefix', text, 'Only IDs with this prefix'),
      job: inQuery('job', text, 'Only policies of this job'),
      type: inQuery('type', text, 'Only policies whose type has this prefix'),
    },
    answer: list<ScalingPolicyStub>('ScalingPolicyStub'),
  }),

  /** One scaling policy. */
  policy: read({
    path: '/v1/scaling/policy/{policy_id}',
    access: byOperation(inNamespace('read-scaling-policy', 'list-jobs')),
    summary: 'One scaling policy',
    args: ['id'],
    inputs: { id: inPath('policy_id', text) },
    answer: found<ScalingPolicy | undefined>('StoredScalingPolicy'),
    absent: 'policy not found',
  }),
} as const;
