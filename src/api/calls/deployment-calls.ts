import type { ChangedDeployment } from '../../operations/deployments/act-on-deployment.js';

import { inNamespaceOf } from '../access.js';
import { written } from '../answers.js';
import { writeServer } from '../call.js';
import { inBody, inPath, repeatedInBody } from '../inputs.js';
import { jsonBoolean, jsonTexts } from '../json-codecs.js';
import { text } from '../text-codecs.js';

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
    access: inNamespaceOf('record', 'submit-job', 'fail-deployment'),
    summary: 'Marks a deployment as failed; the job may revert to its last stable version',
    args: ['deploymentId'],
    inputs: { deploymentId: id },
    errors,
    answer: changed,
  }),

  /** Pauses a deployment, or resumes it. */
  pause: writeServer({
    path: '/v1/deployment/pause/{deployment_id}',
    access: inNamespaceOf('record', 'submit-job', 'pause-deployment'),
    summary: 'Pauses a deployment, or resumes it',
    args: ['deploymentId'],
    inputs: { deploymentId: idTwice, pause: inBody('Pause', jsonBoolean) },
    errors,
    answer: changed,
  }),

  /** Promotes the canaries of a deployment. */
  promote: writeServer({
    path: '/v1/deployment/promote/{deployment_id}',
    access: inNamespaceOf('record', 'submit-job', 'promote-deployment'),
    summary: 'Promotes the canaries of a deployment',
    args: ['deploymentId'],
    inputs: { deploymentId: idTwice, all: inBody('All', jsonBoolean), groups: inBody('Groups', jsonTexts) },
    errors,
    answer: changed,
  }),

  /** Sets the health of allocations whose health is checked manually. */
  setHealth: writeServer({
    path: '/v1/deployment/allocation-health/{deployment_id}',
    access: inNamespaceOf('record', 'submit-job', 'set-alloc-health-deployment'),
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
    access: inNamespaceOf('record', 'submit-job', 'unblock-deployment'),
    summary: 'Unblocks a deployment that waits for other regions; there is one region, so nothing changes',
    args: ['deploymentId'],
    inputs: { deploymentId: idTwice },
    errors,
    answer: changed,
  }),
} as const;
